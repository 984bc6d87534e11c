"""Interprets a run of the blog's workload in a few plain sentences.

Every sentence follows from a verdict or from the counted calls; without them there is no sentence.
"""

from __future__ import annotations

import math

from gatherstats.blog import x64
from gatherstats.data.grouping import BLOG_METHODS, Group, is_blog_row
from gatherstats.data.rows import Row
from gatherstats.stats.verdict import Outcome, Verdict
from gatherstats.stats.verdict_words import change


def explain(group: Group, verdicts: dict[int, Verdict]) -> list[str]:
    """Interpret one table of the blog's rows; no sentences for any other table.

    verdicts: by the row's index in the group, for the rows that could be compared.
    """
    strategies = {
        row.name.keys.get("strategy", ""): i for i, row in enumerate(group.rows)
    }
    base = strategies.get("pwrite")
    if base is None or base != group.baselines[base] or group.systems:
        return []
    if not is_blog_row(group.rows[base].name):
        return []
    by_strategy = {s: verdicts[i] for s, i in strategies.items() if i in verdicts}
    rows = {strategy: group.rows[i] for strategy, i in strategies.items()}
    sentences = [
        *_gain(by_strategy.get("pwritev"), by_strategy.get("contiguous")),
        _kernel_calls(rows["pwrite"], rows.get("pwritev")),
        _fallback(by_strategy.get("fallback"), rows["pwrite"], rows.get("fallback")),
    ]
    return [sentence for sentence in sentences if sentence]


def missing_methods(rows: list[Row]) -> list[str]:
    """List the blog's methods that a blog run lacks, by their names in the table."""
    present = {
        row.name.keys.get("strategy")
        for row in rows
        if is_blog_row(row.name) and row.name.keys.get("target") == "file"
    }
    return [
        method for strategy, method in BLOG_METHODS.items() if strategy not in present
    ]


def _gain(gather: Verdict | None, contiguous: Verdict | None) -> list[str]:
    verdicts = (gather, contiguous)
    if not all(v is not None and v.outcome is Outcome.FASTER for v in verdicts):
        return [_gather(gather), _ceiling(contiguous)]
    share = math.log(gather.effect.ratio) / math.log(contiguous.effect.ratio)
    amount = "all" if share >= 1 else f"about {share * 100:.0f} %"
    return [
        f"Gathering 4 buffers into one call is {change(gather)} writing them one by one here:"
        f" {amount} of what any gather could gain, which is what one write of the same bytes"
        " lying together does."
    ]


def _gather(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    if verdict.outcome is Outcome.UNDECIDED:
        return (
            "Whether gathering 4 buffers into one call pays here, this run cannot tell."
        )
    if verdict.outcome is Outcome.SAME:
        return (
            "Gathering 4 buffers into one call neither gains nor costs anything here."
        )
    return f"Gathering 4 buffers into one call is {change(verdict)} writing them one by one here."


def _ceiling(contiguous: Verdict | None) -> str:
    if contiguous is None:
        return ""
    start = "One write of the same bytes lying together, the most that any gather could gain,"
    if contiguous.outcome is Outcome.UNDECIDED:
        return f"{start} does not differ clearly from writing them one by one."
    if contiguous.outcome is Outcome.SAME:
        return f"{start} takes the same time as writing them one by one: nothing is to be gained."
    return f"{start} is {change(contiguous)} writing them one by one."


def _kernel_calls(write: Row, gather: Row | None) -> str:
    if gather is None or write.failed or gather.failed:
        return ""
    seen_write, seen_gather = write.counter("kernel_calls"), gather.counter(
        "kernel_calls"
    )
    calls_made = gather.counter("calls")
    if seen_write is None or seen_gather is None:
        if calls_made is None:
            return ""
        return "The kernel's own count of write calls is not available here."
    counts = f"The kernel counted {seen_write:.0f} write calls for Write and {seen_gather:.0f} for"
    if seen_gather < seen_write and (calls_made is None or seen_gather == calls_made):
        return f"{counts} WriteGather, so each gather did reach it as one call."
    if seen_gather < seen_write:
        return f"{counts} WriteGather, which made {calls_made:.0f}: not every gather was one call."
    return (
        f"{counts} WriteGather, so the gathers were taken apart before they reached it."
    )


def _fallback(verdict: Verdict | None, write: Row, fallback: Row | None) -> str:
    if verdict is None or fallback is None:
        return ""
    start = f"A gather without pwritev is what {x64.seen()}:"
    calls = write.counter("calls"), fallback.counter("calls")
    equal_calls = calls[0] is not None and calls[0] == calls[1]
    same_calls = (
        f"it makes the {calls[0]:.0f} calls of Write" if equal_calls else "here it"
    )
    if verdict.outcome is Outcome.UNDECIDED:
        joint = " and" if equal_calls else ""
        outcome = f"{same_calls}{joint} cannot be told from it here."
    elif verdict.outcome is Outcome.SAME:
        joint = " and" if equal_calls else ""
        outcome = f"{same_calls}{joint} takes the same time as Write."
    else:
        joint = " and yet" if equal_calls else ""
        outcome = f"{same_calls}{joint} is {change(verdict)} Write."
    return f"{start} {outcome} {x64.prediction()}"
