#!/usr/bin/env python3
"""Shows which of separate writes, gathering and copying wins, over the buffers' size and number.

crossover.py RUN.json                   a grid, and the advice that follows from it
crossover.py RUN.json --svg map.svg     the same as a picture
crossover.py RUN.json --format=json     the advice and the cells for a program, in one line
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name

NO_MAP = (
    "no map: it takes rows that differ in their strategy alone, for two counts or sizes at least"
    " (--preset=grid makes them)"
)


def main(arguments: list[str] | None = None) -> int:
    """Print the maps of each file and return the exit status."""
    needs.require(PROGRAM)
    options = _parse(arguments)
    from gatherstats.cli.options import load_usable, overwritten
    from gatherstats.crossover.map import make_maps
    from gatherstats.crossover.terminal import as_json, prepare, terminal

    for path in filter(None, (options.svg, options.png)):
        reason = overwritten(path, options.files)
        if reason:
            return complain(PROGRAM, reason)
    threshold = options.threshold / 100
    runs, status = load_usable(PROGRAM, options.files)
    shown = [prepare(run, make_maps(run, threshold)) for run in runs]
    if options.format == "json":
        print(as_json(shown))
    else:
        for i, one in enumerate(shown):
            lines = terminal(one, threshold, _wants_colour(options.color))
            print("\n".join([""] * (i > 0) + lines))
    for one in shown:
        problems = one.maps.problems + ([] if one.maps.maps else [NO_MAP])
        for problem in problems:
            status = max(status, complain(PROGRAM, f"{one.run.path}: {problem}", 1))
    return max(status, _draw(options, shown)) if options.svg or options.png else status


def _draw(options: argparse.Namespace, shown: list) -> int:
    """Make the pictures and return the exit status."""
    needs.require_plots(PROGRAM)
    from gatherstats.crossover.picture import draw

    if not any(one.maps.maps for one in shown):
        return complain(PROGRAM, "no picture: there is no map", 1)
    for path, form in ((options.svg, "svg"), (options.png, "png")):
        if path is None:
            continue
        try:
            left_out = draw(shown, path, form)
        except OSError as error:
            return complain(PROGRAM, f"{path}: {error.strerror or error}")
        if left_out:
            return complain(PROGRAM, f"{path}: no room for {left_out} further maps", 1)
    return 0


def _wants_colour(when: str) -> bool:
    """NO_COLOR is the convention of no-color.org: set and not empty, it forbids colours."""
    if when != "auto":
        return when == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.cli.options import add_threshold

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Show which of separate writes, gathering and copying wins, over the buffers'"
        " size and number, from Google Benchmark's JSON, and say it as advice.",
        epilog="Exit status: 0 everything was shown; 1 there was no map, or something failed;"
        " 2 bad usage, unreadable input, or a picture that cannot be written.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="a results file")
    parser.add_argument("--svg", metavar="FILE", help="draw the maps into this file")
    parser.add_argument("--png", metavar="FILE", help="the same, in pixels")
    parser.add_argument(
        "--format",
        choices=("terminal", "json"),
        default="terminal",
        help="how to print it (default: terminal); json is one line",
    )
    parser.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour the grid (default: auto, on a terminal unless NO_COLOR is set)",
    )
    add_threshold(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
