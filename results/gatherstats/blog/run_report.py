"""The common part of all reports of a run: title, rows, problems, accounts, legend.

Texts are not yet safe to print.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gatherstats.blog.account import Accounts, serves_an_account
from gatherstats.blog.account_words import account_lines
from gatherstats.blog.benchmarkdotnet import summarise
from gatherstats.blog.interpretation import missing_methods
from gatherstats.data.environment import is_published
from gatherstats.data.grouping import Group, group_rows, is_blog_row
from gatherstats.data.rows import Row, Run, device_share, shown_phases
from gatherstats.stats.drift import Drift
from gatherstats.stats.verdict_words import drift_text

PUBLISHED = sorted((Path(__file__).parents[2] / "reference").glob("*.json"))
"""The files with published figures."""

# Keys along which any run can be put beside a published table.
_ORDINARY_KEYS = {"strategy", "system", "architecture"}

_NO_ACCOUNT = "where the gain comes from cannot be told"


def title_of(run: Run) -> str:
    """Return a file's title: its source, or its name without its folder."""
    return run.setting("source") or Path(run.path).name


def rows_of_tables(rows: Sequence[Row]) -> list[Row]:
    """Return the rows of tables: without those of the blog's loop that only serve an account."""
    return [
        row
        for row in rows
        if not (is_blog_row(row.name) and serves_an_account(row, rows))
    ]


def belongs_beside(published: Run, runs: Sequence[Run]) -> bool:
    """Whether a published table is relevant for the rows of `runs`; it always is without any.

    It is not if its rows differ in a key that none of them has, such as preallocate.
    """
    keys = {key for run in runs for row in run.rows for key in row.name.keys}
    return not runs or _varying_keys(published.rows) - _ORDINARY_KEYS <= keys


def _varying_keys(rows: list[Row]) -> set[str]:
    keys = {key for row in rows for key in row.name.keys}
    return {k for k in keys if len({row.name.keys.get(k) for row in rows}) > 1}


def problems_of(run: Run) -> list[str]:
    """List missing, failed and unusable rows, a line each."""
    failed = [f"{row.name}: failed: {row.error}" for row in run.rows if row.failed]
    return [*run.problems, *failed, *_missing(run)]


def _missing(run: Run) -> list[str]:
    """List the missing rows of the blog preset; none if the user chose among them."""
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


def account_items(group: Group, explained: Accounts) -> list[str]:
    """Say the accounts of a table's rows, or why there are none."""
    items: list[str] = []
    strategies = set()
    for row in group.rows:
        name = row.name
        if name.text in explained.by_name:
            items += account_lines(explained.by_name[name.text])
        elif name.text in explained.refused:
            items.append(f"{_NO_ACCOUNT}: {explained.refused[name.text]}")
        elif is_blog_row(name) and not row.failed and row.has_repetitions:
            strategies.add(name.keys["strategy"])
    if not items and {"pwrite", "pwritev"} <= strategies:
        items.append(f"{_NO_ACCOUNT}: the rows on /dev/null are missing")
    return items


def legend(run: Run, drift: Drift | None) -> str:
    """Explain the columns and the verdicts."""
    if is_published(run):
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
    """Join names to a list in words, such as "Open, write and close"."""
    return f"{', '.join(names[:-1])} and {names[-1]}".capitalize()
