"""The cells of a group's table, and the lines below it, for all kinds of output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gatherstats.blog.benchmarkdotnet import Summary, summarise
from gatherstats.data.grouping import Group, system_of
from gatherstats.data.rows import Row, device_share, phases, shown_phases
from gatherstats.stats.order import ORDER_PROBLEMS, ORDER_ADVICE
from gatherstats.stats.verdict import Sample, Verdict, judge
from gatherstats.stats.verdict_words import advice, short
from gatherstats.text.units import Unit, rate_unit, significant, time_unit

Safe = Callable[[str], str]
"""Makes text from a file safe for one kind of output."""


@dataclass(frozen=True)
class Table:
    """A table's cells, safe to print. left: the number of text columns, from the left."""

    headers: list[str]
    rows: list[Sequence[str]]
    left: int


def judge_group(
    group: Group, samples: dict[str, Sample | None], threshold: float
) -> dict[int, Verdict]:
    """Judge a group's rows; returns verdicts by the row's index. samples: by name, None for a failed row."""
    in_order = [samples[row.name.text] for row in group.rows]
    pairs = {}
    for i in group.others:
        base, other = in_order[group.baselines[i]], in_order[i]
        if base is not None and other is not None:
            pairs[i] = (base, other)
    families = [system_of(group.rows[i].name) for i in pairs]
    verdicts = judge(list(pairs.values()), threshold, families=families)
    return dict(zip(pairs, verdicts))


def table_of(group: Group, safe: Safe) -> Table:
    """Make a group's table; renderers leave empty columns out."""
    summaries = [summarise(row) for row in group.rows]
    bases = [None if b is None else summaries[b] for b in group.baselines]
    times = [s.mean_s if s.mean_s is not None else s.median_s for s in summaries if s]
    unit = time_unit(t for t in times if t is not None)
    parts = [phases(row) for row in group.rows]
    columns_of_phases = shown_phases(group.rows)
    # The phases of whole files need the room, and all files have one length.
    is_full = any("open" in found for found in parts) and bool(columns_of_phases)
    rates = [
        None if row.failed or is_full else row.counter("bytes_per_second")
        for row in group.rows
    ]
    rate = rate_unit(r for r in rates if r is not None)
    shares = [None if row.failed else device_share(row) for row in group.rows]
    systems = [group.system_key.capitalize()] if group.systems else []
    # The first column of times that is not empty shows the unit.
    first = "Mean" if any(s and s.mean_s is not None for s in summaries) else "Median"
    headers = (
        systems
        + [
            f"{name} [{unit.name}]" if name == first else name
            for name in (
                "Method",
                "Mean",
                "Error",
                "StdDev",
                "Median",
                "Min",
                "Max",
                "Ratio",
            )
        ]
        + ["n", "calls", "kernel", rate.name]
        + [*columns_of_phases, "device"]
    )
    columns = [
        *_system_columns(group, safe),
        [safe(label) for label in group.labels],
        *_time_columns(summaries, unit),
        _ratio_column(summaries, bases),
        [_n_text(row, summary) for row, summary in zip(group.rows, summaries)],
        [_count_text(row, "calls") for row in group.rows],
        [_count_text(row, "kernel_calls") for row in group.rows],
        rate.column(rates),
        *(unit.column([p.get(phase) for p in parts]) for phase in columns_of_phases),
        ["" if share is None else f"{share:.2f}" for share in shares],
    ]
    return Table(headers, list(zip(*columns)), 1 + len(systems))


def _system_columns(group: Group, safe: Safe) -> list[list[str]]:
    """Make one column or none. A row's label describes its system better than its name."""
    cells = [row.label or name for row, name in zip(group.rows, group.systems)]
    return [[safe(cell) for cell in cells]] if group.systems else []


def _time_columns(summaries: list[Summary | None], unit: Unit) -> list[list[str]]:
    columns = []
    for name in ("mean_s", "error_s", "stddev_s", "median_s", "min_s", "max_s"):
        columns.append(
            unit.column([getattr(s, name) if s else None for s in summaries])
        )
    columns[0] = ["failed" if s is None else t for s, t in zip(summaries, columns[0])]
    return columns


def _ratio_column(
    summaries: list[Summary | None], bases: list[Summary | None]
) -> list[str]:
    """Make the column of ratios: of means, or of medians in a table without any mean."""
    by_mean = any(s and s.mean_s is not None for s in summaries)
    return [
        _ratio_text(
            *((s and (s.mean_s if by_mean else s.median_s)) for s in (summary, base))
        )
        for summary, base in zip(summaries, bases)
    ]


def _ratio_text(time_s: float | None, base_s: float | None) -> str:
    if time_s is None or base_s is None:
        return ""
    return f"{time_s / base_s:.2f}" if base_s > 0 else "NA"


def _n_text(row: Row, summary: Summary | None) -> str:
    """Format the number of repetitions, "n of N" if the row was cut short."""
    if summary is None or summary.n is None:
        return ""
    is_cut = row.has_repetitions and row.times_s.size < (row.expected or 0)
    return f"{summary.n} of {row.expected}" if is_cut else str(summary.n)


def _count_text(row: Row, counter: str) -> str:
    """Format a counter, as a whole number if it is one; as a range if the repetitions differ."""
    values = row.counters.get(counter)
    if values is None or values.size == 0:
        return ""
    low, high = (f"{v:.0f}" if v == round(v) else significant(v) for v in _ends(values))
    return low if low == high else f"{low}..{high}"


def _ends(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


@dataclass(frozen=True)
class Below:
    """The lines under a table: failed rows; then the verdicts under their heading."""

    failures: list[str]
    heading: str
    verdicts: list[str]


def below_table(
    group: Group, verdicts: dict[int, Verdict], threshold: float, safe: Safe
) -> Below:
    """Make the lines under a group's table, safe to print."""
    names = _names(group, safe)
    failures = [
        f"{name}: failed: {safe(row.error or '')}"
        for name, row in zip(names, group.rows)
        if row.failed
    ]
    for i in group.others:
        base = group.baselines[i]
        if group.rows[base].failed and not group.rows[i].failed:
            failures.append(
                f"{names[i]} against {names[base]}: not compared, the latter failed."
            )
    if not verdicts:
        return Below(failures, "", [])
    return Below(failures, *_judged(group, verdicts, threshold, safe))


def _names(group: Group, safe: Safe) -> list[str]:
    """Name each row for a sentence."""
    labels = [safe(label) for label in group.labels]
    systems = [safe(system) for system in group.systems]
    return [f"{s}, {label}" for s, label in zip(systems, labels)] or labels


def _judged(
    group: Group, verdicts: dict[int, Verdict], threshold: float, safe: Safe
) -> tuple[str, list[str]]:
    labels = _names(group, safe)
    base = safe(group.labels[group.baselines[min(verdicts)]])
    start = f"Against {base}"
    others = {group.labels[i] for i in verdicts}
    if group.systems and len(others) == 1:
        start = f"{safe(others.pop())} against {base}"
        labels = [safe(system) for system in group.systems]
    effects = [verdict.effect for verdict in verdicts.values()]
    problems = {effect.problem for effect in effects}
    if len(verdicts) > 1 and len(problems) == 1 and "" not in problems:
        problem = problems.pop()
        more = f" {ORDER_ADVICE}" if problem in ORDER_PROBLEMS else ""
        return "", [f"{start}: undecided; {problem}.{more}"]
    statistics = {effect.statistic for effect in effects}
    made_of = f"ratio of {'/'.join(sorted(statistics))}"
    test = (
        "Welch's test, order not known" if statistics == {"means"} else "the rank test"
    )
    items = [
        f"{labels[i]}: {short(verdict, threshold, with_statistic=len(statistics) > 1)}"
        for i, verdict in verdicts.items()
    ]
    more = advice(verdicts.values())
    heading = f"{start} ({made_of}, its 95 % interval; p of {test}):"
    return heading, items + ([more] if more else [])
