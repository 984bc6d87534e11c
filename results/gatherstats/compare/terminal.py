"""Shows a comparison to people, on a terminal or in Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from gatherstats.compare.comparison import CORRECTIONS, Comparison, Pair
from gatherstats.data.environment import (
    SPOILED,
    UNDER_LOAD,
    describe_briefly,
    is_published,
    knows_load,
)
from gatherstats.data.names import shorten
from gatherstats.data.rows import Run
from gatherstats.process.output import screen_width
from gatherstats.stats.effect import LEVEL
from gatherstats.stats.verdict import Outcome
from gatherstats.stats.verdict_words import (
    advice,
    drift_text,
    p_digits,
    verdict_text,
)
from gatherstats.text.safe import markdown, printable, width
from gatherstats.text.table import render, render_plain
from gatherstats.text.units import Unit, ratio_text, ratio_texts, time_unit
from gatherstats.text.wrapped import COLUMNS, wrapped

SHORTEST = 20
"""Shortest length of a cut name."""

MOST_LISTED = 20
"""Most lines of one kind."""


@dataclass(frozen=True)
class _Style:
    """One format: functions for safe text, tables and the start of a line."""

    safe: Callable[[str], str]
    layout: Callable[..., list[str]]
    bullet: str


def terminal(comparison: Comparison) -> list[str]:
    """Lay out the comparison as plain text."""
    return _lines(comparison, _Style(printable, _render_fitting, ""))


def as_markdown(comparison: Comparison) -> list[str]:
    """Lay out the comparison in GitHub's Markdown."""
    return _lines(comparison, _Style(markdown, render, "- "))


def _lines(comparison: Comparison, style: _Style) -> list[str]:
    blocks = [
        _listed("FORCED, this comparison is not sound:", comparison.forced, style),
        _items(_environment(comparison), style),
        *(_table(comparison, style) if comparison.pairs else []),
        _listed("No test:", _no_tests(comparison), style),
        _items(_below(comparison), style),
        _listed("Incomplete:", _problems(comparison), style),
    ]
    lines: list[str] = []
    for block in blocks:
        if block:
            lines += [""] * bool(lines) + block
    return lines


def _environment(comparison: Comparison) -> list[str]:
    """Describe the environment of both sides; facts that differ, for each."""
    if comparison.key:
        described = describe_briefly(*comparison.base_runs)
        texts = [f"{heading}: {text}" for heading, text in described]
        return [comparison.base_runs[0].path, *texts]
    old = dict(describe_briefly(*comparison.base_runs))
    new = dict(describe_briefly(*comparison.other_runs))
    texts = [
        f"Old: {_paths(comparison.base_runs)}",
        f"New: {_paths(comparison.other_runs)}",
    ]
    for heading in {**old, **new}:
        if old.get(heading) == new.get(heading):
            texts.append(f"{heading}: {old[heading]}")
        else:
            for side, known, runs in (
                ("old", old, comparison.base_runs),
                ("new", new, comparison.other_runs),
            ):
                text = known.get(heading) or _absent(heading, runs)
                texts.append(f"{heading}, {side}: {text}")
    return texts


def _absent(heading: str, runs: list[Run]) -> str:
    """Describe a side that has no fact under this heading."""
    if heading == UNDER_LOAD and knows_load(*runs):
        return "no"
    return "not by anything known" if heading == SPOILED else "not known"


def _paths(runs: list[Run]) -> str:
    if len(runs) == 1:
        return runs[0].path
    return f"{len(runs)} launches, {runs[0].path} to {runs[-1].path}"


def _table(comparison: Comparison, style: _Style) -> list[list[str]]:
    """Lay out the rows' common part, and the table."""
    pairs = comparison.pairs
    shared, names = shorten([pair.other.row.name for pair in pairs])
    above = [f"All rows: {shared}"] if shared else []
    bases = [_base_value(pair, comparison.key) for pair in pairs]
    if comparison.key and len(set(bases)) == 1:
        above.append(f"Base: {bases[0]}")
    headers = ["Row", "Base", "This"] if comparison.key else ["Row", "Old", "New"]
    times = [s for p in pairs for s in (p.base.centre_s, p.other.centre_s) if s]
    unit = time_unit(times)
    places = unit.places(times)
    headers[1] += f" [{unit.name}]"
    rows = [
        [style.safe(name), *_cells(pair, unit, places)]
        for name, pair in zip(names, pairs)
    ]
    if len(set(bases)) > 1:
        headers.insert(1, "Against")
        for row, base in zip(rows, bases):
            row.insert(1, style.safe(base))
    headers += ["Ratio", f"{LEVEL * 100:.0f} % interval", "p", "n", "Verdict"]
    lines = style.layout(headers, rows, len(headers) - 7)
    return [_items(above, style), lines]


def _base_value(pair: Pair, key: str) -> str:
    return f"{key}:{pair.base.row.name.value(key) or 'none'}" if key else ""


def _cells(pair: Pair, unit: Unit, places: int) -> list[str]:
    effect = pair.verdict.effect
    texts = ratio_texts(
        effect.ratio, *([effect.low, effect.high] if math.isfinite(effect.low) else [])
    )
    sizes = {str(one.n) for one in (pair.base, pair.other) if one.n is not None}
    return [
        *unit.column([pair.base.centre_s, pair.other.centre_s], places),
        texts[0],
        " to ".join(texts[1:]),
        p_digits(pair.verdict.p_corrected),
        "/".join(sorted(sizes, key=int)),
        verdict_text(pair.verdict),
    ]


# "strategy:" in "strategy:pwritev", whose value says enough; numbers, yes and no need their keys.
_KEY_OF_A_WORD = re.compile(r"(^|/)[a-z_]+:(?!(?:yes|no)(?:/|$))(?=[a-z])")


def _render_fitting(headers: list[str], rows: list[list[str]], left: int) -> list[str]:
    """Lay out a plain table that fits the screen.

    If it is too wide, values in names lose their keys; if that is not enough, names are cut in the
    middle, or get a line of their own.
    """
    columns = screen_width()
    lines = render_plain(headers, rows, left)
    if max(map(width, lines)) > columns:
        rows = [[_KEY_OF_A_WORD.sub(r"\1", row[0]), *row[1:]] for row in rows]
        lines = render_plain(headers, rows, left)
    excess = max(map(width, lines)) - columns
    if excess <= 0:
        return lines
    room = max(width(row[0]) for row in rows) - excess
    if room < SHORTEST:
        return _names_above(headers, rows, left)
    cut = [[_cut(row[0], room), *row[1:]] for row in rows]
    if len({row[0] for row in cut}) < len({row[0] for row in rows}):
        return _names_above(headers, rows, left)  # what tells rows apart was cut away
    return render_plain(headers, cut, left)


def _names_above(headers: list[str], rows: list[list[str]], left: int) -> list[str]:
    """Lay out the table with each row's name on a line above its figures."""
    heading, rule, *figures = render_plain(headers[left:], [r[left:] for r in rows], 0)
    names = [" against ".join(row[:left]) for row in rows]
    lines = [line for pair in zip(names, figures) for line in pair]
    return [heading, rule, *lines]


def _cut(name: str, columns: int) -> str:
    if width(name) <= columns:
        return name
    end = (columns - 3) * 2 // 3
    return f"{name[: columns - 3 - end]}...{name[-end:]}"


def _no_tests(comparison: Comparison) -> list[str]:
    by_problem: dict[str, list[Pair]] = {}
    for pair in comparison.pairs:
        if pair.verdict.effect.problem:
            by_problem.setdefault(pair.verdict.effect.problem, []).append(pair)
    return [
        f"{found[0].other.row.name if len(found) == 1 else f'{len(found)} pairs'}: {problem}"
        for problem, found in by_problem.items()
    ]


def _below(comparison: Comparison) -> list[str]:
    notes = [_summary(comparison)] if comparison.pairs else []
    notes += _reach(comparison)
    more = advice(
        (p.verdict for p in comparison.pairs if p.verdict.attainable), comparison.unit
    )
    if more:
        notes.append(more[0].upper() + more[1:] + ".")
    return (
        notes
        + [drift_text(drift) for drift in comparison.drifts.values()]
        + comparison.notes
    )


def _summary(comparison: Comparison) -> str:
    counts = comparison.counts
    words = {Outcome.SAME: "the same"}
    parts = [
        f"{n} {words.get(outcome, outcome.value)}" for outcome, n in counts.items() if n
    ]
    pairs = len(comparison.pairs)
    tested = any(not pair.verdict.effect.problem for pair in comparison.pairs)
    text = f"{pairs} {'pair' if pairs == 1 else 'pairs'}: {', '.join(parts)}."
    mean = comparison.geometric_mean
    if mean is not None:
        text += f" Geometric mean of the ratios: {ratio_text(mean)}."
    if pairs > 1 and tested and not is_published(comparison.base_runs[0]):
        method = CORRECTIONS[comparison.settings.correction].title
        text += f" p is corrected for {pairs} pairs by {method}."
    return text


def _reach(comparison: Comparison) -> list[str]:
    """Say so if the values are too few, or the pairs too many, for any decision."""
    out = [
        pair.verdict
        for pair in comparison.pairs
        if not pair.verdict.attainable and not pair.verdict.effect.problem
    ]
    if not out:
        return []
    worst = max(out, key=lambda verdict: verdict.best_p_corrected)
    return [
        f"{len(out)} {'pair is' if len(out) == 1 else 'pairs are'} out of reach: with"
        f" {worst.effect.n} {comparison.unit} and {len(comparison.pairs)} pairs the corrected p"
        f" is {worst.best_p_corrected:.2g} at best; it takes at least {worst.needed} of each."
    ]


def _problems(comparison: Comparison) -> list[str]:
    if comparison.is_complete:
        return []
    problems = comparison.problems or _undecidable(comparison)
    return [*problems, *([] if comparison.pairs else ["nothing was compared"])]


def _undecidable(comparison: Comparison) -> list[str]:
    """Say why compared pairs allow no decision."""
    untested = sum(bool(p.verdict.effect.problem) for p in comparison.pairs)
    too_few = any(
        not p.verdict.effect.problem for p in comparison.pairs if not p.is_decidable
    )
    found = (
        [f"{untested} of {len(comparison.pairs)} pairs could not be tested"]
        if untested
        else []
    )
    return found + ["too few values to decide"] * too_few


def _items(texts: list[str], style: _Style) -> list[str]:
    """Wrap each text into lines of its own."""
    columns = min(COLUMNS, screen_width())
    return [
        line
        for text in texts
        for line in wrapped(style.safe(text), style.bullet, "  ", columns)
    ]


def _listed(heading: str, texts: list[str], style: _Style) -> list[str]:
    """Lay out a heading and a list under it, cut after MOST_LISTED."""
    shown = texts[:MOST_LISTED]
    if len(texts) > MOST_LISTED:
        rest = f"and {len(texts) - MOST_LISTED} more (--format=json lists all)"
        shown = [*shown, rest]
    listed = replace(style, bullet="- ")
    return [heading, *_items(shown, listed)] if texts else []
