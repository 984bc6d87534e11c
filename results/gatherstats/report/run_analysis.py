"""Analyses a run for the report."""

from __future__ import annotations

from dataclasses import dataclass

from gatherstats.blog.account import Accounts, accounts
from gatherstats.blog.account_words import account_lines
from gatherstats.blog.cells import judge_group
from gatherstats.blog.cost_model import Model, fit_models
from gatherstats.blog.cost_model_words import model_lines
from gatherstats.blog.interpretation import explain
from gatherstats.blog.run_report import rows_of_tables, title_of
from gatherstats.crossover.advice import MapsWithAdvice, with_advice
from gatherstats.crossover.advice_words import advice_text
from gatherstats.crossover.map import make_maps
from gatherstats.crossover.saving import Case, find_cases
from gatherstats.crossover.saving_words import case_advice
from gatherstats.crossover.saving_words import title_of as title_of_sync
from gatherstats.data.grouping import Group, group_rows, is_blog_row
from gatherstats.data.rows import Run
from gatherstats.stats.drift import Drift
from gatherstats.stats.samples import RowSample, measure
from gatherstats.stats.verdict import Verdict
from gatherstats.stats.verdict_words import sentence

MOST_TABLES = 20
"""Most tables of a run. Beyond, only the blog's are shown: maps and the list of rows have the same figures."""


MOST_MAPS = 24
"""Most maps of a run."""


@dataclass(frozen=True)
class RunAnalysis:
    """A run and all that the report says about it.

    groups: its tables, each with the verdicts on its rows; left_out: how many more there would be.
    models: of this run, and once all are analysed, of all runs of the report.
    saving: the files that it saved in several ways.
    title: the file's title; number: the file's place in the report, from 1.
    """

    run: Run
    title: str
    number: int
    threshold: float
    measured: list[RowSample]
    drift: Drift | None
    groups: list[tuple[Group, dict[int, Verdict]]]
    left_out: int
    shown: MapsWithAdvice
    accounts: Accounts
    models: list[Model]
    saving: list[Case]


def analyse(run: Run, number: int, threshold: float) -> RunAnalysis:
    """Compute all that is said about a run; differences up to `threshold` count as none."""
    measured, drift = measure(run.rows)
    samples = {one.row.name.text: one.sample for one in measured}
    groups = group_rows(rows_of_tables(run.rows))
    kept = [g for g in groups if len(groups) <= MOST_TABLES or _is_blogs(g)]
    judged = [(g, judge_group(g, samples, threshold)) for g in kept]
    shown = with_advice(run, make_maps(run, measured, threshold))
    explained = accounts(measured)
    return RunAnalysis(
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
        models=fit_models(run, measured),
        saving=find_cases(measured, threshold),
    )


def verdict_sentences(one: RunAnalysis) -> list[str]:
    """Put a run's verdicts into sentences: the blog's loop, the maps' advice; else all pairs."""
    run = one.run
    sentences = [
        f"{title_of_sync(case.sync)}: {line}"
        for case in one.saving[:MOST_MAPS]
        for line in case_advice(case, run)
    ]
    for group, verdicts in one.groups:
        sentences += explain(group, verdicts)
        for row in group.rows:
            if row.name.text in one.accounts.by_name:
                lines = account_lines(one.accounts.by_name[row.name.text])
                sentences.append("; ".join(lines) + ".")
    for model in (model for model in one.models if model.run is run):
        sentences.append("; ".join(model_lines(model)) + ".")
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


def _is_blogs(group: Group) -> bool:
    return any(is_blog_row(row.name) for row in group.rows)
