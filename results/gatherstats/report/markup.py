"""Builds HTML and SVG in which all text is escaped, whatever a results file holds."""

from __future__ import annotations

import html
from collections.abc import Iterable

from gatherstats.text.safe import printable

_VOID = frozenset({"meta", "br", "circle", "line", "path", "rect", "col"})
"""Elements that have no content; in SVG they end in a slash."""


class Markup(str):
    """Text that is markup already; any other string is escaped."""


def element(
    tag: str, *children: str, **attributes: str | int | float | bool | None
) -> Markup:
    """One element. A trailing underscore of an attribute's name is dropped, others become hyphens.

    Attributes that are None or False are left out; True gives the name alone.
    """
    opening = tag + "".join(_attribute(k, v) for k, v in attributes.items())
    if tag in _VOID:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{join(children)}</{tag}>")


def join(parts: Iterable[str], separator: str = "") -> Markup:
    """The parts one after another, each escaped unless it is markup."""
    return Markup(separator.join(escape(part) for part in parts))


def escape(text: str) -> Markup:
    """`text` as markup. Control characters become visible escapes first."""
    if isinstance(text, Markup):
        return text
    return Markup(html.escape(printable(text), quote=True))


def _attribute(name: str, value: str | int | float | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = name.rstrip("_").replace("_", "-")
    if value is True:
        return f" {name}"
    text = _number(value) if isinstance(value, float) else str(value)
    return f' {name}="{escape(text)}"'


def _number(value: float) -> str:
    """A coordinate: hundredths are finer than anyone can see."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
