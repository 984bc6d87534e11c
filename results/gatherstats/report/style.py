"""The report's style sheet: plots.css, report.css, and the maps' colours for light and dark."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

from gatherstats.crossover.colours import WAYS, mix, strength_of_shade, text_on, tint
from gatherstats.crossover.map import Way
from gatherstats.drawing.svg import RULES
from gatherstats.report.tables import STRENGTHS, style_of

# The page's colours, for light and for dark.
_PAPER = re.compile(r"--paper: (#[0-9a-f]{6});")


def style_sheet() -> str:
    """Make the whole style sheet; it fetches nothing."""
    rules = RULES + Path(__file__).with_name("report.css").read_text()
    dark = _map_rules("dark")
    return f"{rules}{_map_rules('light')}@media screen and (prefers-color-scheme:dark){{{dark}}}\n"


def _map_rules(theme: str) -> str:
    papers = dict(zip(("light", "dark"), _PAPER.findall(RULES)))
    paper = papers[theme]
    rules = []
    for number in (1, 2):
        for ways in combinations(Way, number):
            for strength in range(1, STRENGTHS + 1):
                share = strength_of_shade(strength, STRENGTHS)
                colour = tint(mix([WAYS[way] for way in ways]), share, paper)
                name = style_of(ways, strength)
                rules.append(
                    f".{name}{{background:{colour};color:{text_on(colour)}}}\n"
                )
    return "".join(rules)
