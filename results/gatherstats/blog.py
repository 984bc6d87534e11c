"""Puts a results file on one screen: environment, tables, verdicts, and what is wrong with it."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gatherstats import environment, table
from gatherstats.drift import Drift, is_in_random_order
from gatherstats.grouping import Group, group_rows, system_of
from gatherstats.meaning import explain, missing_methods
from gatherstats.rows import Row, Run
from gatherstats.samples import measure
from gatherstats.sentences import advice, drift_text, short
from gatherstats.summary import Summary, summarise
from gatherstats.text import markdown, printable
from gatherstats.units import Unit, rate_unit, significant, time_unit
from gatherstats.verdict import Sample, Verdict, judge

COLUMNS = 100
"""Text is wrapped at this width, and the tables of the blog's rows fit into it."""

PUBLISHED = sorted((Path(__file__).parent.parent / "reference").glob("*.json"))
"""The files with published figures."""

# Keys along which any run can be put beside a published table.
_ORDINARY_KEYS = {"strategy", "system", "architecture"}


@dataclass(frozen=True)
class Report:
    """A file's text, and whether everything in it was there and could be shown.

    problems: what is missing or failed, one line each, safe to print.
    """

    lines: list[str]
    problems: list[str]
    shown: int


def belongs_beside(published: Run, runs: Sequence[Run]) -> bool:
    """Whether a published table says something about the rows of `runs`; about none, always.

    A table along a key that no row of them has, such as preallocate, does not.
    """
    keys = {key for run in runs for row in run.rows for key in row.name.keys}
    return not runs or _varying_keys(published.rows) - _ORDINARY_KEYS <= keys


def make_report(run: Run, threshold: float) -> Report:
    """Describe one file; differences up to `threshold` (a share of the time) count as none."""
    problems = [printable(problem) for problem in _problems(run)]
    measured, drift = measure(run.rows)
    samples = {one.row.name.text: one.sample for one in measured}
    published = environment.is_published(run)
    lines = [f"## {_heading(run)}", *_environment_lines(run)]
    explanations: list[str] = []
    for group in group_rows(run.rows):
        verdicts = _judge_group(group, samples, threshold)
        # The published tables are all of one workload.
        lines += ["", *([] if published else _title_lines(group))]
        lines += [*_table_lines(group), "", *_verdict_lines(group, verdicts, threshold)]
        explanations += [] if published else explain(group, verdicts)
    for reason in environment.refused(run):
        lines += _item(f"not run: {markdown(reason)}")
    lines += [""] + _wrapped(" ".join(explanations)) if explanations else []
    lines += (
        [""] + _wrapped(_legend(run, drift))
        if any(not r.failed for r in run.rows)
        else []
    )
    shown = sum(not row.failed for row in run.rows)
    return Report(_without_double_blanks(lines), problems, shown)


def _varying_keys(rows: list[Row]) -> set[str]:
    keys = {key for row in rows for key in row.name.keys}
    return {k for k in keys if len({row.name.keys.get(k) for row in rows}) > 1}


def _heading(run: Run) -> str:
    """A published table is called by its source."""
    return markdown(run.setting("source") or Path(run.path).name)


def _problems(run: Run) -> list[str]:
    failed = [f"{row.name}: failed: {row.error}" for row in run.rows if row.failed]
    return [*run.problems, *failed, *_missing(run)]


def _missing(run: Run) -> list[str]:
    """The rows that the blog preset should have given; nothing if the user chose among them."""
    command = run.setting("command") or ""
    chosen = any(
        option in command for option in ("--strategy", "--benchmark_filter", "--scope")
    )
    if run.setting("preset") != "blog" or chosen:
        return []
    return [
        f"the row {method} is missing from this run"
        for method in missing_methods(run.rows)
    ]


def _judge_group(
    group: Group, samples: dict[str, Sample | None], threshold: float
) -> dict[int, Verdict]:
    in_order = [samples[row.name.text] for row in group.rows]
    pairs = {}
    for i in group.others:
        base, other = in_order[group.baselines[i]], in_order[i]
        if base is not None and other is not None:
            pairs[i] = (base, other)
    families = [system_of(group.rows[i].name) for i in pairs]
    verdicts = judge(list(pairs.values()), threshold, families=families)
    return dict(zip(pairs, verdicts))


def _environment_lines(run: Run) -> list[str]:
    pairs = environment.describe_briefly(run)
    indent = max((len(heading) for heading, _ in pairs), default=0) + 2
    lines: list[str] = []
    for heading, text in pairs:
        first = f"{heading}:".ljust(indent)
        lines += textwrap.wrap(
            first + text,
            COLUMNS,
            subsequent_indent=" " * indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    # Indented by four, Markdown shows the block as it is.
    return ["    " + line for line in lines]


def _title_lines(group: Group) -> list[str]:
    labels = {row.label for row in group.rows}
    common = labels.pop() if len(labels) == 1 else ""
    title = ", ".join(part for part in (common, group.title) if part)
    return [*_wrapped(markdown(title)), ""] if title else []


def _table_lines(group: Group) -> list[str]:
    summaries = [summarise(row) for row in group.rows]
    bases = [None if b is None else summaries[b] for b in group.baselines]
    times = [s.mean_s if s.mean_s is not None else s.median_s for s in summaries if s]
    unit = time_unit(t for t in times if t is not None)
    rates = [
        None if row.failed else row.counter("bytes_per_second") for row in group.rows
    ]
    rate = rate_unit(r for r in rates if r is not None)
    systems = [group.system_key.capitalize()] if group.systems else []
    # The unit stands with the first column of times that has anything in it.
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
    )
    columns = [
        *_system_columns(group),
        [markdown(label) for label in group.labels],
        *_time_columns(summaries, unit),
        _ratio_column(summaries, bases),
        ["" if s is None or s.n is None else str(s.n) for s in summaries],
        [_count_text(row, "calls") for row in group.rows],
        [_count_text(row, "kernel_calls") for row in group.rows],
        rate.column(rates),
    ]
    return table.render(headers, list(zip(*columns)), left=1 + len(systems))


def _system_columns(group: Group) -> list[list[str]]:
    """One column or none. A row's label describes its system better than the name can."""
    cells = [row.label or name for row, name in zip(group.rows, group.systems)]
    return [[markdown(cell) for cell in cells]] if group.systems else []


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
    """Ratios of means, or of medians in a table without any mean."""
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


def _count_text(row: Row, counter: str) -> str:
    """A counter as a whole number where it is one; both ends where the repetitions differ."""
    values = row.counters.get(counter)
    if values is None or values.size == 0:
        return ""
    low, high = (f"{v:.0f}" if v == round(v) else significant(v) for v in _ends(values))
    return low if low == high else f"{low}..{high}"


def _ends(values: np.ndarray) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _verdict_lines(
    group: Group, verdicts: dict[int, Verdict], threshold: float
) -> list[str]:
    lines: list[str] = []
    for label, row in zip(_labels(group), group.rows):
        if row.failed:
            lines += _item(f"{label}: failed: {markdown(row.error or '')}")
    for i in group.others:
        base = group.baselines[i]
        if group.rows[base].failed and not group.rows[i].failed:
            labels = _labels(group)
            lines += _item(
                f"{labels[i]} against {labels[base]}: not compared, the latter failed."
            )
    if verdicts:
        lines += _judged_lines(group, verdicts, threshold)
    return lines


def _labels(group: Group) -> list[str]:
    """What each row is called in a sentence."""
    labels = [markdown(label) for label in group.labels]
    systems = [markdown(system) for system in group.systems]
    return [f"{s}, {label}" for s, label in zip(systems, labels)] or labels


def _judged_lines(
    group: Group, verdicts: dict[int, Verdict], threshold: float
) -> list[str]:
    labels = _labels(group)
    base = markdown(group.labels[group.baselines[min(verdicts)]])
    start = f"Against {base}"
    others = {group.labels[i] for i in verdicts}
    if group.systems and len(others) == 1:
        start = f"{markdown(others.pop())} against {base}"
        labels = [markdown(system) for system in group.systems]
    effects = [verdict.effect for verdict in verdicts.values()]
    problems = {effect.problem for effect in effects}
    if len(verdicts) > 1 and len(problems) == 1 and "" not in problems:
        return _item(f"{start}: undecided; {problems.pop()}.")
    statistics = {effect.statistic for effect in effects}
    made_of = f"ratio of {'/'.join(sorted(statistics))}"
    test = "Welch's test" if statistics == {"means"} else "the rank test"
    lines = _wrapped(f"{start} ({made_of}, its 95 % interval; p of {test}):")
    for i, verdict in verdicts.items():
        text = short(verdict, threshold, with_statistic=len(statistics) > 1)
        lines += _item(f"{labels[i]}: {text}")
    more = advice(verdicts.values())
    return lines + (_item(more) if more else [])


def _legend(run: Run, drift: Drift | None) -> str:
    if environment.is_published(run):
        return ""
    parts = [_legend_of_columns(run)]
    if drift is not None:
        parts.append(drift_text(drift))
    if not is_in_random_order(run.rows):
        parts.append(
            "The rows did not run in random order: a difference of a few per cent may come from"
            " what ran before."
        )
    return " ".join(parts)


def _legend_of_columns(run: Run) -> str:
    measured = [row for row in run.rows if not row.failed]
    if not all(row.has_repetitions for row in measured):
        return (
            "Rows without repetitions in the file are shown and compared by their aggregates:"
            " mean, StdDev and n as they stand there (Welch's test)."
        )
    removed = sum(s.removed for s in map(summarise, measured) if s)
    kernel = any(row.counter("kernel_calls") is not None for row in measured)
    return (
        "Mean, Error (half the 99.9 % interval), StdDev, Median, n: BenchmarkDotNet's, without"
        f" {removed} high outliers."
        + (" Kernel: write calls that it counted." if kernel else "")
        + " Verdicts: of all repetitions, p with Holm's correction."
    )


def _item(text: str) -> list[str]:
    return _wrapped(text, "- ", "  ")


def _wrapped(text: str, first: str = "", later: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        COLUMNS,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _without_double_blanks(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept
