#!/usr/bin/env python3
"""Keeps a results file for others: compressed, and without the name of the machine.

keep.py RUN.json -o results/measured/RUN.json.gz
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name


def main(arguments: list[str] | None = None) -> int:
    """Write the compressed file and return the exit status."""
    needs.require(PROGRAM)
    options = _parse(arguments)
    from gatherstats.cli.options import overwritten
    from gatherstats.process.atomic_file import write_atomically
    from gatherstats.data.reader import LoadError, load, read_json

    reason = overwritten(options.output, [options.file])
    if reason:
        return complain(PROGRAM, reason)
    try:
        load(options.file)
        document = read_json(options.file)
    except LoadError as error:
        return complain(PROGRAM, f"{options.file}: {error}")
    context = document.get("context", {})
    # Google Benchmark notes both; neither tells anything about the figures.
    if "host_name" in context:
        context["host_name"] = "host"
    if "executable" in context:
        context["executable"] = Path(str(context["executable"])).name
    try:
        text = json.dumps(document, separators=(",", ":")) + "\n"
    except RecursionError:
        return complain(PROGRAM, f"{options.file}: nested too deeply")
    try:
        # Without the time, the same run gives the same file.
        write_atomically(options.output, gzip.compress(text.encode(), 9, mtime=0))
    except OSError as error:
        return complain(PROGRAM, f"{options.output}: {error.strerror or error}")
    return 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Compress a results file and take the names of the machine and of folders of"
        " its program out; the command line stays as it was given.",
        epilog="Exit status: 0 it is written; 2 bad usage, unreadable input, or a file that cannot"
        " be written.",
    )
    parser.add_argument("file", metavar="RUN.json", help="a results file")
    parser.add_argument(
        "-o", "--output", required=True, metavar="RUN.json.gz", help="where to write it"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
