"""The command crossover.py: maps which of separate writes, gathering and copying wins.

crossover.py RUN.json                       a grid, and the advice that follows from it
crossover.py RUN.json --format=svg -o F.svg the same as a picture too
crossover.py RUN.json --format=json         the advice and the cells for a program, in one line
crossover.py RUN.json --by=create           the ways of saving a file, and what to do
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from gatherstats.cli import dependencies
from gatherstats.cli.inputs import load_usable, require_other
from gatherstats.cli.options import (
    add_format,
    add_output,
    add_threshold,
    print_and_save,
)
from gatherstats.crossover.advice import MapsWithAdvice, with_advice
from gatherstats.crossover.data import as_json, saving_json
from gatherstats.crossover.map import make_maps
from gatherstats.crossover.picture import draw
from gatherstats.crossover.saving import find_cases
from gatherstats.crossover.terminal import saving_terminal, terminal
from gatherstats.data.rows import Run
from gatherstats.errors import UserError
from gatherstats.process.output import complain
from gatherstats.stats.samples import measure

DESCRIPTION = (
    "Show which of separate writes, gathering and copying wins, over the buffers' size and number,"
    " from Google Benchmark's JSON, and say it as advice."
)

EXIT_STATUS = (
    "0 everything was shown; 1 there was no map, or something failed; 2 bad usage, unreadable"
    " input, or an output that cannot be written"
)

PICTURES = ("svg", "png")

NO_SAVING = (
    "no way of saving to compare: it takes whole files that come to be in two ways at least"
    " (--preset=save makes them)"
)

NO_MAP = (
    "no map: it takes rows that differ in their strategy alone, for two counts or sizes at least"
    " (--preset=grid makes them); --by=create shows ways of saving a file"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the files and how to show them."""
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="a results file")
    parser.add_argument(
        "--by",
        choices=("create",),
        help="show the ways of saving a file in place of the maps, and what to do"
        " (--preset=save measures them)",
    )
    add_format(
        parser,
        ("terminal", "json", *PICTURES),
        "; json is one line; svg and png are pictures for -o, and the text is printed besides",
    )
    add_output(parser, help="write the output, or the picture, into this file too")
    for form in PICTURES:  # older spellings of --format=svg
        parser.add_argument(f"--{form}", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour the grid (default: auto, on a terminal unless NO_COLOR is set)",
    )
    add_threshold(parser)


def main(options: argparse.Namespace) -> int:
    """Print the maps of each file and return the exit status."""
    pictures = {form: getattr(options, form) for form in PICTURES}
    text_file = options.output
    if options.format in PICTURES:
        if not options.output:
            options.refuse(f"--format={options.format} goes with -o FILE")
        pictures[options.format], text_file = options.output, None
    pictures = {form: path for form, path in pictures.items() if path is not None}
    for path in [text_file, *pictures.values()]:
        require_other(path, options.files)
    threshold = options.threshold / 100
    runs, status = load_usable(options.program, options.files)
    if options.by:
        return _saving(options, runs, status)
    shown = [
        with_advice(run, make_maps(run, measure(run.rows)[0], threshold))
        for run in runs
    ]
    lines: list[str] = []
    if options.format == "json":
        lines = [as_json(shown)]
    else:
        colour = _wants_colour(options.color)
        for i, one in enumerate(shown):
            lines += [""] * (i > 0) + terminal(one, threshold, colour)
    if lines:
        print_and_save(lines, text_file)
    for one in shown:
        problems = one.maps.problems + ([] if one.maps.maps else [NO_MAP])
        for problem in problems:
            status = max(
                status, complain(options.program, f"{one.run.path}: {problem}", 1)
            )
    for form, path in pictures.items():
        save_picture(shown, path, form, max(status, 1))
    return status


def _saving(options: argparse.Namespace, runs: Sequence[Run], status: int) -> int:
    """Print the ways of saving a file and return the exit status."""
    if options.format not in ("terminal", "json"):
        options.refuse(f"--format={options.format} does not go with --by={options.by}")
    threshold = options.threshold / 100
    found = [(run, find_cases(measure(run.rows)[0], threshold)) for run in runs]
    lines: list[str] = []
    if options.format == "json":
        lines = [saving_json(found)]
    else:
        for i, (run, cases) in enumerate(found):
            lines += [""] * (i > 0) + saving_terminal(run, cases)
    if lines:
        print_and_save(lines, options.output)
    for run, cases in found:
        failed = [f"{row.name}: failed: {row.error}" for row in run.rows if row.failed]
        for problem in [*run.problems, *failed, *([] if cases else [NO_SAVING])]:
            said = complain(options.program, f"{run.path}: {problem}", 1)
            status = max(status, said)
    return status


def save_picture(
    shown: Sequence[MapsWithAdvice], path: str, form: str, status: int
) -> None:
    """Write the maps as a picture; form: "svg" or "png".

    Raises UserError when it cannot be written, or with `status` when there is no map, or no room
    for all.
    """
    if form == "png":
        dependencies.require_png()
    if not any(one.maps.maps for one in shown):
        raise UserError("no picture: there is no map", status)
    try:
        left_out = draw(shown, path, form)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    if left_out:
        raise UserError(f"{path}: no room for {left_out} further maps", status)


def _wants_colour(when: str) -> bool:
    """NO_COLOR is the convention of no-color.org: set and not empty, it forbids colours."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()
