"""Options of comparisons, for all commands that make one, and their output."""

from __future__ import annotations

import argparse
import math

from gatherstats.cli.options import (
    add_format,
    add_output,
    add_threshold,
    number,
    print_and_save,
)
from gatherstats.compare.comparison import CORRECTIONS, Comparison, Settings
from gatherstats.compare.data import as_csv, as_json
from gatherstats.compare.terminal import as_markdown, terminal
from gatherstats.data.comparable import ASPECTS
from gatherstats.process.output import complain

FORMATS = {
    "terminal": terminal,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}
"""The formats of a comparison."""

EXIT_STATUS = (
    "0 nothing is slower; 1 something is slower (beyond --fail-above); 3 nothing is known to be"
    " slower, but the verdict is incomplete: rows are missing, failed, not comparable, have too"
    " few repetitions or an order that allows no verdict, such as one launch of each; 2 bad usage, unreadable input, or an output that cannot be written"
)


def add_comparison_options(
    parser: argparse.ArgumentParser, with_output: bool = True
) -> None:
    """Add the options of the comparison and its output."""
    group = parser.add_argument_group("the comparison")
    add_threshold(group)
    group.add_argument(
        "--correction",
        choices=CORRECTIONS,
        default="holm",
        help="of p for many pairs: holm for a table (default), bh (Benjamini-Hochberg) for a map",
    )
    group.add_argument(
        "--across",
        type=_aspects,
        default=frozenset(),
        metavar="LIST",
        help=f"what may differ because it is the question: {', '.join(ASPECTS)}",
    )
    group.add_argument(
        "--force",
        action="store_true",
        help="compare what should not be compared, and mark the output",
    )
    group.add_argument(
        "--fail-above",
        type=_ratio,
        default=1.0,
        metavar="RATIO",
        help="exit with 1 only if a row is surely slower by more than this ratio: if its whole"
        " interval lies above it (default: 1)",
    )
    add_format(group, FORMATS, "; json and csv are for programs")
    if with_output:
        add_output(group)


def settings(options: argparse.Namespace) -> Settings:
    """Make the settings of these options."""
    return Settings(
        options.threshold / 100,
        options.correction,
        options.across,
        options.force,
        options.fail_above,
    )


def show(
    comparison: Comparison, options: argparse.Namespace, output: str | None = None
) -> int:
    """Print a comparison as the options say and return the exit status."""
    print_and_save(FORMATS[options.format](comparison), output)
    if options.format == "csv":  # which has no place for them
        for problem in comparison.problems:
            complain(options.program, problem)
    return comparison.exit_status


def _ratio(text: str) -> float:
    value = number(text)
    if not 1 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no ratio of 1 or more")
    return value


def _aspects(text: str) -> frozenset[str]:
    chosen = frozenset(text.split(","))
    unknown = sorted(chosen - set(ASPECTS))
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is not among {', '.join(ASPECTS)}"
        )
    return chosen
