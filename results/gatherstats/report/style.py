"""The report's style sheet: plots.css, report.css, and the colours of the maps for light and dark."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from gatherstats.crossover.colours import WAYS, mix, text_on, tint
from gatherstats.crossover.map import Way
from gatherstats.report.tables import STRENGTHS, style_of

PAPERS = {"light": "#ffffff", "dark": "#16181d"}
"""The page's colours, as in plots.css."""


def style_sheet() -> str:
    """All of it, without anything that must be fetched."""
    rules = plot_rules() + Path(__file__).with_name("report.css").read_text()
    dark = _map_rules("dark")
    return f"{rules}{_map_rules('light')}@media screen and (prefers-color-scheme:dark){{{dark}}}\n"


def plot_rules() -> str:
    """What the plots need, in the page or alone."""
    return Path(__file__).with_name("plots.css").read_text()


def _map_rules(theme: str) -> str:
    rules = []
    for number in (1, 2):
        for ways in combinations(Way, number):
            for strength in range(1, STRENGTHS + 1):
                share = 0.25 + 0.55 * strength / STRENGTHS
                colour = tint(mix([WAYS[way] for way in ways]), share, PAPERS[theme])
                name = style_of(ways, strength)
                rules.append(
                    f".{name}{{background:{colour};color:{text_on(colour)}}}\n"
                )
    return "".join(rules)
