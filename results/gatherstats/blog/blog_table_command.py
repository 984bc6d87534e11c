"""The command blog_table.py: prints the blog post's table, and verdicts, from results files."""

from __future__ import annotations

import argparse

from gatherstats.blog.cost_model import models_of
from gatherstats.blog.markdown import make_report
from gatherstats.blog.run_report import PUBLISHED, belongs_beside
from gatherstats.cli.inputs import load_usable, require_other
from gatherstats.cli.options import add_output, add_threshold, print_and_save
from gatherstats.data.reader import load
from gatherstats.process.output import complain

DESCRIPTION = (
    "Print tables with BenchmarkDotNet's columns from Google Benchmark's JSON, and a verdict for each"
    " pair of rows."
)

EXIT_STATUS = (
    "0 everything was shown; 1 there was nothing to show, or something failed or is missing; 2 bad"
    " usage, unreadable input, or an output that cannot be written"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files and what else to print."""
    parser.add_argument("files", nargs="*", metavar="FILE.json", help="a results file")
    parser.add_argument(
        "--published",
        action="store_true",
        help="print the published tables of the same kind too, at the end",
    )
    add_output(parser, "--out")
    add_threshold(parser)


def main(options: argparse.Namespace) -> int:
    """Print a report for each file and return the exit status."""
    if not options.files and not options.published:
        options.refuse("give at least one FILE.json, or --published")
    require_other(options.output, options.files)
    runs, status = load_usable(options.program, options.files)
    if options.published:
        published = [load(path) for path in PUBLISHED]
        runs += [run for run in published if belongs_beside(run, runs)]
    models = models_of(runs)
    reports = [make_report(run, options.threshold / 100, models) for run in runs]
    if reports:
        print_and_save(
            ["\n\n".join("\n".join(report.lines) for report in reports)], options.output
        )
    for run, report in zip(runs, reports):
        for problem in report.problems:
            complain(options.program, f"{run.path}: {problem}")
        if report.problems or not report.shown:
            status = max(status, 1)
    return status
