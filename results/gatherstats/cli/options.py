"""What the command lines have in common: the options of a comparison, and how it is shown."""

from __future__ import annotations

import argparse
import contextlib
import math
import os

from gatherstats.data.comparable import ASPECTS
from gatherstats.compare.comparison import CORRECTIONS, Comparison, Settings
from gatherstats.compare.data import as_csv, as_json
from gatherstats.compare.terminal import as_markdown, terminal
from gatherstats.data.reader import LoadError, NoDataError, load
from gatherstats.process.output import complain
from gatherstats.data.rows import Run
from gatherstats.stats.verdict import THRESHOLD

FORMATS = {
    "terminal": terminal,
    "markdown": as_markdown,
    "csv": as_csv,
    "json": as_json,
}
"""How a comparison can be written."""

EXIT_STATUS = (
    "Exit status: 0 nothing is slower; 1 something is slower (beyond --fail-above); 3 nothing is"
    " known to be slower, but the verdict is incomplete: rows are missing, failed, not comparable"
    " or have too few repetitions; 2 bad usage, unreadable input, or an output that cannot be"
    " written."
)


class UnreadableError(Exception):
    """A file that cannot be used; the text is one line with its path and the reason."""


def add_comparison_options(parser: argparse.ArgumentParser) -> None:
    """Add what says how to compare and how to show it."""
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
    group.add_argument(
        "--format",
        choices=FORMATS,
        default="terminal",
        help="how to print it (default: terminal); json and csv are for programs",
    )


def add_threshold(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add the option --threshold, in per cent."""
    parser.add_argument(
        "--threshold",
        type=percentage,
        default=THRESHOLD * 100,
        metavar="PERCENT",
        help="differences up to this count as none (default: %(default)g)",
    )


def settings(options: argparse.Namespace) -> Settings:
    """The settings that these options give."""
    return Settings(
        options.threshold / 100,
        options.correction,
        options.across,
        options.force,
        options.fail_above,
    )


def load_all(paths: list[str]) -> list[Run]:
    """Read results files. Raises UnreadableError for the first that cannot be read."""
    runs: dict[str, Run] = {}
    for path in paths:
        try:
            runs.setdefault(path, load(path))
        except LoadError as error:
            raise UnreadableError(f"{path}: {error}") from error
    return [runs[path] for path in paths]


def load_usable(program: str, paths: list[str]) -> tuple[list[Run], int]:
    """Read results files; what is wrong with one is said, and the others are read all the same.

    Returns the runs and the exit status: 0, 1 where a file holds no row, 2 for an unreadable one.
    """
    runs, status = [], 0
    for path in paths:
        try:
            runs.append(load(path))
        except LoadError as error:
            bad = 1 if isinstance(error, NoDataError) else 2
            status = max(status, complain(program, f"{path}: {error}", bad))
    return runs, status


def overwritten(output: str, inputs: list[str]) -> str:
    """Why `output` must not be written: it is one of the files that are read. "" if it is not."""
    for path in inputs:
        with contextlib.suppress(OSError):
            if os.path.samefile(output, path):
                return f"{output}: is one of the files that are read"
    return ""


def show(program: str, comparison: Comparison, form: str) -> int:
    """Print a comparison in one of FORMATS and return the exit status."""
    print("\n".join(FORMATS[form](comparison)))
    if form == "csv":  # which has no place for them
        for problem in comparison.problems:
            complain(program, problem)
    return comparison.exit_status


def percentage(text: str) -> float:
    """For argparse: a number between 0 and 100."""
    value = _number(text)
    if not 0 < value < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 100")
    return value


def _ratio(text: str) -> float:
    value = _number(text)
    if not 1 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no ratio of 1 or more")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _aspects(text: str) -> frozenset[str]:
    chosen = frozenset(text.split(","))
    unknown = sorted(chosen - set(ASPECTS))
    if unknown:
        raise argparse.ArgumentTypeError(
            f"{unknown[0]!r} is not among {', '.join(ASPECTS)}"
        )
    return chosen
