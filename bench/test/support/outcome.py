"""Counts what a run of `meson test` did: outcome.py TESTLOG.json prints "PASSED FAILED SKIPPED", and below it why.

A test that is skipped says so in a line "SKIPPED: reason", or pytest's "SKIPPED [count] place: reason".
"""

import json
import re
import sys

SKIPPED_LINE = re.compile(r"^SKIPPED(?: \[(\d+)\] \S+)?: (.*)$", re.M)
SUMMARY = re.compile(r"\b(\d+) (passed|failed|error)")


def count(lines):
    """(passed, failed, [(how many, name, reason)]): cases of pytest each, every other program as one."""
    passed = failed = 0
    skipped = []
    for line in lines:
        test = json.loads(line)
        text = test.get("stdout", "")
        reasons = SKIPPED_LINE.findall(text)
        skipped += [(int(n or 1), test["name"], reason) for n, reason in reasons]
        last = text.strip().splitlines()[-1:] or [""]
        said = {word: int(n) for n, word in SUMMARY.findall(last[0])}
        if test["result"] == "SKIP":
            if not reasons:
                skipped.append((1, test["name"], "exit status 77"))
        elif test["result"] == "OK":
            passed += said.get("passed", 1)
        else:
            passed += said.get("passed", 0)
            failed += max(1, said.get("failed", 0) + said.get("error", 0))
    return passed, failed, skipped


def main(path):
    with open(path, encoding="utf-8") as file:
        passed, failed, skipped = count(file)
    print(passed, failed, sum(number for number, _, _ in skipped))
    for number, name, reason in skipped:
        print(f"skipped: {number} of {name}: {reason}")


if __name__ == "__main__":
    main(sys.argv[1])
