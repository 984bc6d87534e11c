"""Puts verdicts into plain sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable

from gatherstats.stats.drift import Drift
from gatherstats.stats.effect import Effect
from gatherstats.stats.verdict import ALPHA, Outcome, Verdict
from gatherstats.text.units import ratio_texts, significant, time_text


SMALLEST_P = 1e-12
"""The smallest p value that is shown as a number."""

MANY_TIMES = 10
"""Larger ratios are shown as factors, not as per cent."""

REPETITIONS = "repetitions"
"""The default unit of a sample's values; the other one is launches."""


def sentence(
    other: str, base: str, verdict: Verdict, threshold: float, unit: str = REPETITIONS
) -> str:
    """Say the verdict on row `other` against row `base`; both names must be safe to print already.

    unit: the name of the samples' values, in the plural.
    """
    figures = _figures(verdict)
    if verdict.effect.problem:
        return f"{other} against {base}: undecided; {verdict.effect.problem}{figures}."
    if verdict.outcome is Outcome.SAME:
        return f"{other} takes the same time as {base}, within {percent(threshold)}{figures}."
    if verdict.outcome is Outcome.UNDECIDED:
        return f"{other} against {base}: undecided, {_why(verdict, unit)}{figures}{_advice(verdict, unit)}."
    return (
        f"{other} is {_amount(verdict)} {verdict.outcome.value} than {base}{figures}."
    )


def short(
    verdict: Verdict,
    threshold: float,
    with_statistic: bool = False,
    unit: str = REPETITIONS,
) -> str:
    """Say the verdict in few words, for a line that already names both rows.

    with_statistic: name the terms of the ratio too, medians or means.
    """
    effect = verdict.effect
    figures = ""
    if math.isfinite(effect.ratio):
        figures = _ratio(effect)
        if with_statistic:
            figures = f"ratio of {effect.statistic} {figures}"
        if math.isfinite(effect.low):
            figures += f", {_interval(effect)}"
        if not effect.problem:
            figures += f"; {p_text(verdict.p_corrected)}"
        figures = f" ({figures})"
    if effect.problem:
        return f"undecided; {effect.problem}{figures}"
    if verdict.outcome is Outcome.SAME:
        return f"the same within {percent(threshold)}{figures}"
    if verdict.outcome is Outcome.UNDECIDED:
        return f"undecided, {_why(verdict, unit)}{figures}"
    return f"{_amount(verdict)} {verdict.outcome.value}{figures}"


def advice(verdicts: Iterable[Verdict], unit: str = REPETITIONS) -> str:
    """Say how many repetitions would decide the undecided `verdicts`; "" if no number would."""
    open_ones = [v for v in verdicts if v.needed is not None]
    if not open_ones:
        return ""
    needed = max(v.needed or 0 for v in open_ones)
    if not any(v.attainable for v in open_ones):
        return f"it takes at least {needed} {unit} of each to decide anything"
    return (
        f"about {rounded(needed)} {unit} of each would probably decide"
        " what is undecided"
    )


def drift_text(drift: Drift) -> str:
    """Say how much drift there was, and how its removal changed the scatter."""
    if not drift.removed:
        return "No drift stood out from the scatter, so none was removed."
    return (
        f"Drift between {_signed(drift.low - 1)} and {_signed(drift.high - 1)} was removed:"
        f" scatter {percent(drift.scatter_before)}, then {percent(drift.scatter_after)}."
    )


def change(verdict: Verdict) -> str:
    """Say a decided difference as a part of a sentence, such as "10.8 % faster than"."""
    return f"{_amount(verdict)} {verdict.outcome.value} than"


def percent(share: float) -> str:
    """Format a share of 1 as per cent, with three digits at most."""
    return f"{significant(share * 100, 2 if share < 0.01 else 3)} %"


def p_text(p: float) -> str:
    """Format a p value for a sentence, such as "p = 0.03" or "p < 1e-12"."""
    return "p < 1e-12" if p < SMALLEST_P else f"p = {p_digits(p)}"


def p_digits(p: float) -> str:
    """Format a p value with two digits, or one if it is small; "" without a test."""
    if math.isnan(p):
        return ""
    return "<1e-12" if p < SMALLEST_P else f"{p:.2f}" if p >= 0.01 else f"{p:.1g}"


def verdict_text(verdict: Verdict) -> str:
    """Say the verdict in one to three words, for a table that has the figures beside it."""
    outcome = verdict.outcome
    if outcome in (Outcome.FASTER, Outcome.SLOWER):
        return f"{_amount(verdict)} {outcome.value}"
    if outcome is Outcome.SAME:
        return "same"
    if verdict.effect.problem:
        return "undecided, no test"
    if not verdict.attainable:
        return f"out of reach, needs {verdict.needed}"
    needs = f", needs {rounded(verdict.needed)}" if verdict.needed else ""
    return f"undecided{needs}"


def _signed(share: float) -> str:
    return ("-" if share < 0 else "+") + percent(abs(share))


def _amount(verdict: Verdict) -> str:
    ratio = verdict.effect.ratio
    if ratio >= MANY_TIMES:
        return f"{significant(ratio, 3)} times"
    return percent(abs(ratio - 1))


def _interval(effect: Effect) -> str:
    return " to ".join(ratio_texts(effect.low, effect.high, effect.ratio)[:2])


def _ratio(effect: Effect) -> str:
    """Format the ratio in its interval's notation."""
    ends = [] if not math.isfinite(effect.low) else [effect.low, effect.high]
    return ratio_texts(effect.ratio, *ends)[0]


def _why(verdict: Verdict, unit: str) -> str:
    if not verdict.attainable:
        return (
            f"{verdict.effect.n} {unit} cannot decide it:"
            f" p could be {verdict.best_p_corrected:.2g} at best"
        )
    if verdict.effect.coarse_s:
        return f"the times are stored in steps of {time_text(verdict.effect.coarse_s)}"
    if verdict.p_corrected < ALPHA:
        return "too little evidence of a difference"
    return "no evidence of a difference"


def _figures(verdict: Verdict) -> str:
    effect = verdict.effect
    if not math.isfinite(effect.ratio):
        return ""
    figures = f"ratio of {effect.statistic} {_ratio(effect)}"
    if math.isfinite(effect.low):
        figures += f", 95 % interval {_interval(effect)}"
    if not effect.problem:
        figures += f", {p_text(verdict.p_corrected)}"
        # Summaries do not tell whether their repetitions ran in random order.
        figures += ", order not known" if effect.statistic == "means" else ""
    return f" ({figures})"


def _advice(verdict: Verdict, unit: str) -> str:
    if verdict.needed is None:
        return ""
    if not verdict.attainable:
        return f"; it takes at least {verdict.needed} of each"
    return f"; about {rounded(verdict.needed)} {unit} of each would probably decide it"


def rounded(count: int) -> int:
    """Round an estimate up to two significant digits."""
    step = 10 ** max(len(str(count)) - 2, 0)
    return math.ceil(count / step) * step
