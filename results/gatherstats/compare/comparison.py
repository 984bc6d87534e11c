"""Compares two runs, two sets of launches, or the rows of one run; reports what is missing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from gatherstats.compare.matching import Match, Matching, match_by_key, match_by_name
from gatherstats.data.comparable import (
    allowed,
    differing_facts,
    half_known,
    obstacles,
)
from gatherstats.data.environment import is_published
from gatherstats.data.grouping import system_of
from gatherstats.data.rows import Run
from gatherstats.stats.drift import Drift
from gatherstats.stats.order import ORDER_PROBLEMS, ORDER_ADVICE
from gatherstats.stats.samples import (
    RowSample,
    measure,
    measure_alone,
    measure_launches,
)
from gatherstats.stats.verdict import (
    THRESHOLD,
    Correction,
    Outcome,
    Verdict,
    benjamini_hochberg,
    holm,
    judge,
)


class Method(NamedTuple):
    """A correction for many pairs, and its name in a sentence."""

    title: str
    correct: Correction


CORRECTIONS = {
    "holm": Method("Holm's method", holm),
    "bh": Method("Benjamini and Hochberg's method", benjamini_hochberg),
}
"""The corrections by their names on the command line."""

ONE_LAUNCH = "one launch of each, and launches of one program differ too"
"""Why one file against one gets no verdicts, only figures."""

PASSED, SLOWER, INCOMPLETE = 0, 1, 3
"""Exit statuses: nothing is slower; something is; the comparison is incomplete. 2 is bad usage."""


@dataclass(frozen=True)
class Settings:
    """How to compare.

    threshold: differences up to this share of the time count as none.
    correction: a name from CORRECTIONS.
    across: aspects from comparable.ASPECTS that may differ: they are the question.
    force: compare despite all obstacles, and say so.
    fail_above: a row whose whole interval lies above this ratio makes the exit status 1.
    """

    threshold: float = THRESHOLD
    correction: str = "holm"
    across: frozenset[str] = frozenset()
    force: bool = False
    fail_above: float = 1.0


@dataclass(frozen=True)
class Pair:
    """Two compared rows."""

    base: RowSample
    other: RowSample
    verdict: Verdict

    @property
    def is_decidable(self) -> bool:
        """Whether its samples could have given a decision."""
        return not self.verdict.effect.problem and self.verdict.attainable


@dataclass
class Comparison:
    """The result. Texts are as in the files, not yet safe to print.

    key: the key along which rows of one run were compared; "" for rows of the same name.
    unit: the samples' values, "repetitions" or "launches".
    problems: missing, failed and refused rows, a line each; any makes the comparison incomplete.
    forced: obstacles that were overridden.
    notes: further facts for the reader.
    drifts: the drift removed, by the run it was removed from.
    """

    settings: Settings
    base_runs: list[Run]
    other_runs: list[Run]
    key: str = ""
    unit: str = "repetitions"
    pairs: list[Pair] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    forced: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    drifts: dict[str, Drift] = field(default_factory=dict)

    @property
    def counts(self) -> dict[Outcome, int]:
        """The number of pairs with each verdict."""
        found = Counter(pair.verdict.outcome for pair in self.pairs)
        return {outcome: found[outcome] for outcome in Outcome}

    @property
    def geometric_mean(self) -> float | None:
        """The geometric mean of the pairs' ratios, None without ratios."""
        ratios = [p.verdict.effect.ratio for p in self.pairs]
        logs = [math.log(r) for r in ratios if math.isfinite(r) and r > 0]
        return math.exp(float(np.mean(logs))) if logs else None

    @property
    def slower(self) -> list[Pair]:
        """The pairs that are judged slower and whose whole interval lies above `fail_above`."""
        return [
            pair
            for pair in self.pairs
            if pair.verdict.outcome is Outcome.SLOWER
            and pair.verdict.effect.low > self.settings.fail_above
        ]

    @property
    def is_complete(self) -> bool:
        """Whether all rows of the files were compared, with enough repetitions for a decision."""
        decidable = all(pair.is_decidable for pair in self.pairs)
        return bool(self.pairs) and decidable and not self.problems

    @property
    def exit_status(self) -> int:
        """PASSED, SLOWER or INCOMPLETE; a slower row outweighs a missing one."""
        if self.slower:
            return SLOWER
        return PASSED if self.is_complete else INCOMPLETE


def refusals(old: list[Run], new: list[Run], settings: Settings) -> list[str]:
    """List the obstacles to comparing these runs, a line each; none if they may be compared."""
    if settings.force:
        return []
    return [
        f"not comparable, {found.reason}"
        + (
            ""
            if found.within
            else f" (--across={found.aspect} if that is the question)"
        )
        for found in obstacles(old, new)
        if found.within or found.aspect not in allowed(settings.across)
    ]


def given_twice(runs: Iterable[Run]) -> tuple[Run, Run] | None:
    """Find two runs that are the same, perhaps under two names; None if all differ."""
    known: dict[tuple, Run] = {}
    for run in runs:
        rows = (
            (r.name.text, r.times_s.tobytes(), repr(r.aggregates)) for r in run.rows
        )
        content = (run.context.get("date"), *rows)
        if content in known:
            return known[content], run
        known[content] = run
    return None


def compare_runs(
    old: list[Run],
    new: list[Run],
    settings: Settings,
    turns: Sequence[int] | None = None,
) -> Comparison:
    """Compare rows of the same name; several files on a side are launches, each one value.

    One file against one gives figures and no verdict. turns: the turn of each launch, the same on
    both sides; None to derive it from the launches' dates.
    """
    result = Comparison(settings, old, new)
    _note_obstacles(result)
    result.problems += refusals(old, new, settings)
    if result.problems:
        return result
    if len(old) == len(new) == 1:
        if given_twice([*old, *new]):
            result.notes.append(f"{new[0].path} is the same run as {old[0].path}.")
        result.notes.append(
            "These are the figures of two runs and no verdict on two programs: what changes from"
            " launch to launch is in them. To decide: alternate.py 'PROGRAM A' 'PROGRAM B'."
        )
        sides = [_measure_one(result, run[0], side) for run, side in _sides(old, new)]
        _judge(result, match_by_name(*sides), ONE_LAUNCH)
        return result
    result.unit = "launches"
    sides = [
        _measure_launches(result, runs, side, turns) for runs, side in _sides(old, new)
    ]
    _judge(result, match_by_name(*sides))
    if any(pair.verdict.effect.problem for pair in result.pairs):
        result.notes.append(
            "Launches are compared where the two sides took turns, four times at least. To decide:"
            " alternate.py 'PROGRAM A' 'PROGRAM B'."
        )
    return result


def compare_within(
    run: Run, key: str, baseline: str | None, settings: Settings
) -> Comparison:
    """Compare the rows of one run along one key of their names.

    Raises matching.UserError when there is nothing along that key.
    """
    result = Comparison(settings, [run], [run], key=key)
    measured, drift = measure(run.rows)
    if drift is not None:
        result.drifts[""] = drift
    _note_problems(result, run, measured, "")
    _judge(result, match_by_key(measured, key, baseline))
    if any(p.verdict.effect.problem in ORDER_PROBLEMS for p in result.pairs):
        result.notes.append(ORDER_ADVICE)
    return result


def _sides(old: list[Run], new: list[Run]) -> list[tuple[list[Run], str]]:
    return [(old, "old"), (new, "new")]


def _note_obstacles(result: Comparison) -> None:
    """Record the obstacles that were overridden."""
    sides = result.base_runs, result.other_runs
    for found in obstacles(*sides):
        if not found.within and found.aspect in allowed(result.settings.across):
            result.notes.append(f"Compared across {found.reason}.")
        elif result.settings.force:
            result.forced.append(found.reason)
    differing = differing_facts(*sides)
    if differing:
        result.notes.append(f"What else differs: {'; '.join(differing)}.")
    result.notes += half_known(*sides)


def _measure_one(result: Comparison, run: Run, side: str) -> list[RowSample]:
    measured = measure_alone(run.rows)
    _note_problems(result, run, measured, side)
    return measured


def _measure_launches(
    result: Comparison, runs: list[Run], side: str, turns: Sequence[int] | None
) -> list[RowSample]:
    measured, problems = measure_launches(runs, turns)
    for run in runs:
        result.problems += [_on(side, f"{run.path}: {p}") for p in run.problems]
    result.problems += [_on(side, problem) for problem in problems]
    result.problems += _failed(measured, side)
    return measured


def _note_problems(
    result: Comparison, run: Run, measured: list[RowSample], side: str
) -> None:
    result.problems += [_on(side, problem) for problem in run.problems]
    result.problems += _failed(measured, side)


def _failed(measured: Iterable[RowSample], side: str) -> list[str]:
    return [
        _on(side, f"{one.row.name}: failed: {one.row.error}")
        for one in measured
        if one.row.failed
    ]


def _on(side: str, text: str) -> str:
    return f"{side}: {text}" if side else text


def _judge(result: Comparison, matching: Matching, undecided: str = "") -> None:
    """Fill in the pairs, and record rows of one side only.

    undecided: why no pair may have a verdict, "" if they may.
    """
    result.problems += _one_sided(result, matching)
    matches = _allowed(result, matching.matches)
    settings = result.settings
    verdicts = judge(
        [(match.base.sample, match.other.sample) for match in matches],
        settings.threshold,
        CORRECTIONS[settings.correction].correct,
        _tables(result, matches),
    )
    if undecided:
        verdicts = [_without_word(verdict, undecided) for verdict in verdicts]
    result.pairs = [Pair(m.base, m.other, v) for m, v in zip(matches, verdicts)]
    summaries = sum(p.verdict.effect.statistic == "means" for p in result.pairs)
    if summaries:
        result.notes.append(
            f"{summaries} of {len(result.pairs)} pairs are compared by their aggregates: mean,"
            " standard deviation and n as they stand in the file (Welch's test; order not known)."
        )


def _without_word(verdict: Verdict, reason: str) -> Verdict:
    """Make a verdict undecided for this reason; one without an interval keeps its own reason."""
    effect = verdict.effect
    problem = reason if math.isfinite(effect.low) else effect.problem
    effect = replace(effect, p=math.nan, problem=problem)
    return Verdict(Outcome.UNDECIDED, effect)


def _tables(result: Comparison, matches: list[Match]) -> list[Hashable] | None:
    """Name each pair's family for the correction: one for all pairs, but one for each published table."""
    if not is_published(result.base_runs[0]):
        return None
    return [system_of(match.other.row.name) for match in matches]


def _one_sided(result: Comparison, matching: Matching) -> list[str]:
    if not result.key:
        lines = [f"{name}: missing in new" for name in matching.only_base]
        return lines + [f"{name}: missing in old" for name in matching.only_other]
    if matching.only_base:
        result.notes.append(
            f"{len(matching.only_base)} rows have no partner that differs in {result.key} alone."
        )
    return [f"{name}: the baseline is missing" for name in matching.only_other]


def _allowed(result: Comparison, matches: list[Match]) -> list[Match]:
    """Return the pairs that can be judged. Failed rows are left out: they are listed already."""
    usable = [
        m for m in matches if m.base.sample is not None and m.other.sample is not None
    ]
    reasons = {m.obstacle: None for m in usable if m.obstacle}
    if result.settings.force:
        result.forced += reasons
        return usable
    result.problems += [
        f"not comparable, {reason} (--force compares them all the same)"
        for reason in reasons
    ]
    return [m for m in usable if not m.obstacle]
