"""Puts a results file on one screen: environment, tables, verdicts, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gatherstats.blog.account import Accounts, accounts, serves_an_account
from gatherstats.blog.account_words import account_lines
from gatherstats.blog.benchmarkdotnet import summarise
from gatherstats.blog.cells import below_table, judge_group, table_of
from gatherstats.blog.closing import closing_lines
from gatherstats.blog.interpretation import explain, missing_methods
from gatherstats.data import environment
from gatherstats.data.grouping import Group, group_rows, is_blog_row
from gatherstats.data.rows import Row, Run, device_share, shown_phases
from gatherstats.stats.drift import Drift
from gatherstats.stats.samples import measure
from gatherstats.stats.verdict import Verdict
from gatherstats.stats.verdict_words import drift_text
from gatherstats.text import table
from gatherstats.text.safe import markdown, printable
from gatherstats.text.wrapped import items, wrapped

PUBLISHED = sorted((Path(__file__).parents[2] / "reference").glob("*.json"))
"""The files with published figures."""

# Keys along which any run can be put beside a published table.
_ORDINARY_KEYS = {"strategy", "system", "architecture"}

_NO_ACCOUNT = "where the gain comes from cannot be told"


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
    problems = [printable(problem) for problem in problems_of(run)]
    measured, drift = measure(run.rows)
    samples = {one.row.name.text: one.sample for one in measured}
    explained = accounts(measured)
    published = environment.is_published(run)
    groups = group_rows(rows_of_tables(run.rows))
    # One table's title fits into the lines above it; the published tables are all of one workload.
    titles = [] if published else [_title(group) for group in groups]
    rows = [("Rows", titles[0])] if len(titles) == 1 and titles[0] else []
    lines = [f"## {heading(run)}", *_environment_lines(run, rows)]
    explanations: list[str] = []
    for i, group in enumerate(groups):
        verdicts = judge_group(group, samples, threshold)
        title = titles[i] if len(titles) > 1 else ""
        lines += ["", *([*wrapped(markdown(title)), ""] if title else [])]
        lines += [*_table_lines(group), "", *_verdict_lines(group, verdicts, threshold)]
        told = account_items(group, explained) + closing_lines(group, run)
        lines += items([markdown(item) for item in told])
        explanations += [] if published else explain(group, verdicts)
    for reason in environment.refused(run):
        lines += items([f"not run: {markdown(reason)}"])
    lines += [""] + wrapped(" ".join(explanations)) if explanations else []
    lines += (
        [""] + wrapped(legend(run, drift))
        if any(not r.failed for r in run.rows)
        else []
    )
    shown = sum(not row.failed for row in run.rows)
    return Report(_without_double_blanks(lines), problems, shown)


def rows_of_tables(rows: Sequence[Row]) -> list[Row]:
    """The rows that stand in tables: without those of the blog's loop that only explain others."""
    return [
        row
        for row in rows
        if not (is_blog_row(row.name) and serves_an_account(row, rows))
    ]


def heading(run: Run) -> str:
    """What a file is called: a published table by its source."""
    return markdown(run.setting("source") or Path(run.path).name)


def _varying_keys(rows: list[Row]) -> set[str]:
    keys = {key for row in rows for key in row.name.keys}
    return {k for k in keys if len({row.name.keys.get(k) for row in rows}) > 1}


def problems_of(run: Run) -> list[str]:
    """What is missing, failed or could not be used, a line each; not yet safe to print."""
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


def _environment_lines(run: Run, more: Sequence[tuple[str, str]]) -> list[str]:
    pairs = environment.describe_briefly(run)
    pairs += [(name, printable(text)) for name, text in more]
    indent = max((len(heading) for heading, _ in pairs), default=0) + 2
    lines: list[str] = []
    for heading, text in pairs:
        first = f"{heading}:".ljust(indent)
        lines += wrapped(first + text, "", " " * indent)
    # Indented by four, Markdown shows the block as it is.
    return ["    " + line for line in lines]


def _title(group: Group) -> str:
    """What all rows of a table have in common; not yet safe to print."""
    labels = {row.label for row in group.rows}
    common = labels.pop() if len(labels) == 1 else ""
    return ", ".join(part for part in (common, group.title) if part)


def _table_lines(group: Group) -> list[str]:
    made = table_of(group, markdown)
    return table.render(made.headers, made.rows, made.left)


def _verdict_lines(
    group: Group, verdicts: dict[int, Verdict], threshold: float
) -> list[str]:
    below = below_table(group, verdicts, threshold, markdown)
    lines = items(below.failures)
    lines += wrapped(below.heading) if below.heading else []
    return lines + items(below.verdicts)


def account_items(group: Group, explained: Accounts) -> list[str]:
    """Where the gain of the rows of this table comes from, or why that cannot be told."""
    items: list[str] = []
    strategies = set()
    for row in group.rows:
        name = row.name
        if name.text in explained.made:
            items += account_lines(explained.made[name.text])
        elif name.text in explained.refused:
            items.append(f"{_NO_ACCOUNT}: {explained.refused[name.text]}")
        elif is_blog_row(name) and not row.failed and row.has_repetitions:
            strategies.add(name.keys["strategy"])
    if not items and {"pwrite", "pwritev"} <= strategies:
        items.append(f"{_NO_ACCOUNT}: the rows on /dev/null are missing")
    return items


def legend(run: Run, drift: Drift | None) -> str:
    """What the columns are, and how the verdicts were made."""
    if environment.is_published(run):
        return ""
    parts = [_legend_of_columns(run)]
    if drift is not None:
        parts.append(drift_text(drift))
    return " ".join(parts)


def _legend_of_columns(run: Run) -> str:
    measured = [row for row in run.rows if not row.failed]
    if not all(row.has_repetitions for row in measured):
        return (
            "Rows without repetitions in the file are shown and compared by their aggregates:"
            " mean, StdDev and n as they stand there (Welch's test)."
        )
    shown = rows_of_tables(measured)
    removed = sum(s.removed for s in map(summarise, shown) if s)
    kernel = any(row.counter("kernel_calls") is not None for row in measured)
    parts = {phase: None for g in group_rows(shown) for phase in shown_phases(g.rows)}
    device = any(device_share(row) is not None for row in shown)
    cut = any(row.times_s.size < (row.expected or 0) for row in shown)
    return (
        "Mean, Error (half the 99.9 % interval), StdDev, Median, n: BenchmarkDotNet's, without"
        f" {removed} high outlier{'' if removed == 1 else 's'}."
        + (" Kernel: write calls that it counted." if kernel else "")
        + (
            f" {_words(list(parts))}: their medians, which make up the time."
            if parts
            else ""
        )
        + (" Device: bytes sent to it over bytes written." if device else "")
        + (" n of N: the row was cut short." if cut else "")
        + " Verdicts: of all repetitions, p with Holm's correction."
    )


def _words(names: list[str]) -> str:
    """A list in words, such as "Open, write and close"."""
    return f"{', '.join(names[:-1])} and {names[-1]}".capitalize()


def _without_double_blanks(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept
