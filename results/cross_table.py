#!/usr/bin/env python3
"""Prints the blog's table for two architectures, from the launches that alternate.py made of each.

cross_table.py FOLDER      FOLDER is alternate.py's --out-dir; its first command is the native one
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name


def main(arguments: list[str] | None = None) -> int:
    """Print the table and return the exit status."""
    needs.require(PROGRAM)
    from gatherstats.cli.options import UnreadableError, load_all
    from gatherstats.blog.architectures import compare_architectures
    from gatherstats.blog.markdown import COLUMNS
    from gatherstats.data.environment import UNDER_LOAD, describe_briefly
    from gatherstats.compare.series import SIDES
    from gatherstats.text.table import render

    options = _parse(arguments)
    folder = Path(options.folder)
    paths = [
        sorted(str(path) for path in folder.glob(f"{side}-*.json")) for side in SIDES
    ]
    if not all(paths):
        return complain(PROGRAM, f"{folder}: no launches of both programs are there", 2)
    try:
        sides = [load_all(found) for found in paths]
        result = compare_architectures(sides, options.threshold / 100)
    except (UnreadableError, ValueError) as error:
        return complain(PROGRAM, str(error), 2)

    for side in sides:
        for heading, text in describe_briefly(*side):
            if heading in ("Machine", "Directory", UNDER_LOAD):
                print(
                    textwrap.fill(
                        text,
                        COLUMNS,
                        initial_indent=f"    {heading + ':':<11} ",
                        subsequent_indent=" " * 16,
                    )
                )
    print(
        f"    Launches:   {' and '.join(str(len(side)) for side in sides)}, alternating\n"
    )
    print("\n".join(render(result.table.headers, result.table.rows, result.table.left)))
    print(
        "\nWithin each architecture (ratio of medians, its 95 % interval; p of the rank test):"
    )
    _print_items(result.within, COLUMNS)
    print("\nBetween the architectures:")
    _print_items(result.between, COLUMNS)
    if result.costs:
        print("\nWhat translation costs, on /dev/null (95 % interval):")
        _print_items(result.costs, COLUMNS)
    print("\n" + textwrap.fill(" ".join(result.answer), COLUMNS))
    print("\n" + textwrap.fill(_LEGEND, COLUMNS))
    for problem in result.problems:
        complain(PROGRAM, problem)
    return 1 if result.problems else 0


_LEGEND = (
    "Each value is a launch's median; Mean, Error, StdDev and n are of launches. Kernel: the write"
    " calls that it counted in a repetition."
)


def _print_items(items: list[str], columns: int) -> None:
    for item in items:
        print(textwrap.fill(item, columns, initial_indent="- ", subsequent_indent="  "))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.cli.options import add_threshold

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Print the blog's table for two architectures, and whether translation changes"
        " which way of writing wins.",
        epilog="Exit status: 0 everything was shown; 1 a row failed or is missing; 2 bad usage or"
        " unreadable input.",
    )
    parser.add_argument("folder", metavar="FOLDER", help="the launches of alternate.py")
    add_threshold(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
