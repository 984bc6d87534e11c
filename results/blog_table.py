#!/usr/bin/env python3
"""Prints the blog post's table, and verdicts, from files of Google Benchmark's JSON."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name


def main(arguments: list[str] | None = None) -> int:
    """Print a report for each file and return the exit status."""
    needs.require(PROGRAM)
    options = _parse(arguments)
    from gatherstats.cli.options import load_usable, overwritten
    from gatherstats.process.atomic_file import write_atomically
    from gatherstats.blog.markdown import PUBLISHED, belongs_beside, make_report
    from gatherstats.data.reader import load

    reason = overwritten(options.out, options.files) if options.out else ""
    if reason:
        return complain(PROGRAM, reason)
    runs, status = load_usable(PROGRAM, options.files)
    if options.published:
        published = [load(path) for path in PUBLISHED]
        runs += [run for run in published if belongs_beside(run, runs)]
    reports = [make_report(run, options.threshold / 100) for run in runs]
    text = "\n\n".join("\n".join(report.lines) for report in reports) + "\n"
    if reports:
        print(text, end="")
    if reports and options.out:
        try:
            write_atomically(options.out, text.encode())
        except OSError as error:
            return complain(PROGRAM, f"{options.out}: {error.strerror or error}")
    for run, report in zip(runs, reports):
        for problem in report.problems:
            complain(PROGRAM, f"{run.path}: {problem}")
        if report.problems or not report.shown:
            status = max(status, 1)
    return status


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.cli.options import add_threshold

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Print tables with BenchmarkDotNet's columns from Google Benchmark's JSON, and"
        " for each pair of rows whether the difference is real.",
        epilog="Exit status: 0 everything was shown; 1 there was nothing to show, or something"
        " failed or is missing; 2 bad usage, unreadable input, or an output that"
        " cannot be written.",
    )
    parser.add_argument("files", nargs="*", metavar="FILE.json", help="a results file")
    parser.add_argument(
        "--published",
        action="store_true",
        help="print the published tables of the same kind too, at the end",
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write what is printed into this file too"
    )
    add_threshold(parser)
    options = parser.parse_args(arguments)
    if not options.files and not options.published:
        parser.error("give at least one FILE.json, or --published")
    return options


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
