"""Puts the costs of a byte, a folio and a call into words: the fit, and the consequences for gathering."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.blog.account_words import MAY_BE_ZERO
from gatherstats.blog.cells import Table
from gatherstats.blog.cost_model import (
    TOLERANCE,
    UNITS,
    Model,
    Prediction,
    applies,
    is_created_alike,
    unseen,
    work_of,
)
from gatherstats.data.grouping import Group, is_blog_row
from gatherstats.data.names import RowName
from gatherstats.data.rows import Run, phases
from gatherstats.stats.parts import Part
from gatherstats.stats.samples import RowSample
from gatherstats.text.units import time_text, time_unit

COUNTED = "counted"
"""The context's value of `folios` if they were counted; any other text is the reason against it."""

PRESET = "folios"
"""The preset whose rows allow a fit."""

_PAIRS = {"pwritev": "pwrite", "writev": "write"}


def not_counted(run: Run) -> str:
    """Say why folios were not counted, "" if they were or the run does not say."""
    said = run.setting("folios")
    return "" if said is None or said == COUNTED else said


def no_model(run: Run) -> str:
    """Say why a run of the preset has no model; "" for any other run."""
    if run.setting("preset") != PRESET:
        return ""
    start = "what a byte, a folio and a call cost cannot be told:"
    if not_counted(run):
        return f"{start} folios were not counted ({not_counted(run)})"
    if not any("folios" in row.counters for row in run.rows):
        return f"{start} the kernel's tracepoint does not see the folios of this file system"
    return (
        f"{start} there are too few rows, or their folios and calls are too much alike"
    )


def model_lines(model: Model) -> list[str]:
    """Say the model's costs, and how well it fits."""
    off = [one for one in model.predictions if not one.is_right]
    number = len(model.predictions)
    tested = (
        f"each row predicted by a fit of the others: {model.right} of {number} within"
        f" {TOLERANCE * 100:.0f} %"
    )
    if not model.fits:
        why = f"; off: {_named(off)}" if off else "; a cost comes out below zero"
        return [
            "the time does not follow from bytes, folios and calls alone, so no cost of them is given:"
            f" {tested}{why}"
        ]
    worst = max(model.predictions, key=lambda one: abs(one.off))
    lines = [f"{_costs(model, '')}: least squares of {number} rows, 95 % intervals"]
    for phase in list(model.costs)[1:]:
        where = "writes" if phase == "write" else phase
        lines.append(f"of it in the {where}: {_costs(model, phase)}")
    lines.append(f"{tested}; the worst is {_named([worst])}")
    if "folio" not in model.units:
        lines.append(
            "folios are all of one size here, whatever is written at once: what they cost is in the"
            " bytes, and gathering saves calls alone"
        )
    return lines


def residual_table(model: Model, label: str = "Row") -> Table:
    """Make a table of a fit's rows: their counts, and the errors of their predictions."""
    unit = time_unit(one.time_s for one in model.predictions)
    rows = []
    for one in model.predictions:
        _, folios, calls = model.work[one.name.text]
        times = (f"{t / unit.size:.2f}" for t in (one.time_s, one.predicted_s))
        counts = (f"{folios:.0f}", f"{calls:.0f}")
        rows.append((short_name(one.name), *times, f"{one.off * 100:+.1f}", *counts))
    headers = [label, f"Median [{unit.name}]", "Predicted", "Off %", "folios", "calls"]
    return Table(headers, rows, 1)


def gain_table(model: Model) -> Table | None:
    """Make a table of each gather's gain over separate writes: by fewer calls, by fewer folios,
    and unexplained."""
    times = {_key(p.name): p for p in model.predictions}
    rows = []
    pairs = []
    for one in model.predictions:
        separate = _PAIRS.get(one.name.keys["strategy"])
        other = times.get((separate, *_key(one.name)[1:])) if separate else None
        if other is not None:
            pairs.append((other, one))
    if not model.fits or not pairs:
        return None
    unit = time_unit(abs(p.time_s - g.time_s) for p, g in pairs)
    for separate, gathered in pairs:
        gain = separate.time_s - gathered.time_s
        parts = gain_parts(
            model, model.work[separate.name.text], model.work[gathered.name.text]
        )
        rest = gain - sum(parts.values())
        cells = [parts.get("call", 0.0), parts.get("folio"), rest]
        rows.append(
            (
                f"{gathered.name.keys['count']} x {gathered.name.keys['size']}",
                *unit.column([gain], 2),
                *(unit.column([cell], 2)[0] for cell in cells),
            )
        )
    headers = ["Gathered", f"Gain [{unit.name}]", "calls", "folios", "unexplained"]
    return Table(headers, rows, 1)


def gain_parts(model: Model, separate, gathered, phase: str = "") -> dict[str, float]:
    """Return the model's gain by saved calls and by saved folios, in seconds."""
    saved = dict(zip(UNITS, separate - gathered))
    return {
        unit: saved[unit] * model.cost(unit, phase).time_s
        for unit in model.units
        if unit != "byte"
    }


def _writes_lines(
    models: Sequence[Model], run: Run, separate: RowSample, gathered: RowSample
) -> list[str]:
    """Say the gain of two rows' writes, by another run's model; without one, their folios."""
    work = [work_of(one) for one in (separate, gathered)]
    if work[0] is None or work[1] is None:
        why = not_counted(run)
        return [f"folios were not counted ({why})"] if why else []
    calls, folios = (round(float(work[0][i] - work[1][i])) for i in (2, 1))
    if not folios:
        return ["gathered or not, the page cache keeps the file in as many folios"]
    model = next((m for m in models if applies(m, run, gathered.row.name)), None)
    if model is None or "write" not in model.costs:
        return [
            f"the page cache keeps the file in {work[1][1]:.0f} folios in place of {work[0][1]:.0f}: what"
            " that saves, a run of --preset=folios given beside this one can tell"
        ]
    parts = gain_parts(model, *work, phase="write")
    measured = phases(separate.row)["write"] - phases(gathered.row)["write"]
    counts = {"call": calls, "folio": folios}
    words = " and ".join(
        f"{counts[unit]} {unit}s fewer x {model.cost(unit, 'write').time_s * 1e6:.3f} us ="
        f" {time_text(saved_s)}"
        for unit, saved_s in parts.items()
    )
    return [
        f"in the writes by the model of {model.run.setting('preset') or 'another run'}: {words},"
        f" together {time_text(sum(parts.values()))}, measured {time_text(measured)}"
    ]


def unseen_lines(
    models: Sequence[Model], run: Run, measured: Sequence[RowSample]
) -> list[str]:
    """Say how well other runs' models predict the rows of this one, a sentence for each."""
    lines = []
    for model in models:
        found = unseen(model, run, measured)
        right = sum(one.is_right for one in found)
        whole = all(is_created_alike(model, one.name) for one in found)
        if found:
            lines.append(
                f"The {'rows' if whole else 'writes of the rows'} above, which the fit of"
                f" {model.run.setting('preset') or 'another run'} has not seen: {right} of"
                f" {len(found)} predicted within {TOLERANCE * 100:.0f} % ({_named(found)})."
            )
    return lines


def folio_lines(
    group: Group, measured: Sequence[RowSample], models: Sequence[Model], run: Run
) -> list[str]:
    """Say the gain by fewer folios in a table of the blog's loop, as far as it is known."""
    found = {
        one.row.name.keys["strategy"]: one
        for one in measured
        if one.row in group.rows and is_blog_row(one.row.name)
    }
    if group.systems or not {"pwrite", "pwritev"} <= found.keys():
        return []
    return _writes_lines(models, run, found["pwrite"], found["pwritev"])


def short_name(name: RowName) -> str:
    """Name a row by the keys in which its fit's rows differ."""
    keys = name.keys
    count = "" if keys.get("count") == "1" else f"{keys.get('count')} x "
    return f"{keys['strategy']} {count}{keys.get('size')}"


def _named(predictions: Sequence[Prediction]) -> str:
    return ", ".join(
        f"{short_name(one.name)} {one.off * 100:+.0f} %" for one in predictions
    )


def _key(name: RowName) -> tuple:
    """Return a row's strategy and buffers, the key that finds the single buffer of each gather."""
    return name.keys["strategy"], name.keys.get("size"), name.keys.get("file_bytes")


def _costs(model: Model, phase: str) -> str:
    return ", ".join(
        _cost(cost, unit) for unit, cost in zip(model.units, model.costs[phase])
    )


def _cost(cost: Part, unit: str) -> str:
    """Format a cost with its interval: of a byte in nanoseconds, of others in microseconds."""
    name, size = ("ns", 1e-9) if unit == "byte" else ("us", 1e-6)
    low, middle, high = (
        f"{v / size:.3f}" for v in (cost.low_s, cost.time_s, cost.high_s)
    )
    zero = "" if cost.is_clear else f", {MAY_BE_ZERO}"
    return f"{middle} {name} a {unit} ({low} to {high}{zero})"
