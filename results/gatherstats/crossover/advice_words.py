"""Puts a crossover map's advice into a sentence or two."""

from __future__ import annotations

from itertools import groupby

from gatherstats.crossover.advice import SMALL, Advice, Case, small_pair
from gatherstats.crossover.map import Map, Way, bytes_of
from gatherstats.data.rows import Run
from gatherstats.stats.verdict_words import percent
from gatherstats.text.safe import printable

_SMALL_TEXT = f"{SMALL * 100:.0f} %"

_PLACES = {
    "null": "/dev/null",
    "pipe": "a pipe",
    "unix": "a Unix socket",
    "tcp": "TCP over the loopback",
}


def place(crossover: Map, run: Run) -> str:
    """Name the target and the durability, such as "ext4 with fdatasync"; safe to print."""
    keys = crossover.keys
    target = keys.get("target", "")
    parts = [_PLACES.get(target, target)]
    if target == "file":
        parts = [run.setting("filesystem") or "a file"]
    extras = []
    if keys.get("sync", "none") != "none":
        extras.append(keys["sync"])
    if keys.get("direct") == "yes":
        extras.append("O_DIRECT")
    extras += [
        f"{suffix.partition(':')[2]} threads"
        for suffix in crossover.suffixes
        if suffix.startswith("threads:") and suffix != "threads:1"
    ]
    if extras:
        parts.append("with " + " and ".join(extras))
    return printable(" ".join(parts))


def call(crossover: Map, way: Way) -> str:
    """Name a way as a programmer does, such as "pwritev()"."""
    if way is Way.COALESCE:
        return "copy and write once"
    return f"{printable(crossover.strategies[way])}()"


def size_text(size: str) -> str:
    """Format a buffer's size for people: "512 bytes", "16 KiB"; a pattern stays as it is."""
    number = bytes_of(size)
    if number is None or "+" in size:
        return f"{printable(size)} bytes"
    for factor, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if number >= factor and number % factor == 0:
            return f"{number / factor:.0f} {unit}"
    return f"{number:,.0f} bytes"


def advice_text(advice: Advice, crossover: Map, run: Run) -> str:
    """Say the advice; safe to print."""
    where = place(crossover, run)
    if not any(case.clear for case in advice.cases):
        return _nothing_known(advice, crossover, where)
    parts = []
    for bounds, group in groupby(advice.cases, lambda case: (case.fewest, case.most)):
        parts.append(_part(list(group), crossover, *bounds))
    text = " ".join(parts)
    if advice.small_from is not None:
        text += _small(advice, crossover)
    return f"On {where} here: {text[0].lower()}{text[1:]}"


def worth_text(advice: Advice) -> str:
    """Say in a sentence how much time the advice loses."""
    if not any(case.clear for case in advice.cases):
        return ""
    if advice.worst_loss == 0:
        return "No other way is known to be faster in any cell."
    return (
        f"Against the best way of each cell it loses {percent(advice.mean_loss)} on average,"
        f" {percent(advice.worst_loss)} at worst."
    )


def _nothing_known(advice: Advice, crossover: Map, where: str) -> str:
    ways = call(crossover, advice.cases[0].way)
    cells = crossover.cells.values()
    if all(cell.is_same for cell in cells):
        return f"On {where} here all ways take the same time: {ways} is the simplest."
    return (
        f"On {where} here this run cannot tell which way is faster: {ways} is the"
        " simplest."
    )


def _part(cases: list[Case], crossover: Map, fewest: int, most: int | None) -> str:
    """Say the cases for one range of counts; name the range only if there are several."""
    alone = crossover.counts == [1] or most is None and fewest == _several(crossover)
    if most == 1:
        name = "one buffer: "
    elif alone:
        name = ""
    else:
        name = f"more than {fewest - 1} buffers: "
        if most is not None:
            name = (
                f"{fewest} to {most} buffers: "
                if most > fewest
                else f"{most} buffers: "
            )
    texts = []
    for i, case in enumerate(cases):
        doubt = "" if case.clear else ", as nothing is known to beat it"
        what = call(crossover, case.way) + doubt
        if len(cases) == 1:
            texts.append(f"several buffers: {what}" if not name else what)
        elif case.up_to is not None:
            texts.append(f"up to {size_text(case.up_to)} a buffer: {what}")
        else:
            texts.append(f"above: {what}")
    if len(cases) == 1 or not name:
        return " ".join(_capital(name + text) + "." for text in texts)
    return _capital(name + "; ".join(texts)) + "."


def _several(crossover: Map) -> int:
    return next(count for count in crossover.counts if count > 1)


def _small(advice: Advice, crossover: Map) -> str:
    """Say from which size on two ways hardly differ."""
    start = "It"
    if advice.small_from != crossover.sizes[0]:
        start = f"From {size_text(advice.small_from or '')} it"
    way = next(
        case.way for case in advice.cases if case.up_to is None and case.most is None
    )
    ways = [call(crossover, one) for one in small_pair(way)]
    return f" {start} makes less than {_SMALL_TEXT} either way, {ways[0]} or {ways[1]}."


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
