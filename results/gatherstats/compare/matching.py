"""Pairs rows for a comparison: by name in two runs, or along one key in one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from gatherstats.data.comparable import WORK_KEYS, work_difference
from gatherstats.data.grouping import baseline_value
from gatherstats.data.names import LATER_KEYS
from gatherstats.errors import UserError
from gatherstats.stats.samples import RowSample


@dataclass(frozen=True)
class Match:
    """Two rows to compare. obstacle: the reason against it, "" if there is none."""

    base: RowSample
    other: RowSample
    obstacle: str = ""


@dataclass
class Matching:
    """The rows to compare, and the names of rows of one side only."""

    matches: list[Match]
    only_base: list[str] = field(default_factory=list)
    only_other: list[str] = field(default_factory=list)


def match_by_name(old: Sequence[RowSample], new: Sequence[RowSample]) -> Matching:
    """Pair rows of the same name, in the order of the old run.

    Rows without a namesake are paired where their names differ only in keys that older files lack,
    or in the amount of work, with that as the obstacle.
    """
    lonely = {one.row.name.text: one for one in new}
    found: dict[str, tuple[RowSample, str]] = {}
    for left_out in ((), LATER_KEYS, (*LATER_KEYS, *WORK_KEYS)):
        waiting = [one for one in old if one.row.name.text not in found]
        partners = _by_rest(lonely.values(), left_out)
        for rest, ones in _by_rest(waiting, left_out).items():
            if len(ones) != 1 or len(partners.get(rest, ())) != 1:
                continue
            base, partner = ones[0].row.name, partners[rest][0]
            obstacle = work_difference(base.keys, partner.row.name.keys)
            found[base.text] = (partner, obstacle)
            del lonely[partner.row.name.text]
    names = [one.row.name.text for one in old]
    return Matching(
        [Match(one, *found[n]) for n, one in zip(names, old) if n in found],
        [name for name in names if name not in found],
        list(lonely),
    )


def match_by_key(
    rows: Sequence[RowSample], key: str, baseline: str | None = None
) -> Matching:
    """Pair the rows that differ in one key alone: each with the one that has the baseline's value.

    baseline: the value of `key`, or "none" for rows without the key; None for the usual one.
    Raises UserError when no row's name has the key, or none has the baseline's value.
    """
    values = {one.row.name.value(key) for one in rows if one.row.name.is_ours}
    if not any(key in one.row.name.keys for one in rows if one.row.name.is_ours):
        known = {k: None for one in rows for k in one.row.name.keys}
        raise UserError(
            f"no row's name has the key {key!r}; there are: {', '.join(known) or 'none'}"
        )
    if baseline is not None and baseline not in {v or "none" for v in values}:
        present = ", ".join(sorted(v or "none" for v in values))
        raise UserError(f"no row has {key}:{baseline}; there are: {present}")
    obstacle = f"different workloads: rows differ in {key}" if key in WORK_KEYS else ""
    result = Matching([])
    for members in _by_everything_but(key, rows):
        chosen = [one.row.name.value(key) for one in members]
        value = baseline_value(key, chosen) if baseline is None else baseline
        bases = [
            one for one, v in zip(members, chosen) if (v or "none") == (value or "none")
        ]
        for one in members:
            if not bases:
                result.only_other.append(one.row.name.text)
            elif one is not bases[0]:
                result.matches.append(Match(bases[0], one, obstacle))
        if bases and len(members) == 1:
            result.only_base.append(bases[0].row.name.text)
    return result


def _by_rest(
    rows: Iterable[RowSample], left_out: tuple[str, ...]
) -> dict[object, list[RowSample]]:
    """Index the rows by their names without some keys; other suites' rows by their whole names."""
    groups: dict[object, list[RowSample]] = {}
    for one in rows:
        name = one.row.name
        rest = name.without(*left_out) if name.is_ours and left_out else name.text
        groups.setdefault(rest, []).append(one)
    return groups


def _by_everything_but(key: str, rows: Sequence[RowSample]) -> list[list[RowSample]]:
    groups: dict[object, list[RowSample]] = {}
    for one in rows:
        if one.row.name.is_ours:
            groups.setdefault(one.row.name.without(key), []).append(one)
    return list(groups.values())
