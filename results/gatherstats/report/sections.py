"""Makes the report's section of each run, and of the published tables."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial

from gatherstats.blog.account_words import account_lines
from gatherstats.blog.cells import below_table, table_of
from gatherstats.blog.closing import closing_lines
from gatherstats.blog.cost_model_words import (
    folio_lines,
    gain_table,
    model_lines,
    no_model,
    residual_table,
    unseen_lines,
)
from gatherstats.blog.run_report import (
    PUBLISHED,
    account_items,
    belongs_beside,
    legend,
    problems_of,
)
from gatherstats.blog.whole_pages import whole_page_lines
from gatherstats.crossover.advice_words import advice_text, place, worth_text
from gatherstats.crossover.cells import legend as map_legend
from gatherstats.crossover.saving_words import (
    advice_lines,
    case_text,
    create_table,
    replacing_table,
)
from gatherstats.crossover.saving_words import title_of as saving_title
from gatherstats.data import environment
from gatherstats.data.grouping import is_blog_row
from gatherstats.data.names import shorten
from gatherstats.data.reader import load
from gatherstats.data.rows import PHASES, Run, phases
from gatherstats.drawing.markup import Markup, element
from gatherstats.report.plots import (
    MOST_DOTS,
    MOST_LATENCIES,
    account_plot,
    latencies_of,
    latency_plot,
    phases_plot,
    samples_plot,
    stacked_plot,
)
from gatherstats.report.run_analysis import MOST_MAPS, RunAnalysis, analyse
from gatherstats.report.tables import (
    data_table,
    facts,
    group_table,
    latency_table,
    map_table,
    rows_table,
)
from gatherstats.stats.verdict_words import drift_text

MOST_LISTED = 100
"""Most lines in a list of failed and refused rows."""


def run_section(one: RunAnalysis) -> Markup:
    identity = f"run-{one.number}"
    makers = (
        _environment,
        _tables,
        _accounts,
        _phases,
        _costs,
        _saving,
        *(partial(_map, index=i) for i in range(len(one.shown.maps.maps[:MOST_MAPS]))),
        _latencies,
        _samples,
        _left_out,
    )
    blocks = [
        element("div", *parts, class_="long" if make is _tables else None)
        for make in makers
        if (parts := make(one))
    ]
    return element(
        "section",
        element("h2", one.title, id=identity),
        element("div", *blocks, class_="blocks"),
        *_all_rows(one),
        aria_labelledby=identity,
    )


def _environment(one: RunAnalysis) -> list[Markup]:
    run = one.run
    pairs = environment.describe(run)
    repetitions = sorted({row.times_s.size for row in run.rows if row.has_repetitions})
    counts = " or ".join(map(str, repetitions[:3])) + (
        " ..." if len(repetitions) > 3 else ""
    )
    asked = [
        ("Rows", str(len(run.rows))),
        ("Repetitions", counts or "none in the file"),
    ]
    preset = run.setting("preset")
    if preset:
        asked.insert(0, ("Preset", preset))
    command = run.setting("command")
    if command:
        asked.append(("Command", command))
    asked.append(
        ("Threshold", f"differences up to {one.threshold * 100:g} % count as none")
    )
    return [
        element("h3", "Environment"),
        facts(pairs, "Where it was measured"),
        element("h3", "What was asked"),
        facts(asked, "What was measured"),
    ]


def _tables(one: RunAnalysis) -> list[Markup]:
    parts = []
    for i, (group, verdicts) in enumerate(one.groups):
        if i == 0:
            parts.append(element("h3", "Tables"))
        parts.append(group_table(table_of(group, str), group.title or "Rows"))
        below = below_table(group, verdicts, one.threshold, str)
        if below.heading:
            parts.append(element("p", prose(below.heading)))
        # An account has its own section; the reason for having none stands here.
        reasons = [] if one.accounts.by_name else account_items(group, one.accounts)
        if environment.is_published(one.run):
            reasons = []
        closing = [
            *folio_lines(group, one.measured, one.models, one.run),
            *closing_lines(group, one.run),
        ]
        parts.append(bullets([*below.failures, *below.verdicts, *reasons, *closing]))
    if parts:
        parts.append(element("p", prose(legend(one.run, one.drift)), class_="note"))
    return parts


def _accounts(one: RunAnalysis) -> list[Markup]:
    parts = []
    for i, account in enumerate(list(one.accounts.by_name.values())[:MOST_MAPS]):
        if i == 0:
            parts.append(element("h3", "Where the gain comes from"))
        if len(one.accounts.by_name) > 1:
            parts.append(element("p", str(account.name), class_="note"))
        parts.append(account_plot(account, f"{one.number}-account-{i}"))
        parts.append(bullets(account_lines(account)))
    return parts


def _phases(one: RunAnalysis) -> list[Markup]:
    """Bars for the tables of whole files in which more than the writes takes time."""
    parts: list[Markup] = []
    for i, (group, _) in enumerate(one.groups):
        plot = phases_plot(group, f"{one.number}-phases-{i}")
        if plot is not None:
            parts += [element("h3", "Where the time goes")] * (not parts) + [plot]
    return parts


def _costs(one: RunAnalysis) -> list[Markup]:
    """What a byte, a folio and a call cost, and what whole pages gain."""
    parts: list[Markup] = []
    for model in (model for model in one.models if model.run is one.run):
        parts.append(bullets(model_lines(model)))
        parts.append(group_table(residual_table(model), "Each row, predicted"))
        gains = gain_table(model)
        if gains is not None:
            parts.append(group_table(gains, "What gathering gains"))
    others = [model for model in one.models if model.run is not one.run]
    seen = unseen_lines(others, one.run, one.measured)
    reason = [] if parts or not no_model(one.run) else [no_model(one.run)]
    pages = whole_page_lines(one.run, one.measured, one.threshold, str)
    if pages:
        parts += [element("p", "Buffers of whole pages:"), bullets(pages)]
    if not parts and not seen and not reason:
        return []
    heading = element("h3", "What a byte, a folio and a call cost")
    return [heading, *parts, bullets([*reason, *seen])]


def _saving(one: RunAnalysis) -> list[Markup]:
    """How a file is saved: the ways side by side, and safety beside speed."""
    cases, run = one.saving[:MOST_MAPS], one.run
    parts: list[Markup] = []
    for sync in dict.fromkeys(case.sync for case in cases):
        some = [case for case in cases if case.sync == sync]
        parts.append(
            element("h3", f"How a file is saved: {saving_title(sync).lower()}")
        )
        headers, rows = create_table(some)
        parts.append(data_table("Separate writes/gathered, medians", headers, rows))
        for case in some:
            headers, rows = replacing_table(case, run)
            if rows:
                parts.append(data_table(headers[0], ["Way", *headers[1:]], rows, 2))
            found = [(c, phases(case.row(c).row)) for c in case.creates if case.row(c)]
            if all("open" in times for _, times in found):
                title = f"Where the time goes: {case_text(case)}, {sync}"
                number = f"{one.number}-saving-{cases.index(case)}"
                parts.append(stacked_plot(found, PHASES, title, number))
        parts.append(bullets(advice_lines(some, run)))
    return parts


def _map(one: RunAnalysis, index: int) -> list[Markup]:
    """Make one crossover map; the legend stands under the last."""
    maps = one.shown.maps.maps
    crossover, advice = maps[index], one.shown.advice[index]
    parts = [
        element("h3", f"Which way wins on {place(crossover, one.run)}"),
        element("p", element("strong", prose(advice_text(advice, crossover, one.run)))),
        map_table(crossover),
    ]
    notes = [worth_text(advice)]
    if crossover.missing:
        notes.append(f"Missing: {'; '.join(crossover.missing)}.")
    if index == min(len(maps), MOST_MAPS) - 1:
        notes.append(map_legend(one.shown.maps, one.threshold))
        if len(maps) > MOST_MAPS:
            notes.append(f"{len(maps) - MOST_MAPS} further maps are left out.")
    return parts + [element("p", prose(note), class_="note") for note in notes if note]


def _latencies(one: RunAnalysis) -> list[Markup]:
    rows = [row for row in one.run.rows if latencies_of(row)]
    if not rows:
        return []
    shared, names = shorten([row.name for row in rows])
    parts = [element("h3", "Latencies")]
    if shared:
        parts.append(element("p", f"All rows: {shared}", class_="note"))
    parts += [
        latency_plot(rows, names, f"{one.number}-latency"),
        latency_table(rows, names),
    ]
    if len(rows) > MOST_LATENCIES:
        parts.append(
            element(
                "p", f"The plot has the first {MOST_LATENCIES} of {len(rows)} rows."
            )
        )
    return parts


def _samples(one: RunAnalysis) -> list[Markup]:
    plot = samples_plot(one.measured, f"{one.number}-samples")
    if plot is None:
        return []
    number = sum(row.times_s.size for row in one.run.rows if row.start_s is not None)
    words = "Each dot is a repetition."
    if number > MOST_DOTS:
        words = "The bands hold the middle 50 and 90 % of the repetitions."
    if one.drift is not None:
        words += f" The line is the drift. {drift_text(one.drift)}"
    return [
        element("h3", "Samples over time"),
        plot,
        element("p", prose(words), class_="note"),
    ]


def _all_rows(one: RunAnalysis) -> list[Markup]:
    summary = element("summary", f"All {len(one.run.rows)} rows")
    return [
        element("details", summary, rows_table(one.run.rows, "Medians as measured"))
    ]


def _left_out(one: RunAnalysis) -> list[Markup]:
    lines = problems_of(one.run)
    lines += [f"refused: {reason}" for reason in environment.refused(one.run)]
    if one.left_out:
        lines.append(
            f"{one.left_out} tables of rows that differ in one key: the maps and the list of all rows"
            " have their figures"
        )
    if not lines:
        lines = ["nothing"]
    parts = [element("h3", "Refused, failed or left out"), bullets(lines)]
    return parts + _repeat(one.run)


def _repeat(run: Run) -> list[Markup]:
    command = run.setting("command") or _executable(run)
    if not command:
        return []
    return [
        element("h3", "To repeat it"),
        element("pre", element("code", command)),
    ]


def _executable(run: Run) -> str:
    """Return another suite's command; only its program is known."""
    known = run.context.get("executable")
    return shlex.quote(known) if isinstance(known, str) and known else ""


def published_section(runs: Sequence[Run], threshold: float) -> list[Markup]:
    """Make the section of published tables, if a file has the blog's rows."""
    if not any(is_blog_row(row.name) for run in runs for row in run.rows):
        return []
    blocks = []
    for path in PUBLISHED:
        run = load(path)
        if not belongs_beside(run, runs):
            continue
        one = analyse(run, 0, threshold)
        parts = [element("h3", one.title)]
        notes = [text for heading, text in environment.describe_briefly(run) if text]
        parts += [element("p", note, class_="note") for note in notes]
        for group, verdicts in one.groups:
            parts.append(group_table(table_of(group, str), "Published figures"))
            below = below_table(group, verdicts, threshold, str)
            if below.heading:
                parts.append(element("p", prose(below.heading)))
            parts.append(bullets([*below.failures, *below.verdicts]))
        blocks.append(element("div", *parts))
    heading = element("h2", "Published tables", id="published")
    beside = element("div", *blocks, class_="beside")
    return [element("section", heading, beside, aria_labelledby="published")]


def bullets(lines: Sequence[str]) -> Markup:
    if not lines:
        return Markup("")
    shown = list(lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        shown.append(f"and {len(lines) - MOST_LISTED} more")
    return element("ul", *(element("li", prose(line)) for line in shown))


def prose(text: str) -> str:
    """Keep each per cent sign on the line of its number."""
    return text.replace(" %", "\xa0%")
