"""Puts the ways of saving a file into words: tables of times, the losses in a crash, and advice."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.crossover.advice_words import size_text
from gatherstats.crossover.map import Way
from gatherstats.crossover.saving import NEW, REPLACING, SAFE, Case, time_of
from gatherstats.data.rows import PHASES, Run, phases, shown_phases
from gatherstats.stats.parts import Part
from gatherstats.stats.verdict import Outcome, Verdict
from gatherstats.stats.verdict_words import change, percent, verdict_text
from gatherstats.text.safe import printable
from gatherstats.text.units import Unit, decimals, significant, time_unit

_LOST = {
    "truncate": "can lose the old bytes and the new",
    "overwrite": "can leave old and new bytes mixed",
    "settle": "can leave old and new bytes mixed",
    "unlink": "in between loses both files",
}
"""The effect of a crash before the file is saved, and, without a durability, for some time after."""

_CALLS = {
    "truncate": 'fopen "w"',
    "overwrite": "overwriting",
    "settle": "overwriting and cutting to length",
    "unlink": "removing the old file first",
    SAFE: "renaming a new file over it",
    "dotnet": "as .NET does",
}
"""The name of a way in a sentence."""


def crash(create: str, sync: str, run: Run) -> str:
    """Say the effect of a crash on a file that is replaced in this way, as the end of a sentence."""
    if create != SAFE:
        return _LOST.get(create, "is not thought about here")
    if sync != "none" or _writes_before_renaming(run):
        return "leaves the old file or the new one"
    return "can leave an empty file"


def title_of(sync: str) -> str:
    """Make the heading of the cases of one durability."""
    return "Not synced" if sync == "none" else f"With {printable(sync)}"


def case_text(case: Case) -> str:
    """Name a file by its length, such as "16 KiB"."""
    return size_text(str(case.length)) + printable(case.apart)


def create_table(cases: Sequence[Case]) -> tuple[list[str], list[list[str]]]:
    """Headers and rows: a file in each row, a way of creating in each column, and what each took.

    Two times are those of separate writes and of gathering. Phases other than the writes stand below,
    where they take a share of the time.
    """
    creates = list(dict.fromkeys(create for case in cases for create in case.creates))
    rows = []
    for case in cases:
        ways = [
            w for w in (Way.SEPARATE, Way.GATHER) if any(k[1] is w for k in case.rows)
        ]
        ways = ways or [case.plain]
        found = {c: [case.row(c, way) for way in ways] for c in creates}
        times = [one.centre_s for ones in found.values() for one in ones if one]
        unit = time_unit(times)
        texts = [_joined([o and o.centre_s for o in found[c]], unit) for c in creates]
        rows.append([f"{case_text(case)} [{unit.name}]", *texts])
        worth = shown_phases([one.row for one in case.rows.values()])
        for phase in (phase for phase in PHASES if phase != "write" and phase in worth):
            texts = [
                _joined([o and phases(o.row).get(phase) for o in found[c]], unit, 2)
                for c in creates
            ]
            rows.append([f"  {phase}", *texts])
    return ["File", *map(printable, creates)], rows


def replacing_table(case: Case, run: Run) -> tuple[list[str], list[list[str]]]:
    """Make a table of the ways of replacing a file, the fastest first: time, interval, verdict,
    effect of a crash."""
    found = {c: time_of(one) for c in REPLACING if (one := case.row(c)) is not None}
    unit = time_unit(part.time_s for part in found.values())
    rows = []
    for create in sorted(found, key=lambda c: found[c].time_s):
        verdict = case.against.get(create)
        rows.append(
            [
                create,
                crash(create, case.sync, run),
                significant(found[create].time_s / unit.size, 3),
                _interval(found[create], unit),
                "" if verdict is None else verdict_text(verdict),
            ]
        )
    title = f"Replacing {case_text(case)}"
    return [title, "A crash", f"[{unit.name}]", "95 %", f"Against {SAFE}"], rows


def case_advice(case: Case, run: Run) -> list[str]:
    """Advise on such a file: a sentence for replacing an old one, and one for a new one."""
    return [
        f"{case_text(case)}: {sentence}"
        for sentence in (_replacing(case, run), _creating(case))
        if sentence
    ]


def advice_lines(cases: Sequence[Case], run: Run) -> list[str]:
    """Advise on the files of one durability, with the basis of the advice, a sentence each."""
    lines = [line for case in cases for line in case_advice(case, run)]
    if any(case.row(SAFE) for case in cases):
        lines.append(_why_safe(cases[0].sync, run))
    return [line for line in [*lines, *_handing(cases)] if line]


def _handing(cases: Sequence[Case]) -> list[str]:
    """Count the cases in which gathering, and copying, changes the time, a sentence for each."""
    lines = []
    for way, words in (
        (Way.GATHER, "handing over the buffers at once, against one by one"),
        (Way.COALESCE, "copying them together first, against gathering"),
    ):
        verdicts = [v for case in cases for k, v in case.handing.items() if k[1] is way]
        counts = {
            outcome: sum(v.outcome is outcome for v in verdicts) for outcome in Outcome
        }
        found = [f"{outcome.value} in {n}" for outcome, n in counts.items() if n]
        if verdicts:
            lines.append(f"{words}: {', '.join(found)} of {len(verdicts)}")
    return lines


def _why_safe(sync: str, run: Run) -> str:
    """Say why renaming without a durability can be safe or not; "" with a durability."""
    if sync != "none":
        return ""
    if _writes_before_renaming(run):
        return (
            f"{SAFE} without a sync leaves one of the two files whole because ext4 writes the new one's"
            " bytes before its name (auto_da_alloc); elsewhere it takes a sync"
        )
    return f"{SAFE} without a sync can leave an empty file where the name reaches the disk before the bytes"


def _writes_before_renaming(run: Run) -> bool:
    return (run.setting("auto_da_alloc") or "").startswith("yes")


def _replacing(case: Case, run: Run) -> str:
    safe = case.row(SAFE)
    if safe is None or not case.against:
        return ""
    start = f"{_timed(SAFE, time_of(safe))}, and a crash {crash(SAFE, case.sync, run)}"
    faster = {
        create: verdict
        for create, verdict in case.against.items()
        if create in REPLACING and verdict.outcome is Outcome.FASTER
    }
    parts = [start]
    risks = set()
    for create in sorted(faster, key=lambda c: faster[c].effect.ratio):
        risk = crash(create, case.sync, run)
        if risk not in risks:  # else a faster way is as unsafe
            parts.append(
                f"{_timed(create, time_of(case.row(create)))}, {_less(faster[create])}, but a crash"
                f" {risk}"
            )
        risks.add(risk)
    truncate = case.against.get("truncate")
    if truncate is not None and "truncate" not in faster:
        parts.append(
            f"{_timed('truncate', time_of(case.row('truncate')))}: {_no_gain(truncate)}, and a crash"
            f" {crash('truncate', case.sync, run)}"
        )
    if not faster:
        parts.append("nothing else is known to be faster, so rename")
    return "; ".join(parts)


def _no_gain(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.SLOWER:
        return f"{change(verdict)} renaming"
    if verdict.outcome is Outcome.SAME:
        return "no faster"
    return "not known to be faster"


def _creating(case: Case) -> str:
    verdict = case.against.get(NEW[1])
    if verdict is None:
        return ""
    new, dotnet = (time_of(case.row(create)) for create in NEW)
    unit = time_unit([new.time_s])
    said = (
        f", {change(verdict)} that"
        if verdict.outcome in (Outcome.FASTER, Outcome.SLOWER)
        else ", which cannot be told apart"
        if verdict.outcome is Outcome.UNDECIDED
        else ", the same"
    )
    return (
        f"a file that replaces none takes {_figures(new, unit)}, {_CALLS['dotnet']}"
        f" {_figures(dotnet, unit)}{said}"
    )


def _timed(create: str, part: Part) -> str:
    return f"{_CALLS[create]} takes {_figures(part, time_unit([part.time_s]))}"


def _figures(part: Part, unit: Unit) -> str:
    middle = significant(part.time_s / unit.size, 3)
    return f"{middle} {unit.name} ({_interval(part, unit)})"


def _interval(part: Part, unit: Unit) -> str:
    ends = (significant(v / unit.size, 3) for v in (part.low_s, part.high_s))
    return " to ".join(ends)


def _less(verdict: Verdict) -> str:
    return f"{percent(1 - verdict.effect.ratio)} less"


def _joined(times: Sequence[float | None], unit: Unit, digits: int = 3) -> str:
    """Format a pair of times, as short as possible: seven pairs must fit into a line."""
    texts = ["-" if t is None else _number(t / unit.size, digits) for t in times]
    return "" if all(t is None for t in times) else "/".join(texts)


def _number(value: float, digits: int) -> str:
    """Format a number with that many digits, and two decimals at most."""
    return f"{value:.{min(decimals(value, digits), 2)}f}"
