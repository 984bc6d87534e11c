"""Options that several commands have, and the parsers of their values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable

from gatherstats.errors import UserError
from gatherstats.process.atomic_file import write_atomically
from gatherstats.stats.verdict import THRESHOLD

Parser = argparse.ArgumentParser | argparse._ArgumentGroup


def add_output(
    parser: Parser,
    *old_spellings: str,
    metavar: str = "FILE",
    help: str = "write the output into this file too",
    **further: object,
) -> None:
    """Add -o/--output. Spellings from before there was one for all commands still work."""
    parser.add_argument("-o", "--output", metavar=metavar, help=help, **further)
    for spelling in old_spellings:
        parser.add_argument(spelling, dest="output", help=argparse.SUPPRESS)


def add_format(parser: Parser, formats: Iterable[str], help: str) -> None:
    """Add --format; the first of the formats is the default."""
    formats = list(formats)
    parser.add_argument(
        "--format",
        choices=formats,
        default=formats[0],
        help=f"how to print it (default: {formats[0]}){help}",
    )


def add_threshold(parser: Parser) -> None:
    """Add the option --threshold, in per cent."""
    parser.add_argument(
        "--threshold",
        type=percentage,
        default=THRESHOLD * 100,
        metavar="PERCENT",
        help="differences up to this count as none (default: %(default)g)",
    )


def save(path: str, data: bytes) -> None:
    """Write an output file. Raises UserError where it cannot be written."""
    try:
        write_atomically(path, data)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(f"{path}: {reason}") from error


def print_and_save(lines: Iterable[str], path: str | None) -> None:
    """Print the lines, and write them into the file of -o, if it was given."""
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if path:
        save(path, text.encode("utf-8", "backslashreplace"))


def percentage(text: str) -> float:
    """For argparse: a number between 0 and 100."""
    value = number(text)
    if not 0 < value < 100:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 100")
    return value


def number(text: str) -> float:
    """For argparse: a number, NaN where the text is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan
