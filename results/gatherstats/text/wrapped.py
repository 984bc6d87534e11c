"""Breaks text into lines, and keeps a number and its unit on one line."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable

COLUMNS = 100
"""Columns of wrapped text. The tables of the blog's rows fit into as many."""

# A per cent sign and its number, and both sides of a relation such as "p = 0.5".
_UNBREAKABLE = re.compile(r" (?=%)| (?=[=<] )|(?<= [=<]) ")


def wrapped(
    text: str, first: str = "", later: str | None = None, columns: int = COLUMNS
) -> list[str]:
    """Wrap `text` into lines of at most `columns`; longer words stay whole.

    first, later: the beginning of the first line and of each further line; later: None for the
    same.
    """
    # textwrap takes a beginning without a space for a part of the first word.
    start = first.replace(" ", "\xa0")
    lines = textwrap.wrap(
        start + _UNBREAKABLE.sub("\xa0", text),
        columns,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\xa0", " ") for line in lines]


def items(texts: Iterable[str]) -> list[str]:
    """A list: each text begins with a dash."""
    return [line for text in texts for line in wrapped(text, "- ", "  ")]
