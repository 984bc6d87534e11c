#!/usr/bin/env python3
"""Makes the README's pictures from a run of the blog preset and one of the grid.

pictures.py                             from results/measured, into it
pictures.py --from=DIR --into=DIR       from DIR/blog.json[.gz] and DIR/grid.json[.gz]

map.svg is the crossover map of the grid's first target with its advice, account.svg the account of
the blog loop's gain, advice.svg the advice on every target.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name
MEASURED = Path(__file__).resolve().parent / "measured"


def main(arguments: list[str] | None = None) -> int:
    """Make the pictures and return the exit status."""
    needs.require(PROGRAM)
    options = _parse(arguments)
    needs.require_plots(PROGRAM)
    from gatherstats.blog.account import accounts
    from gatherstats.crossover.map import make_maps
    from gatherstats.crossover.picture import draw
    from gatherstats.crossover.terminal import prepare
    from gatherstats.data.reader import LoadError, load
    from gatherstats.stats.samples import measure

    runs = {}
    for name in ("blog", "grid"):
        path = _found(Path(options.source), name)
        try:
            runs[name] = load(path)
        except LoadError as error:
            return complain(PROGRAM, f"{path}: {error}")
    shown = prepare(runs["grid"], make_maps(runs["grid"]))
    made = accounts(measure(runs["blog"].rows)[0]).made
    if not shown.maps.maps or not made:
        return complain(PROGRAM, "no picture: there is no map, or no account", 1)
    into = Path(options.into)
    first = replace(shown.maps, maps=shown.maps.maps[:1])
    try:
        draw([replace(shown, maps=first)], str(into / "map.svg"), "svg")
        _write_account(next(iter(made.values())), into / "account.svg")
        _write_advice(shown, into / "advice.svg")
    except OSError as error:
        return complain(PROGRAM, f"{into}: {error.strerror or error}")
    return 0


def _write_account(account: object, path: Path) -> None:
    from gatherstats.report.plots import account_plot

    _write(account_plot(account, "account"), path)


def _write_advice(shown: object, path: Path) -> None:
    from gatherstats.report import svg
    from gatherstats.crossover.advice_text import advice_text

    lines: list[str] = []
    for crossover, advice in zip(shown.maps.maps, shown.advice):
        text = advice_text(advice, crossover, shown.run)
        lines += [""] * bool(lines)
        lines += textwrap.wrap(text, int(svg.WIDTH / svg.CHARACTER))
    parts = [
        svg.text(0, 11 + svg.LINE * i, line) for i, line in enumerate(lines) if line
    ]
    _write(svg.frame("Advice", svg.LINE * len(lines), parts, "advice"), path)


def _write(plot: object, path: Path) -> None:
    from gatherstats.process.atomic_file import write_atomically
    from gatherstats.report.style import plot_rules
    from gatherstats.report.svg import alone

    write_atomically(path, alone(plot, plot_rules()).encode())


def _found(folder: Path, name: str) -> Path:
    """The run's file, compressed or not."""
    plain = folder / f"{name}.json"
    return plain if plain.exists() else folder / f"{name}.json.gz"


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Make map.svg, account.svg and advice.svg from measured runs.",
        epilog="Exit status: 0 they are made; 1 the runs lack what they show; 2 bad usage,"
        " unreadable input, or a file that cannot be written.",
    )
    parser.add_argument(
        "--from",
        dest="source",
        default=str(MEASURED),
        metavar="DIR",
        help="where blog.json and grid.json are, or both with .gz (default: results/measured)",
    )
    parser.add_argument(
        "--into",
        default=str(MEASURED),
        metavar="DIR",
        help="where the pictures go (default: results/measured)",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
