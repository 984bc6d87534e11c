#!/usr/bin/env python3
"""Makes one HTML file from results files: verdicts first, then everything that they rest on.

report.py RUN.json ... -o report.html
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name


def main(arguments: list[str] | None = None) -> int:
    """Write the report and return the exit status."""
    needs.require(PROGRAM)
    options = _parse(arguments)
    from gatherstats.cli.options import load_usable, overwritten
    from gatherstats.process.atomic_file import write_atomically
    from gatherstats.blog.markdown import problems_of
    from gatherstats.report.page import make_page

    reason = overwritten(options.output, options.files)
    if reason:
        return complain(PROGRAM, reason)
    runs, status = load_usable(PROGRAM, options.files)
    if not runs:
        return status
    page = make_page(runs, options.threshold / 100)
    try:
        write_atomically(options.output, page.encode("utf-8", "backslashreplace"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return complain(PROGRAM, f"{options.output}: {reason}")
    for run in runs:
        for problem in problems_of(run):
            status = max(status, complain(PROGRAM, f"{run.path}: {problem}", 1))
    return status


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.cli.options import add_threshold

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Make one HTML file from Google Benchmark's JSON, which can be read without a"
        " network: verdicts, tables, crossover maps, the account of the gain, and what is missing."
        " Files with the same rows stand side by side.",
        epilog="Exit status: 0 everything is in the report; 1 something failed or is missing (the"
        " report says what); 2 bad usage, unreadable input, or a file that cannot be written.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="a results file")
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE.html",
        help="where to write it; an existing file is replaced when the new one is complete",
    )
    add_threshold(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
