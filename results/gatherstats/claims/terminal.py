"""Shows the findings on public claims as text."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.claims.claims import (
    Check,
    CheckResult,
    Finding,
    Keys,
    Result,
    keys_text,
)
from gatherstats.data.environment import describe_briefly
from gatherstats.data.rows import Run
from gatherstats.text.safe import printable
from gatherstats.text.units import significant
from gatherstats.text.wrapped import wrapped


def terminal(run: Run, results: Sequence[Result]) -> list[str]:
    """Show each claim's source, figures and findings, target by target."""
    lines = [printable(run.path)]
    for heading, text in describe_briefly(run):
        lines += wrapped(f"{heading}: {text}", "    ")
    for i, result in enumerate(results, 1):
        lines += ["", *wrapped(f"{i}. {printable(result.claim.claim)}", "", "   ")]
        note = f"; {result.claim.note}" if result.claim.note else ""
        lines += wrapped(printable(f"Source: {result.claim.source}{note}"), "   ")
        for target, checks in result.by_target.items():
            finding = result.finding(target).value
            figures = "; ".join(_with_finding(one, len(checks)) for one in checks)
            lines += wrapped(
                printable(f"- {target}: {finding}: {figures}"), "   ", "     "
            )
        lines += wrapped(printable(summary(result)), "   ")
    legend = (
        "Figures: ratios of median times with their 95 % intervals; verdicts: rank test, p with"
        " Holm's correction over the pairs of a target."
    )
    return [*lines, "", *wrapped(overview(results)), *wrapped(legend)]


def summary(result: Result) -> str:
    """Say a claim's outcome in a sentence; it names the targets if they differ."""
    if result.elsewhere:
        return f"=> {Finding.OPEN.value}: {result.elsewhere}."
    if not result.by_target:
        return f"=> {Finding.OPEN.value}: no row {keys_text(result.missing[0])} in this run."
    found = result.findings
    if len(set(found.values())) == 1:
        where = "" if len(found) == 1 else f" on {_listed(list(found))}"
        return f"=> {next(iter(found.values())).value}{where}."
    parts = []
    for finding in Finding:
        targets = [target for target, one in found.items() if one is finding]
        if targets:
            parts.append(f"{finding.value} on {_listed(targets)}")
    return f"=> differs: {'; '.join(parts)}."


def overview(results: Sequence[Result]) -> str:
    """Count the claims that hold."""
    kinds = {finding.value: 0 for finding in Finding} | {"differ by target": 0}
    for result in results:
        found = set(result.findings.values()) or {Finding.OPEN}
        kinds[found.pop().value if len(found) == 1 else "differ by target"] += 1
    words = {
        "holds": "hold",
        "does not hold": "do not hold",
        "cannot tell here": "cannot be told",
    }
    parts = [
        f"{number} {words.get(kind, kind)}" for kind, number in kinds.items() if number
    ]
    number = len(results)
    return f"{number} {'claim' if number == 1 else 'claims'}: {', '.join(parts)}."


def checked_text(one: CheckResult) -> str:
    """Format one check's figures; not yet safe to print."""
    check = one.check
    pair = _difference(check.row, check.against)
    if one.problem:
        return f"{pair}: {one.problem}"
    if check.relation == "step":
        share = [f"{v * 100:+.1f} %" for v in (one.value, one.low, one.high)]
        return f"{pair}: {share[0]} beyond an even growth ({share[1]} to {share[2]})"
    text = f"{pair} {significant(one.value)}"
    if one.low == one.low:
        text += f" ({significant(one.low)} to {significant(one.high)})"
    return f"{text}, claimed {_claimed(check)}"


def _claimed(check: Check) -> str:
    if check.relation == "about":
        return f"about {significant(check.ratio or 1.0, 3)}"
    if check.ratio is not None:
        return significant(check.ratio, 3)
    return {"faster": "< 1", "slower": "> 1", "not faster": ">= 1"}[check.relation]


def _with_finding(one: CheckResult, number: int) -> str:
    """Format a check's figures; among several checks, mark those that do not hold."""
    text = checked_text(one)
    if number == 1 or one.finding is Finding.HOLDS:
        return text
    return f"{text} [{one.finding.value}]"


def _difference(row: Keys, against: Keys) -> str:
    """Name the terms of a ratio: the keys in which its rows differ, and a common size."""
    differing = [key for key in row if row[key] != against.get(key)]
    sides = [
        " ".join(
            keys.get(key, "none")
            if key == "strategy"
            else f"{key}:{keys.get(key, 'none')}"
            for key in differing
        )
        for keys in (row, against)
    ]
    size = f"size:{row['size']} " if "size" in row and "size" not in differing else ""
    return f"{size}{sides[0]} / {sides[1]}"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
