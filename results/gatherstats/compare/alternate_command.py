"""The command alternate.py: launches two programs in turn, many times each, and compares them.

alternate.py A B        A and B are commands, each in quotes, with their options

For example one program in two directories:
alternate.py "build/bench/gatherbench --dir=/x" "build/bench/gatherbench --dir=/y" --across=filesystem
or for two architectures:
alternate.py build/bench/gatherbench "qemu-aarch64-static arm/bench/gatherbench" --across=emulation
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from gatherstats.cli.inputs import load_all
from gatherstats.cli.options import add_output
from gatherstats.compare import options as comparison_options
from gatherstats.compare.comparison import compare_runs, refusals
from gatherstats.compare.options import add_comparison_options, settings, show
from gatherstats.compare.series import SIDES, open_series, run_series
from gatherstats.process.interruption import Interrupted
from gatherstats.process.output import complain

DESCRIPTION = (
    "Launch the commands A and B in turn, in random order within each pair, keep each launch's"
    " results, and compare them with a launch as the unit. The same command again goes on with an"
    " interrupted series."
)

EXIT_STATUS = comparison_options.EXIT_STATUS + "; 128+signal when interrupted"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the commands, the series, and how to compare."""
    parser.usage = "%(prog)s A B [OPTION ...]"
    parser.add_argument("a", metavar="A", type=_command, help="the base, in quotes")
    parser.add_argument("b", metavar="B", type=_command, help="the other, in quotes")
    parser.add_argument(
        "--launches",
        type=_count,
        default=10,
        metavar="N",
        help="launches of each (default: %(default)s)",
    )
    add_output(
        parser,
        "--out-dir",
        metavar="DIR",
        default="alternate-results",
        help="the folder that the launches' results go to (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the random order (default: a new one)"
    )
    add_comparison_options(parser, with_output=False)


def main(options: argparse.Namespace) -> int:
    """Launch what is missing, print the comparison and return its exit status."""
    chosen = settings(options)
    commands = dict(zip(SIDES, (options.a, options.b)))

    def say(line: str) -> None:
        complain(options.program, line)

    def refused() -> bool:
        """Whether the first pair shows that the two must not be compared."""
        first = [load_all([str(series.path(side, 1))]) for side in SIDES]
        return bool(refusals(*first, chosen))

    series = open_series(
        Path(options.output),
        commands,
        options.launches,
        options.seed,
        options.across,
    )
    say(f"results go to {series.folder}, the seed of their order is {series.seed}")
    try:
        launches = run_series(series, say, refused)
    except Interrupted as interrupted:
        say(
            "interrupted; complete launches are kept. To continue, run the same command again:"
        )
        # For a shell; the script itself need not be executable.
        print(f"  {shlex.join([sys.executable, *sys.argv])}", file=sys.stderr)
        return 128 + interrupted.number
    sides = [
        load_all([str(path) for path in series.paths(side)[:launches]])
        for side in SIDES
    ]
    return show(compare_runs(*sides, chosen, range(launches)), options)


def _command(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error
    if not words:
        raise argparse.ArgumentTypeError("a command is empty")
    if any(word.startswith("--benchmark_out") for word in words):
        raise argparse.ArgumentTypeError(
            "leave out --benchmark_out: each launch gets its own"
        )
    return words


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 9999:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 1 and 9999")
    return int(text)
