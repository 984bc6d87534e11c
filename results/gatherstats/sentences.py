"""Says a verdict in one plain sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gatherstats.effect import Effect
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
    return (
        f"{other} is {_amount(verdict)} {verdict.outcome.value} than {base}{figures}."
    )


def short(verdict: Verdict, threshold: float, with_statistic: bool = False) -> str:
    """The verdict in few words, for a line that says before what is compared with what.

    with_statistic: say also what the ratio is made of, medians or means.
    """
    effect = verdict.effect
    figures = ""
    if math.isfinite(effect.ratio):
        figures = significant(effect.ratio)
        if with_statistic:
            figures = f"ratio of {effect.statistic} {figures}"
        if not effect.problem:
            figures += f", {_interval(effect)}; {p_text(verdict.p_corrected)}"
        figures = f" ({figures})"
    if effect.problem:
        return f"undecided; {effect.problem}{figures}"
    if verdict.outcome is Outcome.SAME:
        return f"the same within {percent(threshold)}{figures}"
    if verdict.outcome is Outcome.UNDECIDED:
        return f"undecided, {_why(verdict)}{figures}"
    return f"{_amount(verdict)} {verdict.outcome.value}{figures}"


def advice(verdicts: Iterable[Verdict]) -> str:
    """How many repetitions would decide what is undecided among `verdicts`; "" if none would."""
    open_ones = [v for v in verdicts if v.needed is not None]
    if not open_ones:
        return ""
    needed = max(v.needed or 0 for v in open_ones)
    if not any(v.attainable for v in open_ones):
        return f"it takes at least {needed} repetitions of each to decide anything"
    return (
        f"about {_rounded(needed)} repetitions of each would probably decide"
        " what is undecided"
    )


def change(verdict: Verdict) -> str:
    """A decided difference as a part of a sentence, such as "10.8 % faster than"."""
    return f"{_amount(verdict)} {verdict.outcome.value} than"


def percent(share: float) -> str:
    """A share of 1 as per cent, with three digits at most."""
    return f"{significant(share * 100, 2 if share < 0.01 else 3)} %"


def p_text(p: float) -> str:
    """A p value with two digits, in words where it is too small for a number."""
    if p < 1e-12:
        return "p < 1e-12"
    return f"p = {p:.2f}" if p >= 0.01 else f"p = {p:.1g}"


def _amount(verdict: Verdict) -> str:
    return percent(abs(verdict.effect.ratio - 1))


def _interval(effect: Effect) -> str:
    return f"{significant(effect.low)} to {significant(effect.high)}"


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
    return (
        f" ({ratio}, 95 % interval {_interval(effect)}, {p_text(verdict.p_corrected)})"
    )


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
