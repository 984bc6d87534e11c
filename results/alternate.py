#!/usr/bin/env python3
"""Launches two programs in turn, many times each, and compares them launch by launch.

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

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name


def main(arguments: list[str] | None = None) -> int:
    """Launch what is missing, print the comparison and return its exit status."""
    needs.require(PROGRAM)
    from gatherstats.cli.options import UnreadableError, load_all, settings, show
    from gatherstats.compare.comparison import compare_runs, refusals
    from gatherstats.process.interruption import Interrupted
    from gatherstats.compare.series import SIDES, LaunchError, open_series, run_series

    options = _parse(arguments)
    chosen = settings(options)
    commands = dict(zip(SIDES, (options.a, options.b)))

    def check() -> None:
        first = [load_all([str(series.path(side, 1))]) for side in SIDES]
        if refusals(*first, chosen):
            raise _Refused(compare_runs(*first, chosen))

    try:
        series = open_series(
            Path(options.out_dir), commands, options.launches, options.seed
        )
        _say(f"results go to {series.folder}, the seed of their order is {series.seed}")
        run_series(series, _say, check)
        sides = [load_all([str(path) for path in series.paths(side)]) for side in SIDES]
        result = compare_runs(*sides, chosen)
    except _Refused as refused:
        return show(PROGRAM, refused.comparison, options.format)
    except (LaunchError, UnreadableError) as error:
        return complain(PROGRAM, str(error))
    except Interrupted as interrupted:
        _say("interrupted; what is complete is kept. To go on, the same command again:")
        print(f"  {_again(arguments)}", file=sys.stderr)
        return 128 + interrupted.number
    return show(PROGRAM, result, options.format)


class _Refused(Exception):
    """The first pair shows that the two must not be compared; more launches would be in vain."""

    def __init__(self, comparison: object) -> None:
        super().__init__()
        self.comparison = comparison


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.cli.options import EXIT_STATUS, add_comparison_options

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} A B [OPTION ...]",
        description="Launch the commands A and B in turn, in random order within each pair, keep"
        " each launch's results, and compare them with a launch as the unit. The same command"
        " again goes on with an interrupted series.",
        epilog=EXIT_STATUS + " 128+signal when interrupted.",
    )
    parser.add_argument("a", metavar="A", type=_command, help="the base, in quotes")
    parser.add_argument("b", metavar="B", type=_command, help="the other, in quotes")
    parser.add_argument(
        "--launches",
        type=_count,
        default=10,
        metavar="N",
        help="launches of each (default: %(default)s)",
    )
    parser.add_argument(
        "--out-dir",
        default="alternate-results",
        metavar="DIR",
        help="where the results go (default: %(default)s)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="of the random order (default: a new one)"
    )
    add_comparison_options(parser)
    return parser.parse_args(arguments)


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


def _again(arguments: list[str] | None) -> str:
    """This command, for a shell; the script itself need not be executable."""
    words = sys.argv[1:] if arguments is None else arguments
    return shlex.join([sys.executable, sys.argv[0], *words])


def _say(line: str) -> None:
    print(f"{PROGRAM}: {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
