"""Makes the blog's table of launches on two architectures, and answers whether translation matters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gatherstats.blog import x64
from gatherstats.blog.account import accounts
from gatherstats.blog.account_words import part_text
from gatherstats.blog.cells import Table, judge_group, table_of
from gatherstats.blog.run_report import rows_of_tables
from gatherstats.data.grouping import Group, group_rows
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row, Run
from gatherstats.errors import UserError
from gatherstats.stats.parts import Part
from gatherstats.stats.samples import RowSample, measure_launches
from gatherstats.stats.verdict import Outcome, Verdict, judge
from gatherstats.stats.verdict_words import advice, change, short
from gatherstats.text.safe import markdown
from gatherstats.text.units import Unit

_NS = Unit("ns", 1e-9)

_SHOWN_COUNTERS = ("calls", "kernel_calls")

UNIT = "launches"
"""The unit of a sample's values: each is a launch's median."""


@dataclass(frozen=True)
class Architectures:
    """The comparison of two architectures.

    table: the blog's, with a column for the architecture.
    within, between: a line on each pair: the methods of one architecture, and one method on both.
    costs: the cost of a call, and of one more buffer in a gather, a line for each architecture;
    none if the rows on /dev/null are missing.
    answer: whether translation changes the fastest way of writing, the kernel's count of calls, and
    why the published rows may differ.
    problems: failed and missing rows, a line each.
    """

    table: Table
    within: list[str]
    between: list[str]
    costs: list[str]
    answer: list[str]
    problems: list[str]


def architecture(run: Run) -> str:
    """Name the architecture that a run's program was built for, and its emulator."""
    machine = run.setting("machine") or "an unknown machine"
    emulated = run.setting("emulated")
    if emulated == "no":
        return machine
    if emulated in (None, "not known"):
        return f"{machine}, not known whether emulated"
    return f"{machine}, {emulated}"


def compare_architectures(
    sides: Sequence[Sequence[Run]], turns: Sequence[Sequence[int]], threshold: float
) -> Architectures:
    """Compare launches of one program on two architectures; all need the same rows.

    sides: the launches on each, the native ones first; turns: the turn of each launch.
    """
    measured: list[RowSample] = []
    problems: list[str] = []
    for runs, numbers in zip(sides, turns):
        rows, lacking = _named(runs, numbers)
        measured += rows
        problems += lacking
    group = _blog_group([one.row for one in measured])
    samples = {one.row.name.text: one.sample for one in measured}
    within = judge_group(group, samples, threshold)
    between = _between(group, samples, threshold)
    problems += [f"{row.name}: failed: {row.error}" for row in group.rows if row.failed]
    return Architectures(
        table_of(group, markdown),
        _within_lines(group, within, threshold),
        _between_lines(group, between, threshold),
        _cost_lines(measured),
        [*_translation(group, within), *_kernel_calls(group), x64.explanation()],
        problems,
    )


def _named(
    runs: Sequence[Run], turns: Sequence[int]
) -> tuple[list[RowSample], list[str]]:
    """Put the architecture into the names of the launches' rows, and the first launch's calls into them."""
    measured, problems = measure_launches(runs, turns)
    # A slash would end the key.
    where = architecture(runs[0]).replace("/", " ")
    first = {row.name.text: row for row in runs[0].rows}
    named = []
    for one in measured:
        text = one.row.name.text.replace("/", f"/architecture:{where}/", 1)
        counters = (
            first[one.row.name.text].counters if one.row.name.text in first else {}
        )
        # Not the throughput: one launch's would stand beside the mean of all.
        counters = {key: counters[key] for key in _SHOWN_COUNTERS if key in counters}
        row = replace(one.row, name=parse_name(text), counters=counters)
        named.append(replace(one, row=row))
    return named, [f"{where}: {problem}" for problem in problems]


def _blog_group(rows: list[Row]) -> Group:
    """Find the table of the blog's loop on a file. Raises UserError if there is none."""
    for group in group_rows(rows_of_tables(rows)):
        if group.systems and group.rows[0].name.keys.get("target") == "file":
            return group
    raise UserError("the architectures have no common rows")


def _between(group: Group, samples: dict, threshold: float) -> dict[str, Verdict]:
    """Judge the second architecture against the first, by method."""
    pairs = {}
    for label in dict.fromkeys(group.labels):
        found = [
            samples[row.name.text]
            for row, of_row in zip(group.rows, group.labels)
            if of_row == label
        ]
        if len(found) == 2 and all(sample is not None for sample in found):
            pairs[label] = (found[0], found[1])
    return dict(zip(pairs, judge(list(pairs.values()), threshold)))


def _within_lines(
    group: Group, verdicts: dict[int, Verdict], threshold: float
) -> list[str]:
    lines = [
        f"{markdown(group.systems[i])}: {markdown(group.labels[i])} against"
        f" {markdown(group.labels[group.baselines[i]])}: {short(verdict, threshold, unit=UNIT)}"
        for i, verdict in verdicts.items()
    ]
    more = advice(verdicts.values(), UNIT)
    return lines + ([more] if more else [])


def _between_lines(
    group: Group, verdicts: dict[str, Verdict], threshold: float
) -> list[str]:
    first, second = dict.fromkeys(group.systems)
    return [
        f"{markdown(label)}: {markdown(second)} against {markdown(first)}:"
        f" {short(verdict, threshold, unit=UNIT)}"
        for label, verdict in verdicts.items()
    ]


def _cost_lines(measured: list[RowSample]) -> list[str]:
    """Say the cost of translation: the parts of each architecture's account that are measured on
    /dev/null.

    A gather of n buffers saves n - 1 calls and hands over n - 1 buffers more than a plain write, so
    the cost of vectors divided by the saved calls is that of one more buffer.
    """
    lines = []
    for account in accounts(measured).by_name.values():
        saved = account.calls_saved
        buffer = Part(
            *(
                -v / saved
                for v in (
                    account.vectors.time_s,
                    account.vectors.high_s,
                    account.vectors.low_s,
                )
            )
        )
        lines.append(
            f"{markdown(account.name.keys['architecture'])}: a write call costs"
            f" {part_text(account.call, _NS)}, one more buffer in a gather {part_text(buffer, _NS)}"
        )
    return lines


def _gathering(group: Group, verdicts: dict[int, Verdict]) -> dict[str, Verdict]:
    """Pick the verdicts on the gathered row against the separate one, by architecture."""
    return {
        group.systems[i]: verdict
        for i, verdict in verdicts.items()
        if group.rows[i].name.keys["strategy"] == "pwritev"
    }


def _translation(group: Group, verdicts: dict[int, Verdict]) -> list[str]:
    """Say whether the architecture changes the answer to the blog's question."""
    gathering = _gathering(group, verdicts)
    if len(gathering) != 2:
        return [
            "Whether translation changes the answer cannot be told: rows are missing."
        ]
    parts = [
        f"{change(verdict)} writing them one by one on {markdown(system)}"
        for system, verdict in gathering.items()
        if verdict.outcome in (Outcome.FASTER, Outcome.SLOWER)
    ]
    outcomes = {verdict.outcome for verdict in gathering.values()}
    if Outcome.UNDECIDED in outcomes:
        known = f" Gathering is {' and '.join(parts)}." if parts else ""
        return [
            f"Whether translation changes the answer, these launches cannot tell.{known}"
        ]
    winners = f": gathering is {', and '.join(parts)}" if parts else ""
    if len(outcomes) == 1:
        return [f"Translation does not change the answer{winners}."]
    return [f"Translation changes the answer{winners}."]


def _kernel_calls(group: Group) -> list[str]:
    """Say for each architecture whether a gather reached the kernel as one call, by its own count."""
    sentences = []
    for system in dict.fromkeys(group.systems):
        calls = {
            row.name.keys["strategy"]: row.counter("kernel_calls")
            for row, of_row in zip(group.rows, group.systems)
            if of_row == system
        }
        separate, gathered = calls.get("pwrite"), calls.get("pwritev")
        if separate is None or gathered is None:
            sentences.append(
                f"On {markdown(system)} the kernel's count of calls is not known."
            )
        elif gathered < separate:
            sentences.append(
                f"On {markdown(system)} the kernel counted {separate:.0f} write calls for Write and"
                f" {gathered:.0f} for WriteGather: each gather reached it as one call."
            )
        else:
            sentences.append(
                f"On {markdown(system)} the kernel counted {gathered:.0f} write calls for"
                f" WriteGather and {separate:.0f} for Write: the gathers did not reach it as such."
            )
    return sentences
