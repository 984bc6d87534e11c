"""Writes a comparison for programs, as JSON and CSV.

JSON is strict: unknown values are null, never NaN or Infinity. Keys are only ever added; "version"
changes when one changes its meaning. In CSV an apostrophe precedes texts that a spreadsheet would take
for a formula, and control characters are escapes such as \\x1b.
"""

from __future__ import annotations

import csv
import io

from gatherstats.compare.comparison import Comparison, Pair
from gatherstats.data.environment import describe
from gatherstats.data.rows import Run
from gatherstats.stats.verdict_words import sentence
from gatherstats.text.safe import printable
from gatherstats.text.strict_json import dumps, strict

FORMAT = "gatherbench-comparison"
VERSION = 1

KEYS = {
    "format": f"always {FORMAT}",
    "version": f"{VERSION}",
    "complete": "whether everything in the files was compared, with enough repetitions",
    "exit_status": "of the command",
    "unit": "repetitions or launches: what one value of a row is",
    "key": "the key given with --by, or null",
    "threshold": "differences up to this share of the time count as none",
    "correction": "holm or bh",
    "fail_above": "the ratio given with --fail-above",
    "forced": "why this should not have been compared (--force)",
    "old": "a path and its environment for each file; with --by the one file",
    "new": "the same for the other side",
    "counts": "how many pairs have each verdict",
    "geometric_mean": "of the pairs' ratios, or null",
    "pairs": "see below",
    "problems": "what is missing, failed or refused",
    "notes": "what else to know",
    "drift": "by file: low and high (percentiles 5 and 95), scatter before and after, removed",
}
"""The keys of the JSON object, and their meaning."""

PAIR_KEYS = {
    "name": "the other row's name (the only one, where both rows have the same)",
    "base_name": "the base row's name",
    "base_s": "the base row's median in seconds, without drift (its mean, if only aggregates are known;"
    " of launches the geometric mean of their medians)",
    "other_s": "the same for the other row",
    "base_n": "repetitions (launches) of the base row",
    "other_n": "the same for the other row",
    "statistic": "medians or means: what the ratio is made of",
    "ratio": "other / base: below 1 the other row takes less time",
    "low": "lower end of the ratio's 95 % interval",
    "high": "its upper end",
    "p": "p of the test that there is no difference, uncorrected; null where there is no test",
    "p_corrected": "p corrected for the number of pairs",
    "best_p_corrected": "the smallest corrected p that so few values could have given",
    "verdict": "faster, slower, same or undecided",
    "attainable": "whether so few values could have given a decision",
    "needed": "repetitions (launches) of each that would probably decide it",
    "problem": "why there is no test and no word; ratio and interval are of these very runs then",
    "sentence": "all this in words",
    "forced": "whether it should not have been compared (--force)",
}
"""The keys of a pair, in the order of the CSV's columns, and their meaning."""


def as_json(comparison: Comparison) -> list[str]:
    """Format the comparison as one JSON object."""
    settings = comparison.settings
    drifts = {
        side
        or "run": {
            "low": drift.low,
            "high": drift.high,
            "scatter_before": drift.scatter_before,
            "scatter_after": drift.scatter_after,
            "removed": drift.removed,
        }
        for side, drift in comparison.drifts.items()
    }
    document = {
        "format": FORMAT,
        "version": VERSION,
        "complete": comparison.is_complete,
        "exit_status": comparison.exit_status,
        "unit": comparison.unit,
        "key": comparison.key or None,
        "threshold": settings.threshold,
        "correction": settings.correction,
        "fail_above": settings.fail_above,
        "forced": comparison.forced,
        "old": [_side(run) for run in comparison.base_runs],
        "new": [_side(run) for run in comparison.other_runs],
        "counts": {outcome.value: n for outcome, n in comparison.counts.items()},
        "geometric_mean": comparison.geometric_mean,
        "pairs": [_pair(pair, comparison) for pair in comparison.pairs],
        "problems": comparison.problems,
        "notes": comparison.notes,
        "drift": drifts,
    }
    return dumps(document, indent=1).splitlines()


def describe_keys() -> str:
    """Describe the keys of the JSON and the columns of the CSV, for a help text."""
    parts = []
    for title, keys in (
        ("--format=json prints one object; unknown values are null:", KEYS),
        (
            "A pair, in JSON, and the columns of --format=csv (times in seconds;"
            " a text like a formula begins with '):",
            PAIR_KEYS,
        ),
    ):
        parts.append("\n".join([title, *(f"  {k:17} {v}" for k, v in keys.items())]))
    return "\n\n".join(parts)


def as_csv(comparison: Comparison) -> list[str]:
    """Format a line for each pair; missing, failed and refused rows have none."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(PAIR_KEYS), lineterminator="\n")
    writer.writeheader()
    for pair in comparison.pairs:
        values = strict(_pair(pair, comparison))
        writer.writerow({k: _inert(v) for k, v in values.items()})
    return out.getvalue().split("\n")[:-1]


def _inert(value: object) -> object:
    """Make a cell one line, and no formula for any spreadsheet."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return "'" + text if text.lstrip().startswith(tuple("=+-@")) else text


def _side(run: Run) -> dict[str, object]:
    return {"path": run.path, "environment": dict(describe(run))}


def _pair(pair: Pair, comparison: Comparison) -> dict[str, object]:
    verdict, effect = pair.verdict, pair.verdict.effect
    base, other = pair.base.row.name.text, pair.other.row.name.text
    names = (other, base) if comparison.key else ("new", "old")
    values = (
        *(
            other,
            base,
            pair.base.centre_s,
            pair.other.centre_s,
            pair.base.n,
            pair.other.n,
        ),
        *(effect.statistic, effect.ratio, effect.low, effect.high, effect.p),
        *(
            verdict.p_corrected,
            verdict.best_p_corrected if not effect.problem else None,
        ),
        *(
            verdict.outcome.value,
            pair.is_decidable,
            verdict.needed,
            effect.problem or None,
        ),
        sentence(*names, verdict, comparison.settings.threshold, comparison.unit),
        bool(comparison.forced),
    )
    return dict(zip(PAIR_KEYS, values))
