"""The report's plots: the account of the gain, the samples over time, and the latencies."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gatherstats.blog.account import Account
from gatherstats.blog.account_words import labels, part_text, share_text, unit_of
from gatherstats.data.grouping import Group
from gatherstats.data.rows import Row, phases, shown_phases
from gatherstats.drawing import svg
from gatherstats.drawing.markup import Markup
from gatherstats.stats.parts import Part
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.samples import RowSample
from gatherstats.text.units import Unit, time_text

MOST_DOTS = 2500
"""Most samples that are drawn one by one; of more, the plot has percentiles."""

MOST_LATENCIES = 24
"""Most rows in the plot of latencies; the table beside it has more."""

PERCENTILES = {"p50": 1, "p99": 100, "p99.9": 1000, "max": 1}
"""Counters with a row's latencies, in nanoseconds, and the operations that each needs at least."""

MOST_BARS = 24
"""Rows in a plot of phases; the table beside it has more."""

_PARTS = ("part0", "part1", "part2")
"""The colours of the parts of the writes."""

_BINS = 120
_EDGE = 4.0


def account_plot(account: Account, number: str) -> Markup:
    """A bar for each part, beginning where the one before ends; the last is the whole."""
    unit = unit_of(account)
    styles = [*_PARTS, *(f"phase-{phase}" for phase in account.others), "whole"]
    parts = [*zip(labels(account), account.parts), ("the gain", account.gain)]
    starts, end = [], 0.0
    for part in account.parts:
        starts.append(end)
        end += part.time_s
    starts.append(0.0)
    lows = [start + p.low_s for start, (_, p) in zip(starts, parts)]
    highs = [start + p.high_s for start, (_, p) in zip(starts, parts)]
    low, high = min(0.0, *lows), max(0.0, *highs)
    scale = (svg.WIDTH - 2 * _EDGE) / (high - low or 1.0)

    def x(time_s: float) -> float:
        return _EDGE + (time_s - low) * scale

    shapes: list[Markup] = []
    y = 0.0
    for i, (start, (label, part)) in enumerate(zip(starts, parts)):
        words = _part_words(part, account, unit, is_whole=i == len(parts) - 1)
        shapes += [
            svg.text(0, y + 12, label, style="label"),
            svg.text(0, y + 26, words),
        ]
        left, right = sorted((x(start), x(start + part.time_s)))
        style = "loss" if part.time_s < 0 else styles[i]
        shapes.append(
            svg.rectangle(
                left, y + 32, max(right - left, 0.7), 14, style, f"{label}: {words}"
            )
        )
        shapes += _whisker(x(start + part.low_s), x(start + part.high_s), y + 39)
        shapes.append(svg.line(x(0), y + 30, x(0), y + 48, "axis"))
        y += 58
    title = f"Where the gain of {part_text(account.gain, unit)} comes from"
    return svg.frame(title, y, shapes, number)


def _part_words(part: Part, account: Account, unit: Unit, is_whole: bool) -> str:
    share = "" if is_whole and part.is_clear else share_text(part, account)
    return part_text(part, unit) + (f", {share}" if share else "")


def _whisker(left: float, right: float, y: float) -> list[Markup]:
    ends = [svg.line(x, y - 3, x, y + 3, "whisker") for x in (left, right)]
    return [svg.line(left, y, right, y, "whisker"), *ends]


def phases_plot(group: Group, number: str) -> Markup | None:
    """A bar for each row of a table, made of the phases of its operations; None without phases."""
    worth = shown_phases(group.rows)
    rows = [
        (label, found)
        for label, row in zip(group.labels, group.rows)
        if "open" in (found := phases(row))
    ][:MOST_BARS]
    if not worth or not rows:
        return None
    return stacked_plot(rows, worth, f"Phases of {group.title}", number)


def stacked_plot(
    rows: Sequence[tuple[str, dict[str, float]]],
    worth: Sequence[str],
    title: str,
    number: str,
) -> Markup:
    """A bar for each of `rows` (a label, and seconds by phase), all to one scale, and a key of colours."""
    longest = max(sum(found.values()) for _, found in rows) or 1.0
    scale = (svg.WIDTH - 2 * _EDGE) / longest
    shapes: list[Markup] = []
    y = 0.0
    for label, found in rows:
        whole = time_text(sum(found.values()))
        words = svg.fitting(label, svg.WIDTH - svg.CHARACTER * (len(whole) + 2))
        shapes.append(svg.text(0, y + 12, words, style="label"))
        shapes.append(svg.text(svg.WIDTH - _EDGE, y + 12, whole, "end"))
        x = _EDGE
        for phase in worth:
            width = found.get(phase, 0.0) * scale
            about = f"{label}: {phase} {time_text(found.get(phase, 0.0))}"
            shapes.append(svg.rectangle(x, y + 17, width, 14, f"phase-{phase}", about))
            x += width
        y += 38
    x = _EDGE
    for phase in worth:
        shapes.append(svg.rectangle(x, y + 2, 10, 10, f"phase-{phase}"))
        shapes.append(svg.text(x + 14, y + 11, phase))
        x += 14 + svg.CHARACTER * (len(phase) + 2)
    return svg.frame(title, y + 18, shapes, number)


def samples_plot(measured: Sequence[RowSample], number: str) -> Markup | None:
    """Each repetition's time over its row's median, when it was measured; the line is the drift.

    None where no row says when its repetitions began.
    """
    used = [
        one
        for one in measured
        if one.row.start_s is not None
        and isinstance(one.sample, Repetitions)
        and one.sample.size
        and one.row.times_s.min() > 0
    ]
    if not used:
        return None
    starts = np.concatenate([one.row.start_s for one in used])
    order = np.argsort(starts, kind="stable")
    starts = starts[order]
    logs = np.concatenate(
        [np.log(o.row.times_s / np.median(o.row.times_s)) for o in used]
    )
    # Drift is the measured time over the time without drift.
    drift = np.concatenate([np.log(o.row.times_s / o.sample.times_s) for o in used])
    return _draw_samples(starts, logs[order], drift[order], number)


def _draw_samples(
    starts: np.ndarray, logs: np.ndarray, drift: np.ndarray, number: str
) -> Markup:
    low, high = (float(v) for v in np.quantile(logs, [0.01, 0.99]))
    low, high = min(low, float(drift.min()), -0.005), max(
        high, float(drift.max()), 0.005
    )
    left, right, top, bottom = 54.0, svg.WIDTH - 8.0, 20.0, 180.0
    first, last = float(starts[0]), float(starts[-1])

    def x(seconds: np.ndarray | float) -> np.ndarray | float:
        return left + (seconds - first) / (last - first or 1.0) * (right - left)

    def y(log: np.ndarray | float) -> np.ndarray | float:
        return bottom - (np.clip(log, low, high) - low) / (high - low) * (bottom - top)

    shapes = [svg.text(0, 11, "time against its row's median")]
    for tick in svg.round_steps(math.expm1(low) * 100, math.expm1(high) * 100, 7):
        at = float(y(math.log1p(tick / 100)))
        shapes.append(svg.line(left, at, right, at, "grid"))
        shapes.append(
            svg.text(left - 4, at + 4, f"{tick:+g} %" if tick else "0", "end")
        )
    for tick in svg.round_steps(first, last):
        # Labels at the edges would be cut off.
        at = min(max(float(x(tick)), left + 8), right - 8)
        shapes.append(svg.text(at, bottom + 14, f"{tick:g}", "middle"))
    shapes.append(svg.text(right, bottom + 28, "seconds since the start", "end"))
    outside = int(np.count_nonzero((logs < low) | (logs > high)))
    if starts.size <= MOST_DOTS:
        shapes.append(svg.dots(list(zip(x(starts), y(logs))), "dots"))
    else:
        shapes += _band(starts, logs, x, y)
    if np.any(drift != 0):
        shapes.append(svg.path(_thinned(x(starts), y(drift)), "drift"))
    title = f"{starts.size} samples over time"
    if outside:
        title += f"; {outside} lie outside the plot and are drawn at its edge"
    return svg.frame(title, bottom + 34, shapes, number)


def _band(starts: np.ndarray, logs: np.ndarray, x, y) -> list[Markup]:
    """Percentiles 5 to 95 and 25 to 75 of samples that lie together in time."""
    parts = [p for p in np.array_split(np.arange(starts.size), _BINS) if p.size]
    centres = [float(x(starts[p].mean())) for p in parts]
    found = np.array([np.quantile(logs[p], [0.05, 0.25, 0.75, 0.95]) for p in parts])
    bands = []
    for lower, upper, style in ((0, 3, "band"), (1, 2, "band inner")):
        there = list(zip(centres, y(found[:, upper])))
        back = list(zip(centres, y(found[:, lower])))[::-1]
        bands.append(svg.path(there + back, style, closed=True))
    return bands


def _thinned(x: np.ndarray, y: np.ndarray) -> list[tuple[float, float]]:
    """Thin a line's points out to one for each unit of the plot's width."""
    chosen = np.unique(
        np.linspace(0, x.size - 1, min(x.size, 2 * svg.WIDTH)).astype(int)
    )
    return list(zip(x[chosen], y[chosen]))


def latencies_of(row: Row) -> dict[str, float]:
    """Return a row's percentiles in seconds, if it has enough operations for them; {} without any."""
    operations = row.counter("latency_ops")
    known = {name: row.counter(name) for name in PERCENTILES}
    if row.failed or known["p50"] is None or known["max"] is None:
        return {}
    return {
        name: value / 1e9
        for name, value in known.items()
        if value is not None and (operations is None or operations >= PERCENTILES[name])
    }


def latency_plot(rows: Sequence[Row], names: Sequence[str], number: str) -> Markup:
    """A line from the median to the maximum for each row, with its percentiles, on a logarithmic axis."""
    shown = list(zip(rows, names))[:MOST_LATENCIES]
    values = [
        {name: s * 1e9 or 1.0 for name, s in latencies_of(row).items()}
        for row, _ in shown
    ]
    low = math.log10(max(min(min(v.values()) for v in values), 1e-3))
    high = math.log10(max(max(v.values()) for v in values))
    left, right = 8.0, svg.WIDTH - 12.0

    def x(nanoseconds: float) -> float:
        share = (math.log10(max(nanoseconds, 10**low)) - low) / (high - low or 1.0)
        return left + share * (right - left)

    shapes: list[Markup] = []
    height = 30.0 * len(shown) + 4
    for exponent in range(math.ceil(low), math.floor(high) + 1):
        at = x(10.0**exponent)
        shapes.append(svg.line(at, 0, at, height, "grid"))
        shapes.append(
            svg.text(
                min(max(at, 26.0), right - 20),
                height + 13,
                time_text(10.0**exponent / 1e9),
                "middle",
            )
        )
    for i, ((_, name), found) in enumerate(zip(shown, values)):
        y = 30.0 * i
        shapes.append(svg.text(0, y + 11, svg.fitting(name, svg.WIDTH)))
        ends = x(found["p50"]), x(found["max"])
        shapes.append(svg.line(ends[0], y + 21, ends[1], y + 21, "whisker"))
        for percentile, value in found.items():
            style = percentile.replace(".", "")
            title = f"{name}: {percentile} {time_text(value / 1e9)}"
            shapes.append(svg.rectangle(x(value) - 2.5, y + 16, 5, 10, style, title))
    title = (
        "Latency of single operations: "
        + ", ".join(PERCENTILES)
        + ", from left to right"
    )
    return svg.frame(title, height + 18, shapes, number)
