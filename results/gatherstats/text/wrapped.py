"""Breaks text into lines, so that what belongs together stays on one."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

COLUMNS = 100
"""Text is wrapped at this width, and the tables of the blog's rows fit into it."""

# A per cent sign and its number, and both sides of a relation such as "p = 0.5".
_TOGETHER = re.compile(r" (?=%)| (?=[=<] )|(?<= [=<]) ")


def wrapped(
    text: str, first: str = "", later: str | None = None, columns: int = COLUMNS
) -> list[str]:
    """Lines of at most so many columns, unless a word is longer.

    first, later: what the first line and each further one begin with; later: None for the same.
    """
    # A beginning that textwrap takes for a part of the first word stays with it, however long.
    start = first.replace(" ", "\xa0")
    lines = textwrap.wrap(
        start + _TOGETHER.sub("\xa0", text),
        columns,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\xa0", " ") for line in lines]


def items(texts: Iterable[str]) -> list[str]:
    """A list: each text begins with a dash."""
    return [line for text in texts for line in wrapped(text, "- ", "  ")]
