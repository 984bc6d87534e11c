"""The parts of the report's plots: a frame with a title, text, lines, and axes.

A plot is WIDTH units wide, which are as many pixels on a telephone: its text is legible there.
Colours are classes; the page's style sheet sets them for light and dark.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path

from gatherstats.drawing.markup import Markup, element
from gatherstats.text.safe import printable, width

WIDTH = 360
"""The width of a plot in units, which are pixels on the narrowest screens."""

CHARACTER = 7.2
"""The width of a character of a plot's text in units, about and at most."""

LINE = 14
"""Units from one line of text to the next."""

RULES = Path(__file__).with_name("plots.css").read_text()
"""The style sheet of plots, in the page or alone."""

_MARGIN = 12
"""Units around a plot that stands alone."""


def frame(
    title: str,
    height: float,
    parts: Sequence[Markup],
    number: str,
    wide: float = WIDTH,
) -> Markup:
    """Make a whole plot. number: makes the title's id unique in the page."""
    identity = f"plot-{number}"
    return element(
        "svg",
        element("title", title, id=identity),
        *parts,
        viewBox=f"0 0 {wide:g} {height:g}",
        role="img",
        aria_labelledby=identity,
        xmlns="http://www.w3.org/2000/svg",
    )


def text(
    x: float, y: float, words: str, anchor: str = "start", style: str = ""
) -> Markup:
    """Draw a line of text; y is its baseline."""
    return element(
        "text",
        words,
        x=float(x),
        y=float(y),
        text_anchor=None if anchor == "start" else anchor,
        class_=style or None,
    )


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> Markup:
    """Draw a straight line."""
    return element(
        "line", x1=float(x1), y1=float(y1), x2=float(x2), y2=float(y2), class_=style
    )


def rectangle(
    x: float,
    y: float,
    w: float,
    h: float,
    style: str = "",
    title: str = "",
    fill: str | None = None,
) -> Markup:
    """Draw a filled rectangle; its title shows under the pointer. fill: for a colour without a class."""
    box = {"x": float(x), "y": float(y), "width": float(w), "height": float(h)}
    rect = element("rect", class_=style or None, fill=fill, **box)
    return element("g", element("title", title), rect) if title else rect


def path(
    points: Sequence[tuple[float, float]], style: str, closed: bool = False
) -> Markup:
    """Draw a line through points."""
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + ("z" if closed else "")
    return element("path", d=d, class_=style)


def dots(points: Sequence[tuple[float, float]], style: str) -> Markup:
    """Draw round dots: line segments of no length, in fewer bytes than circles."""
    d = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
    return element("path", d=d, class_=style)


def fitting(words: str, units: float) -> str:
    """Cut the middle out of `words` that do not fit into a width in units; safe to print."""
    words = printable(words)
    columns = max(int(units / CHARACTER), 5)
    if width(words) <= columns:
        return words
    end = (columns - 3) // 2
    return f"{words[: columns - 3 - end]}...{words[-end:]}"


def round_steps(low: float, high: float, most: int = 5) -> list[float]:
    """Return about `most` round numbers at most, from low to high, evenly spaced."""
    if not high > low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def light_rules() -> str:
    """Return RULES for programs without variables and dark screens: each variable has its light value."""
    first, rest = RULES.split("@media", 1)
    rules = rest.split("\n}\n", 1)[1]
    values = dict(re.findall(r"--(\w+): (#\w+);", first))
    return re.sub(r"var\(--(\w+)\)", lambda name: values[name[1]], rules)


def alone(plot: Markup, rules: str = RULES) -> str:
    """Make a plot a file of its own, on paper with a margin."""
    opening, rest = plot.split(">", 1)
    left, top, w, h = (
        float(n) for n in opening.split('viewBox="')[1].split('"')[0].split()
    )
    box = (left - _MARGIN, top - _MARGIN, w + 2 * _MARGIN, h + 2 * _MARGIN)
    opening = opening.replace(
        f"{left:g} {top:g} {w:g} {h:g}", " ".join(f"{n:g}" for n in box)
    )
    size = f' width="{box[2] * 1.6:g}" height="{box[3] * 1.6:g}"'
    paper = rectangle(*box, "paper")
    return f"{opening}{size}>{element('style', Markup(rules))}{paper}{rest}\n"
