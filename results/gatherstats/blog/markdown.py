"""Shows a results file as Markdown on one screen: environment, tables, verdicts, problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gatherstats.blog.account import accounts
from gatherstats.blog.cells import below_table, judge_group, table_of
from gatherstats.blog.closing import closing_lines
from gatherstats.blog.cost_model import Model
from gatherstats.blog.cost_model_words import (
    folio_lines,
    gain_table,
    model_lines,
    no_model,
    residual_table,
    unseen_lines,
)
from gatherstats.blog.interpretation import explain
from gatherstats.blog.run_report import (
    account_items,
    legend,
    problems_of,
    rows_of_tables,
    title_of,
)
from gatherstats.blog.whole_pages import whole_page_lines
from gatherstats.data import environment
from gatherstats.data.grouping import Group, group_rows
from gatherstats.data.rows import Run
from gatherstats.stats.samples import RowSample, measure
from gatherstats.stats.verdict import Verdict
from gatherstats.text import table
from gatherstats.text.safe import markdown, printable
from gatherstats.text.wrapped import items, wrapped


@dataclass(frozen=True)
class Report:
    """A file's text, and whether it is complete.

    problems: missing and failed rows, one line each, safe to print.
    """

    lines: list[str]
    problems: list[str]
    shown: int


def make_report(run: Run, threshold: float, models: Sequence[Model] = ()) -> Report:
    """Describe one file; differences up to `threshold` (a share of the time) count as none.

    models: what the costs of calls and folios are, by the files that are shown together.
    """
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
        lines_below = [
            *account_items(group, explained),
            *folio_lines(group, measured, models, run),
            *closing_lines(group, run),
        ]
        lines += items([markdown(item) for item in lines_below])
        explanations += [] if published else explain(group, verdicts)
    lines += _model_lines(run, measured, models, threshold)
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


def _model_lines(
    run: Run, measured: Sequence[RowSample], models: Sequence[Model], threshold: float
) -> list[str]:
    """What a byte, a folio and a call cost, by this run's own rows; how it does on other runs' rows."""
    lines: list[str] = []
    for model in (model for model in models if model.run is run):
        lines += ["", "What a byte, a folio and a call cost:"]
        lines += items([markdown(line) for line in model_lines(model)])
        for cells in (residual_table(model), gain_table(model)):
            if cells is not None:
                lines += ["", *table.render(cells.headers, cells.rows, cells.left)]
    if not lines and no_model(run):
        lines += ["", *items([markdown(no_model(run))])]
    pages = whole_page_lines(run, measured, threshold, markdown)
    if pages:
        lines += ["", "Buffers of whole pages (ratio of medians, its 95 % interval):"]
        lines += items(pages)
    others = [model for model in models if model.run is not run]
    for line in unseen_lines(others, run, measured):
        lines += ["", *wrapped(markdown(line))]
    return lines


def heading(run: Run) -> str:
    """Return the file's title as Markdown."""
    return markdown(title_of(run))


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
    """Return the common part of a table's rows; not yet safe to print."""
    labels = {row.label for row in group.rows}
    common = labels.pop() if len(labels) == 1 else ""
    return ", ".join(part for part in (common, group.title) if part)


def _table_lines(group: Group) -> list[str]:
    cells = table_of(group, markdown)
    return table.render(cells.headers, cells.rows, cells.left)


def _verdict_lines(
    group: Group, verdicts: dict[int, Verdict], threshold: float
) -> list[str]:
    below = below_table(group, verdicts, threshold, markdown)
    lines = items(below.failures)
    lines += wrapped(below.heading) if below.heading else []
    return lines + items(below.verdicts)


def _without_double_blanks(lines: list[str]) -> list[str]:
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return kept
