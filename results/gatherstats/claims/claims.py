"""Checks public claims against a run: each holds, does not hold, or stays open.

Without a key "target" a claim is checked on every target of the run. All pairs of one target are a
family, corrected by Holm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from gatherstats.data.rows import Run
from gatherstats.stats.effect import FEWEST_REPETITIONS
from gatherstats.stats.parts import combine
from gatherstats.stats.order import order_problem
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.samples import RowSample, measure
from gatherstats.stats.verdict import THRESHOLD, Outcome, Verdict, judge

Keys = dict[str, str]


class Finding(str, Enum):
    """The outcome of a claim."""

    HOLDS = "holds"
    FAILS = "does not hold"
    OPEN = "cannot tell here"


@dataclass(frozen=True)
class Check:
    """One relation that a claim implies; its keys are complete."""

    row: Keys
    against: Keys
    relation: str
    ratio: float | None = None
    within: float = 0.0
    start: Keys | None = None

    @property
    def rows(self) -> list[Keys]:
        """The keys of all rows that the check needs."""
        return [self.row, self.against, *([self.start] if self.start else [])]


@dataclass(frozen=True)
class Claim:
    """A public claim, and the checks that it implies.

    where: what a run's context must say for the claim to be about it, such as its file system.
    """

    claim: str
    source: str
    note: str
    checks: list[Check]
    where: Keys = field(default_factory=dict)

    @property
    def scopes(self) -> set[str]:
        """The scopes of its rows: a run has one, so a claim about others is not put to it."""
        rows = [keys for check in self.checks for keys in check.rows]
        return {keys["scope"] for keys in rows if "scope" in keys}


@dataclass(frozen=True)
class CheckResult:
    """A check on one target.

    value, low, high: the ratio of times and its interval; for a step, the step as a share of the
    time of `against`. NaN if unknown.
    problem: why the check stays open, "" if the figures decide it.
    """

    check: Check
    finding: Finding
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    problem: str = ""

    @property
    def is_as_claimed(self) -> bool | None:
        """Whether the claimed ratio lies in the interval; None without one."""
        if self.check.ratio is None or math.isnan(self.low):
            return None
        return self.low <= self.check.ratio <= self.high


@dataclass(frozen=True)
class Result:
    """A claim and its checks by target.

    missing: rows that no target has. elsewhere: why the claim is not about this run, "" if it is.
    """

    claim: Claim
    by_target: dict[str, list[CheckResult]]
    missing: list[Keys]
    elsewhere: str = ""

    def finding(self, target: str) -> Finding:
        """The claim holds on `target` if all checks do; one that does not hold decides."""
        findings = [checked.finding for checked in self.by_target[target]]
        if Finding.FAILS in findings:
            return Finding.FAILS
        return Finding.OPEN if Finding.OPEN in findings else Finding.HOLDS

    @property
    def findings(self) -> dict[str, Finding]:
        """The finding on each target."""
        return {target: self.finding(target) for target in self.by_target}


def check_claims(
    run: Run, claims: Sequence[Claim], threshold: float = THRESHOLD
) -> list[Result]:
    """Check claims against a run; differences up to `threshold` count as none."""
    measured, _ = measure(run.rows)
    targets = list(
        dict.fromkeys(
            one.row.name.keys["target"]
            for one in measured
            if "target" in one.row.name.keys
        )
    )
    find = _Finder(measured)
    jobs: list[tuple[int, str, Check, list[RowSample | None]]] = []
    missing: list[list[Keys]] = []
    reasons = [_elsewhere(claim, run) for claim in claims]
    for i, claim in enumerate(claims):
        fixed = claim.checks[0].row.get("target")
        lost: list[Keys] = []
        begun = len(jobs)
        if reasons[i]:
            missing.append(lost)
            continue
        for target in [fixed] if fixed else targets:
            found = [
                (check, [find(keys, target) for keys in check.rows])
                for check in claim.checks
            ]
            if any(row is not None for _, rows in found for row in rows):
                jobs += [(i, target, check, rows) for check, rows in found]
        if len(jobs) == begun:
            lost = [keys for check in claim.checks for keys in check.rows]
        missing.append(lost)
    checked = _check_all(jobs, threshold)
    results = [
        Result(claim, {}, lost, reason)
        for claim, lost, reason in zip(claims, missing, reasons)
    ]
    for (i, target, _, _), one in zip(jobs, checked):
        results[i].by_target.setdefault(target, []).append(one)
    return results


def _elsewhere(claim: Claim, run: Run) -> str:
    """Return why a claim is not about this run, "" if it is."""
    for key, value in claim.where.items():
        said = run.setting(key)
        if said != value:
            return f"it is about {key} {value}, and this run has {said or 'not said which'}"
    return ""


class _Finder:
    """Finds the row that a claim refers to."""

    def __init__(self, rows: Sequence[RowSample]) -> None:
        self.by_target: dict[str, list[tuple[RowSample, Keys]]] = {}
        for one in rows:
            keys = {"scope": str(one.row.name.scope), **one.row.name.keys}
            if "target" in keys:
                self.by_target.setdefault(keys["target"], []).append((one, keys))

    def __call__(self, keys: Keys, target: str) -> RowSample | None:
        """Find the row with these keys and the fewest others; None if there is none."""
        wanted = {**keys, "target": target}
        fitting = [
            (len(known), one)
            for one, known in self.by_target.get(target, [])
            if all(known.get(key) == value for key, value in wanted.items())
        ]
        return min(fitting, key=lambda pair: pair[0])[1] if fitting else None


def _check_all(
    jobs: Sequence[tuple[int, str, Check, list[RowSample | None]]], threshold: float
) -> list[CheckResult]:
    problems = [_problem(check, rows) for _, _, check, rows in jobs]
    compared = [
        k
        for k, (_, _, check, _) in enumerate(jobs)
        if not problems[k] and check.relation != "step"
    ]
    verdicts = judge(
        [(jobs[k][3][1].sample, jobs[k][3][0].sample) for k in compared],
        threshold,
        families=[jobs[k][1] for k in compared],
    )
    by_job = dict(zip(compared, verdicts))
    checked = []
    for k, (_, _, check, rows) in enumerate(jobs):
        if problems[k]:
            checked.append(CheckResult(check, Finding.OPEN, problem=problems[k]))
        elif check.relation == "step":
            checked.append(_check_step(check, rows, threshold))
        else:
            checked.append(_check_ratio(check, by_job[k]))
    return checked


def _problem(check: Check, rows: Sequence[RowSample | None]) -> str:
    for keys, one in zip(check.rows, rows):
        if one is None:
            return f"the row {keys_text(keys)} is missing"
        if one.row.failed:
            return f"the row {keys_text(keys)} failed"
        if check.relation != "step":
            continue
        sample = one.sample
        if not isinstance(sample, Repetitions) or sample.size < FEWEST_REPETITIONS:
            return f"the row {keys_text(keys)} has too few repetitions"
        if sample.times_s.min() <= 0:
            return f"the row {keys_text(keys)} has a time of zero"
    if check.relation == "step":
        samples = [one.sample for one in rows if one is not None]
        found = (order_problem(samples[0], sample) for sample in samples[1:])
        return next(filter(None, found), "")
    return ""


def keys_text(keys: Keys) -> str:
    """Format keys like a row's name."""
    return " ".join(f"{key}:{value}" for key, value in keys.items())


def _check_ratio(check: Check, verdict: Verdict) -> CheckResult:
    effect = verdict.effect
    if effect.problem:
        return CheckResult(check, Finding.OPEN, effect.ratio, problem=effect.problem)
    finding = _JUDGES[check.relation](check, verdict)
    return CheckResult(check, finding, effect.ratio, effect.low, effect.high)


def _is(*outcomes: Outcome) -> Callable[[Check, Verdict], Finding]:
    """Map these outcomes to "holds", other decided ones to "does not hold"."""

    def finding(_: Check, verdict: Verdict) -> Finding:
        if verdict.outcome is Outcome.UNDECIDED:
            return Finding.OPEN
        return Finding.HOLDS if verdict.outcome in outcomes else Finding.FAILS

    return finding


def _is_about(check: Check, verdict: Verdict) -> Finding:
    low = (check.ratio or 1.0) / (1 + check.within)
    high = (check.ratio or 1.0) * (1 + check.within)
    effect = verdict.effect
    if effect.n < FEWEST_REPETITIONS:
        return Finding.OPEN
    if low <= effect.low and effect.high <= high:
        return Finding.HOLDS
    outside = effect.high < low or effect.low > high
    return Finding.FAILS if outside else Finding.OPEN


_JUDGES: dict[str, Callable[[Check, Verdict], Finding]] = {
    "faster": _is(Outcome.FASTER),
    "slower": _is(Outcome.SLOWER),
    "not faster": _is(Outcome.SLOWER, Outcome.SAME),
    "about": _is_about,
}


def _check_step(
    check: Check, rows: Sequence[RowSample | None], threshold: float
) -> CheckResult:
    top, middle, start = (one for one in rows if one is not None)
    counts = [int(keys["count"]) for keys in check.rows]
    steps = counts[1] - counts[2]
    share = (counts[0] - counts[1]) / steps
    samples = [one.sample.times_s for one in (top, middle, start)]
    part = combine(list(zip((1, -1 - share, share), samples)))
    scale = float(np.median(samples[1]))
    low, high = part.low_s / scale, part.high_s / scale
    finding = Finding.OPEN
    if low > 0:
        finding = Finding.HOLDS
    elif high < threshold:
        finding = Finding.FAILS
    return CheckResult(check, finding, part.time_s / scale, low, high)
