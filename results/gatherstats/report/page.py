"""Makes the report: one self-contained HTML file, with the verdicts first.

What it says comes from the same code as the terminal's text: blog/run_report.py, the modules named
_words, and crossover/cells.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from gatherstats.data.rows import Run
from gatherstats.drawing.markup import Markup, element
from gatherstats.report.run_analysis import RunAnalysis, analyse, verdict_sentences
from gatherstats.report.sections import bullets, published_section, run_section
from gatherstats.report.style import style_sheet


def make_page(runs: Sequence[Run], threshold: float) -> str:
    """The whole report on these runs."""
    analysed = [analyse(run, i, threshold) for i, run in enumerate(runs, 1)]
    models = [model for one in analysed for model in one.models]
    titles = Counter(one.title for one in analysed)
    analysed = [
        replace(
            one,
            title=f"{one.title}, file {one.number}"
            if titles[one.title] > 1
            else one.title,
            models=models,
        )
        for one in analysed
    ]
    published = published_section(runs, threshold)
    body = [
        element("h1", "gatherbench report"),
        _verdicts(analysed),
        *(_beside(group) for group in _groups(analysed)),
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
        element("title", "gatherbench: " + ", ".join(one.title for one in analysed)),
        element("style", Markup(style_sheet())),
    ]
    page = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _verdicts(analysed: Sequence[RunAnalysis]) -> Markup:
    """Make the section of all files' verdicts, the first of the page."""
    blocks = []
    for one in analysed:
        link = element("a", one.title, href=f"#run-{one.number}")
        sentences = verdict_sentences(one) or ["This file allows no verdict."]
        blocks.append(element("div", element("h3", link), bullets(sentences)))
    return element(
        "section",
        element("h2", "Verdicts", id="verdicts"),
        element("div", *blocks, class_="beside"),
        aria_labelledby="verdicts",
    )


def _beside(group: Sequence[RunAnalysis]) -> Markup:
    sections = [run_section(one) for one in group]
    return element("div", *sections, class_="beside" if len(group) > 1 else None)


def _groups(analysed: Sequence[RunAnalysis]) -> list[list[RunAnalysis]]:
    """Group files with rows of the same names, such as those of two file systems: they stand side by side."""
    groups: list[tuple[set[str], list[RunAnalysis]]] = []
    for one in analysed:
        names = {row.name.text for row in one.run.rows}
        for known, members in groups:
            if known & names:
                known |= names
                members.append(one)
                break
        else:
            groups.append((names, [one]))
    return [members for _, members in groups]
