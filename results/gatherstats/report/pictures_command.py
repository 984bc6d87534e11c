"""The command pictures.py: draws the READMEs' pictures, from the measured runs in this repository.

map.svg is the crossover map on the first target, account.svg where the gain comes from, advice.svg
the advice on every target.
"""

from __future__ import annotations

import argparse
import textwrap
from dataclasses import replace
from pathlib import Path

from gatherstats.blog.account import accounts
from gatherstats.cli.inputs import load_all
from gatherstats.cli.options import add_output, save
from gatherstats.crossover.advice import MapsWithAdvice, with_advice
from gatherstats.crossover.advice_words import advice_text
from gatherstats.crossover.crossover_command import save_picture
from gatherstats.crossover.map import make_maps
from gatherstats.drawing import svg
from gatherstats.drawing.markup import Markup
from gatherstats.errors import UserError
from gatherstats.report.plots import account_plot
from gatherstats.stats.samples import measure

MEASURED = Path(__file__).resolve().parents[2] / "measured"

DESCRIPTION = "Make map.svg, account.svg and advice.svg from measured runs."

EXIT_STATUS = (
    "0 all are made; 1 the runs lack a map or an account; 2 bad usage, unreadable input, or a file that"
    " cannot be written"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the two folders."""
    parser.add_argument(
        "--from",
        dest="source",
        default=str(MEASURED),
        metavar="DIR",
        help="where blog.json and grid.json are, or both with .gz (default: results/measured)",
    )
    add_output(
        parser,
        "--into",
        default=str(MEASURED),
        metavar="DIR",
        help="the folder that the pictures go to (default: results/measured)",
    )


def main(options: argparse.Namespace) -> int:
    """Make the pictures and return the exit status."""
    source = Path(options.source)
    blog, grid = load_all([_found(source, name) for name in ("blog", "grid")])
    shown = with_advice(grid, make_maps(grid, measure(grid.rows)[0]))
    explained = accounts(measure(blog.rows)[0]).by_name
    if not shown.maps.maps or not explained:
        raise UserError("no picture: there is no map, or no account", 1)
    into = Path(options.output)
    first = replace(shown.maps, maps=shown.maps.maps[:1])
    save_picture([replace(shown, maps=first)], str(into / "map.svg"), "svg", 1)
    _write(
        account_plot(next(iter(explained.values())), "account"), into / "account.svg"
    )
    _write(_advice(shown), into / "advice.svg")
    return 0


def _advice(shown: MapsWithAdvice) -> Markup:
    lines: list[str] = []
    for crossover, advice in zip(shown.maps.maps, shown.advice):
        text = advice_text(advice, crossover, shown.run)
        lines += [""] * bool(lines)
        lines += textwrap.wrap(text, int(svg.WIDTH / svg.CHARACTER))
    parts = [
        svg.text(0, 11 + svg.LINE * i, line) for i, line in enumerate(lines) if line
    ]
    return svg.frame("Advice", svg.LINE * len(lines), parts, "advice")


def _write(plot: Markup, path: Path) -> None:
    save(str(path), svg.alone(plot).encode())


def _found(folder: Path, name: str) -> str:
    """Find the run's file, compressed or not."""
    plain = folder / f"{name}.json"
    return str(plain if plain.exists() else folder / f"{name}.json.gz")
