"""Says a verdict in one plain sentence."""

from __future__ import annotations

import math

from gatherstats.units import significant
from gatherstats.verdict import ALPHA, Outcome, Verdict


def sentence(other: str, base: str, verdict: Verdict, threshold: float) -> str:
    """The verdict on row `other` against row `base`; both names must be safe to print already."""
    figures = _figures(verdict)
    if verdict.effect.problem:
        return f"{other} against {base}: undecided; {verdict.effect.problem}{figures}."
    if verdict.outcome is Outcome.SAME:
        return f"{other} takes the same time as {base}, within {percent(threshold)}{figures}."
    if verdict.outcome is Outcome.UNDECIDED:
        return f"{other} against {base}: undecided, {_why(verdict)}{figures}{_advice(verdict)}."
    amount = percent(abs(verdict.effect.ratio - 1))
    return f"{other} is {amount} {verdict.outcome.value} than {base}{figures}."


def change(verdict: Verdict) -> str:
    """A decided difference as a part of a sentence, such as "10.8 % faster than"."""
    return f"{percent(abs(verdict.effect.ratio - 1))} {verdict.outcome.value} than"


def percent(share: float) -> str:
    """A share of 1 as per cent, with three digits at most."""
    return f"{significant(share * 100, 2 if share < 0.01 else 3)} %"


def p_text(p: float) -> str:
    """A p value with two digits, in words where it is too small for a number."""
    if p < 1e-12:
        return "p < 1e-12"
    return f"p = {p:.2f}" if p >= 0.01 else f"p = {p:.1g}"


def _why(verdict: Verdict) -> str:
    if not verdict.attainable:
        return (
            f"{verdict.effect.n} repetitions cannot decide it:"
            f" p could be {verdict.best_p_corrected:.2g} at best"
        )
    if verdict.p_corrected < ALPHA:
        return "too little evidence of a difference"
    return "no evidence of a difference"


def _figures(verdict: Verdict) -> str:
    effect = verdict.effect
    if not math.isfinite(effect.ratio):
        return ""
    ratio = f"ratio of {effect.statistic} {significant(effect.ratio)}"
    if effect.problem:
        return f" ({ratio})"
    interval = f"95 % interval {significant(effect.low)} to {significant(effect.high)}"
    return f" ({ratio}, {interval}, {p_text(verdict.p_corrected)})"


def _advice(verdict: Verdict) -> str:
    if verdict.needed is None:
        return ""
    if not verdict.attainable:
        return f"; it takes at least {verdict.needed} of each"
    return f"; about {_rounded(verdict.needed)} repetitions of each would probably decide it"


def _rounded(count: int) -> int:
    """`count` with two significant digits, rounded up: it is an estimate."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return math.ceil(count / step) * step
