"""Makes the report: one HTML file that needs nothing else, with the verdicts first.

What it says comes from the same code as the terminal's text: blog.py, crossover_text.py,
account_text.py.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from gatherstats.data import environment
from gatherstats.blog.account import Accounts, accounts
from gatherstats.blog.account_text import account_lines
from gatherstats.blog.markdown import (
    PUBLISHED,
    account_items,
    belongs_beside,
    legend,
    problems_of,
    rows_of_tables,
)
from gatherstats.crossover.map import make_maps
from gatherstats.crossover.terminal import Shown, prepare
from gatherstats.crossover.terminal import legend as map_legend
from gatherstats.crossover.advice_text import advice_text, place, worth_text
from gatherstats.stats.drift import Drift
from gatherstats.blog.cells import below_table, judge_group, table_of
from gatherstats.data.grouping import Group, group_rows, is_blog_row
from gatherstats.data.reader import load
from gatherstats.report.markup import Markup, element
from gatherstats.blog.interpretation import explain
from gatherstats.data.names import shorten
from gatherstats.report.plots import (
    MOST_DOTS,
    MOST_LATENCIES,
    account_plot,
    has_latencies,
    latency_plot,
    samples_plot,
)
from gatherstats.report.style import style_sheet
from gatherstats.report.tables import (
    facts,
    group_table,
    latency_table,
    map_table,
    rows_table,
)
from gatherstats.data.rows import Run
from gatherstats.stats.samples import Measured, measure
from gatherstats.stats.verdict_words import drift_text, sentence
from gatherstats.stats.verdict import Verdict

MOST_TABLES = 20
"""Of more tables than this none is shown but the blog's: maps and the list of rows say the same."""

MOST_LISTED = 100
"""Lines in a list of what failed or was refused."""

MOST_MAPS = 24
"""Maps of one run."""


@dataclass(frozen=True)
class Examined:
    """A run and all that the report says about it.

    groups: its tables, each with the verdicts on its rows; left_out: how many more there would be.
    title: what the file is called; number: which file of the report it is, from 1.
    """

    run: Run
    title: str
    number: int
    threshold: float
    measured: list[Measured]
    drift: Drift | None
    groups: list[tuple[Group, dict[int, Verdict]]]
    left_out: int
    shown: Shown
    accounts: Accounts


def examine(run: Run, number: int, threshold: float) -> Examined:
    """Compute all that is said about a run; differences up to `threshold` count as none."""
    measured, drift = measure(run.rows)
    samples = {one.row.name.text: one.sample for one in measured}
    groups = group_rows(rows_of_tables(run.rows))
    kept = [g for g in groups if len(groups) <= MOST_TABLES or _is_blogs(g)]
    judged = [(g, judge_group(g, samples, threshold)) for g in kept]
    shown = prepare(run, make_maps(run, threshold))
    explained = accounts(measured)
    return Examined(
        run=run,
        title=title_of(run),
        number=number,
        threshold=threshold,
        measured=measured,
        drift=drift,
        groups=judged,
        left_out=len(groups) - len(kept),
        shown=shown,
        accounts=explained,
    )


def title_of(run: Run) -> str:
    """What a file is called: by its source, or by its name without its folder."""
    return run.setting("source") or Path(run.path).name


def make_page(runs: Sequence[Run], threshold: float) -> str:
    """The whole report on these runs."""
    examined = [examine(run, i, threshold) for i, run in enumerate(runs, 1)]
    titles = Counter(one.title for one in examined)
    examined = [
        replace(one, title=f"{one.title}, file {one.number}")
        if titles[one.title] > 1
        else one
        for one in examined
    ]
    published = _published(runs, threshold)
    body = [
        element("h1", "gatherbench report"),
        _verdicts(examined),
        *(_beside(group) for group in _groups(examined)),
        *published,
    ]
    head = [
        element("meta", charset="utf-8"),
        # Nothing is fetched and nothing runs, whatever a results file holds.
        element(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'",
        ),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", "gatherbench: " + ", ".join(one.title for one in examined)),
        element("style", Markup(style_sheet())),
    ]
    page = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _verdicts(examined: Sequence[Examined]) -> Markup:
    """What all files say, before anything else."""
    blocks = []
    for one in examined:
        link = element("a", one.title, href=f"#run-{one.number}")
        sentences = verdict_sentences(one) or ["This file allows no verdict."]
        blocks.append(element("div", element("h3", link), _list(sentences)))
    return element(
        "section",
        element("h2", "Verdicts", id="verdicts"),
        element("div", *blocks, class_="beside"),
        aria_labelledby="verdicts",
    )


def verdict_sentences(one: Examined) -> list[str]:
    """A run's verdicts in sentences: the blog's loop, the maps' advice; else all pairs."""
    run = one.run
    sentences = []
    for group, verdicts in one.groups:
        sentences += explain(group, verdicts)
        for row in group.rows:
            if row.name.text in one.accounts.made:
                lines = account_lines(one.accounts.made[row.name.text])
                sentences.append("; ".join(lines) + ".")
    for crossover, advice in list(zip(one.shown.maps.maps, one.shown.advice))[
        :MOST_MAPS
    ]:
        sentences.append(advice_text(advice, crossover, run))
    if sentences:
        return sentences
    for group, verdicts in one.groups:
        for i, verdict in verdicts.items():
            names = group.labels[i], group.labels[group.baselines[i]]
            where = " ".join(
                part for part in (group.title, *group.systems[i : i + 1]) if part
            )
            said = sentence(*names, verdict, one.threshold)
            sentences.append(f"{where}: {said}" if where else said)
    return sentences


def _beside(group: Sequence[Examined]) -> Markup:
    sections = [_section(one) for one in group]
    return element("div", *sections, class_="beside" if len(group) > 1 else None)


def _groups(examined: Sequence[Examined]) -> list[list[Examined]]:
    """Files with rows of the same names stand side by side, such as those of two file systems."""
    groups: list[tuple[set[str], list[Examined]]] = []
    for one in examined:
        names = {row.name.text for row in one.run.rows}
        for known, members in groups:
            if known & names:
                known |= names
                members.append(one)
                break
        else:
            groups.append((names, [one]))
    return [members for _, members in groups]


def _section(one: Examined) -> Markup:
    identity = f"run-{one.number}"
    makers = (
        _environment,
        _tables,
        _accounts,
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


def _environment(one: Examined) -> list[Markup]:
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


def _tables(one: Examined) -> list[Markup]:
    parts = []
    for i, (group, verdicts) in enumerate(one.groups):
        if i == 0:
            parts.append(element("h3", "Tables"))
        parts.append(group_table(table_of(group, str), group.title or "Rows"))
        below = below_table(group, verdicts, one.threshold, str)
        if below.heading:
            parts.append(element("p", prose(below.heading)))
        # The account has a section of its own, unless there is only the reason why not.
        reasons = [] if one.accounts.made else account_items(group, one.accounts)
        if environment.is_published(one.run):
            reasons = []
        parts.append(_list([*below.failures, *below.verdicts, *reasons]))
    if parts:
        parts.append(element("p", prose(legend(one.run, one.drift)), class_="note"))
    return parts


def _accounts(one: Examined) -> list[Markup]:
    parts = []
    for i, account in enumerate(list(one.accounts.made.values())[:MOST_MAPS]):
        if i == 0:
            parts.append(element("h3", "Where the gain comes from"))
        if len(one.accounts.made) > 1:
            parts.append(element("p", str(account.name), class_="note"))
        parts.append(account_plot(account, f"{one.number}-account-{i}"))
        parts.append(_list(account_lines(account)))
    return parts


def _map(one: Examined, index: int) -> list[Markup]:
    """One crossover map; the legend stands under the last."""
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


def _latencies(one: Examined) -> list[Markup]:
    rows = [row for row in one.run.rows if has_latencies(row)]
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


def _samples(one: Examined) -> list[Markup]:
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


def _all_rows(one: Examined) -> list[Markup]:
    summary = element("summary", f"All {len(one.run.rows)} rows")
    return [
        element("details", summary, rows_table(one.run.rows, "Medians as measured"))
    ]


def _left_out(one: Examined) -> list[Markup]:
    lines = problems_of(one.run)
    lines += [f"refused: {reason}" for reason in environment.refused(one.run)]
    if one.left_out:
        lines.append(
            f"{one.left_out} tables of rows that differ in one key: the maps and the list of all rows"
            " have their figures"
        )
    if not lines:
        lines = ["nothing"]
    parts = [element("h3", "Refused, failed or left out"), _list(lines)]
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
    """The command of another suite, of which only the program is known."""
    known = run.context.get("executable")
    return shlex.quote(known) if isinstance(known, str) and known else ""


def _published(runs: Sequence[Run], threshold: float) -> list[Markup]:
    """The published tables, where a file has the blog's rows."""
    if not any(is_blog_row(row.name) for run in runs for row in run.rows):
        return []
    blocks = []
    for path in PUBLISHED:
        run = load(path)
        if not belongs_beside(run, runs):
            continue
        one = examine(run, 0, threshold)
        parts = [element("h3", one.title)]
        notes = [text for heading, text in environment.describe_briefly(run) if text]
        parts += [element("p", note, class_="note") for note in notes]
        for group, verdicts in one.groups:
            parts.append(group_table(table_of(group, str), "Published figures"))
            below = below_table(group, verdicts, threshold, str)
            if below.heading:
                parts.append(element("p", prose(below.heading)))
            parts.append(_list([*below.failures, *below.verdicts]))
        blocks.append(element("div", *parts))
    heading = element("h2", "Published tables", id="published")
    beside = element("div", *blocks, class_="beside")
    return [element("section", heading, beside, aria_labelledby="published")]


def _list(lines: Sequence[str]) -> Markup:
    if not lines:
        return Markup("")
    shown = list(lines[:MOST_LISTED])
    if len(lines) > MOST_LISTED:
        shown.append(f"and {len(lines) - MOST_LISTED} more")
    return element("ul", *(element("li", prose(line)) for line in shown))


def prose(text: str) -> str:
    """`text` in which a per cent sign stays on the line of its number."""
    return text.replace(" %", "\xa0%")


def _is_blogs(group: Group) -> bool:
    return any(is_blog_row(row.name) for row in group.rows)
