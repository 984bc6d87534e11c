"""The command cross_table.py: the blog's table for two architectures, from alternate.py's launches.

cross_table.py FOLDER      FOLDER is alternate.py's -o; its first command is the native one
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gatherstats.blog.architectures import compare_architectures
from gatherstats.cli.inputs import load_all
from gatherstats.cli.options import add_output, add_threshold, print_and_save
from gatherstats.data.environment import SPOILED, UNDER_LOAD, describe_briefly
from gatherstats.errors import UserError
from gatherstats.process.output import complain
from gatherstats.text.table import render
from gatherstats.text.wrapped import items, wrapped

DESCRIPTION = (
    "Print the blog's table for two architectures, and whether translation changes which way of"
    " writing wins."
)

EXIT_STATUS = (
    "0 everything was shown; 1 a row failed or is missing; 2 bad usage, unreadable input, or an"
    " output that cannot be written"
)

_LEGEND = (
    "Each value is a launch's median; Mean, Error, StdDev and n are of launches. Kernel: the write"
    " calls that it counted in a repetition."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the folder of the launches."""
    parser.add_argument("folder", metavar="FOLDER", help="the launches of alternate.py")
    add_output(parser)
    add_threshold(parser)


def main(options: argparse.Namespace) -> int:
    """Print the table and return the exit status."""
    folder = Path(options.folder)
    paths = [
        sorted(str(path) for path in folder.glob(f"{side}-*.json")) for side in "ab"
    ]
    if not all(paths):
        raise UserError(f"{folder}: it has no launches of both programs")
    sides = [load_all(found) for found in paths]
    turns = [[_turn(path) for path in found] for found in paths]
    result = compare_architectures(sides, turns, options.threshold / 100)
    lines = []
    for side in sides:
        for heading, text in describe_briefly(*side):
            if heading in ("Machine", "Directory", UNDER_LOAD, SPOILED):
                lines += wrapped(text, f"    {heading + ':':<11} ", " " * 16)
    launches = " and ".join(str(len(side)) for side in sides)
    lines += [f"    Launches:   {launches}, alternating", ""]
    lines += render(result.table.headers, result.table.rows, result.table.left)
    sections = (
        (
            "Within each architecture (ratio of medians, its 95 % interval; p of Student's t):",
            result.within,
        ),
        ("Between the architectures:", result.between),
        ("What translation costs, on /dev/null (95 % interval):", result.costs),
    )
    for heading, texts in sections:
        if texts or texts is not result.costs:
            lines += ["", heading, *items(texts)]
    lines += ["", *wrapped(" ".join(result.answer))]
    lines += ["", *wrapped(_LEGEND)]
    print_and_save(lines, options.output)
    for problem in result.problems:
        complain(options.program, problem)
    return 1 if result.problems else 0


def _turn(path: str) -> int:
    """Return a launch's number, from the name that alternate.py gave its file."""
    number = Path(path).stem.rpartition("-")[2]
    if not number.isascii() or not number.isdigit():
        raise UserError(f"{path}: no launch of alternate.py has such a name")
    return int(number)
