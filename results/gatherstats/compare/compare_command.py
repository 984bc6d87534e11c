"""The command compare.py: gives a verdict for each pair of rows.

compare.py OLD.json NEW.json            two runs, row by row by name
compare.py RUN.json --by=strategy       one run, along one key of its rows' names
compare.py --old A1.json A2.json --new B1.json B2.json
                                        several launches of each: a launch is one value
"""

from __future__ import annotations

import argparse

from gatherstats.cli.inputs import load_all, require_other
from gatherstats.compare.comparison import compare_runs, compare_within, given_twice
from gatherstats.compare.data import describe_keys
from gatherstats.compare.options import (
    EXIT_STATUS,
    add_comparison_options,
    settings,
    show,
)
from gatherstats.errors import UserError

__all__ = ["DESCRIPTION", "DETAILS", "EXIT_STATUS", "add_arguments", "main"]

DESCRIPTION = (
    "Compare benchmark results (Google Benchmark's JSON) and give a verdict for each pair of rows:"
    " faster, slower, same or undecided."
)

DETAILS = describe_keys()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files and how to compare them."""
    parser.usage = (
        "%(prog)s OLD.json NEW.json [OPTION ...]\n"
        "       %(prog)s RUN.json --by=KEY [--baseline=VALUE] [OPTION ...]\n"
        "       %(prog)s --old OLD.json ... --new NEW.json ... [OPTION ...]"
    )
    parser.add_argument("files", nargs="*", metavar="FILE.json", help="results files")
    parser.add_argument(
        "--old", nargs="+", default=[], metavar="FILE.json", help="launches of the old"
    )
    parser.add_argument(
        "--new", nargs="+", default=[], metavar="FILE.json", help="launches of the new"
    )
    parser.add_argument(
        "--by", metavar="KEY", help="compare rows of one run that differ in this key"
    )
    parser.add_argument(
        "--baseline",
        metavar="VALUE",
        help="the key's value that the others are compared with (default: the plainest)",
    )
    add_comparison_options(parser)


def main(options: argparse.Namespace) -> int:
    """Print a comparison and return the exit status."""
    _refuse_bad_usage(options)
    old = options.old or options.files[:1]
    new = options.new or options.files[1:]
    require_other(options.output, [*old, *new])
    runs = load_all([*old, *new])
    if options.by:
        result = compare_within(
            runs[0], options.by, options.baseline, settings(options)
        )
    else:
        twice = given_twice(runs) if options.old else None
        if twice:
            raise UserError(
                f"{twice[0].path} and {twice[1].path} are the same launch: it would count as two"
            )
        result = compare_runs(runs[: len(old)], runs[len(old) :], settings(options))
    return show(result, options, options.output)


def _refuse_bad_usage(options: argparse.Namespace) -> None:
    if options.by == "":
        options.refuse("--by is empty")
    if options.by and (len(options.files) != 1 or options.old or options.new):
        options.refuse("--by takes one FILE.json")
    if options.baseline is not None and not options.by:
        options.refuse("--baseline goes with --by")
    if bool(options.old) != bool(options.new) or (options.old and options.files):
        options.refuse("--old and --new go together, without other files")
    if not options.by and not options.old and len(options.files) != 2:
        options.refuse("give OLD.json and NEW.json, or RUN.json and --by=KEY")
