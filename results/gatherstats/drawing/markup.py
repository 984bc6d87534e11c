"""Builds HTML and SVG that escape all text from results files."""

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
    """Make an element.

    An attribute's name loses a trailing underscore, and other underscores become hyphens. None and
    False leave the attribute out; True gives its name alone.
    """
    opening = tag + "".join(_attribute(k, v) for k, v in attributes.items())
    if tag in _VOID:
        return Markup(f"<{opening}/>")
    return Markup(f"<{opening}>{join(children)}</{tag}>")


def join(parts: Iterable[str], separator: str = "") -> Markup:
    """Join the parts, each escaped unless it is markup."""
    return Markup(separator.join(escape(part) for part in parts))


def escape(text: str) -> Markup:
    """Escape `text`. Control characters become visible escapes first."""
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
    """Format a coordinate, in hundredths: finer than anyone can see."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
