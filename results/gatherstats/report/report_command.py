"""The command report.py: makes one HTML file from results files, verdicts first, then their basis.

report.py RUN.json ... -o report.html
"""

from __future__ import annotations

import argparse

from gatherstats.blog.run_report import problems_of
from gatherstats.cli.inputs import load_usable, require_other
from gatherstats.cli.options import add_output, add_threshold, save
from gatherstats.process.output import complain
from gatherstats.report.page import make_page

DESCRIPTION = (
    "Make one HTML file from Google Benchmark's JSON, which can be read without a network:"
    " verdicts, tables, crossover maps, the account of the gain, and what is missing. Files with"
    " the same rows stand side by side."
)

EXIT_STATUS = (
    "0 everything is in the report; 1 something failed or is missing (the report says what); 2 bad"
    " usage, unreadable input, or a file that cannot be written"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files and the report's name."""
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="a results file")
    add_output(
        parser,
        metavar="FILE.html",
        help="where to write it; an existing file is replaced when the new one is complete",
        required=True,
    )
    add_threshold(parser)


def main(options: argparse.Namespace) -> int:
    """Write the report and return the exit status."""
    require_other(options.output, options.files)
    runs, status = load_usable(options.program, options.files)
    if not runs:
        return status
    page = make_page(runs, options.threshold / 100)
    save(options.output, page.encode("utf-8", "backslashreplace"))
    for run in runs:
        for problem in problems_of(run):
            status = max(status, complain(options.program, f"{run.path}: {problem}", 1))
    return status
