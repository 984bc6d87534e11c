"""Counts the faults that tests inject, and prints the counts as a table:

    GATHERBENCH_FAULTS=/tmp/faults meson test -C build
    python3 bench/test/support/fault_table.py /tmp/faults
"""

import os
import sys
from collections import Counter
from contextlib import contextmanager


@contextmanager
def fault(kind, place):
    """Counts one fault, such as ("ENOSPC", "fsync"): tried, and passed unless what is done with it raises."""
    try:
        yield
    except BaseException:
        note(kind, place, "failed")
        raise
    note(kind, place, "passed")


def note(*fields):
    """A line of the file that the environment names; one small write, for tests run at the same time."""
    path = os.environ.get("GATHERBENCH_FAULTS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write("\t".join(fields) + "\n")


def table(lines):
    """A Markdown table of kinds of fault x places; what did not pass says so."""
    counts = Counter(tuple(line.rstrip("\n").split("\t")) for line in lines)
    kinds = list(dict.fromkeys(kind for kind, _, _ in counts))
    places = list(dict.fromkeys(place for _, place, _ in counts))

    def cell(kinds, places):
        passed, failed = (
            sum(counts[kind, place, word] for kind in kinds for place in places)
            for word in ("passed", "failed")
        )
        return f"{passed} of {passed + failed}" if failed else str(passed or "")

    yield "| " + " | ".join(["Fault", *places, "all"]) + " |"
    yield "| --- |" + " --: |" * (len(places) + 1)
    for name, group in [*((kind, [kind]) for kind in kinds), ("all", kinds)]:
        cells = [cell(group, [place]) for place in places] + [cell(group, places)]
        yield "| " + " | ".join([name, *cells]) + " |"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(table(file)))
