"""Reads files of claims that others have made in public.

Claims are data, in reference/claims/. A file is an object with a list "claims" of objects:

    claim, source   the claim and its place, in words
    note            how the words became checks (optional)
    keys            keys of the rows' names that all its rows have; "scope" is one of them
    where           keys of the context, without their prefix, and the values that they must have for
                    the claim to be about a run, such as "filesystem" (may be left out)
    checks          a list; the claim holds if all of them do

A check compares a "row" with a row "against", each given as further keys of the names, by a
"relation" of their times:

    faster, slower  the comparison's verdict; "ratio" (of times, row / against) is what was claimed
    not faster      slower or the same
    about           the whole interval of the ratio lies within "within" of "ratio", a factor
                    (0.25: from ratio / 1.25 to ratio * 1.25); it does not hold if all is outside
    step            from "against" to the row the time grows by more than the mean step from the row
                    "start" to "against"; the buffers' numbers are their keys "count"

Without a key "target" a claim is checked on every target of the run. All pairs of one target are a
family, corrected by Holm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from gatherstats.claims.claims import Check, Claim, Keys
from gatherstats.data.names import whole_number
from gatherstats.data.reader import read_json
from gatherstats.errors import UserError

PUBLIC = sorted((Path(__file__).parents[2] / "reference" / "claims").glob("*.json"))
"""The files with public claims."""

RELATIONS = ("faster", "slower", "not faster", "about", "step")

_CONTRADICTED: dict[str, Callable[[float], bool]] = {
    "faster": lambda ratio: ratio >= 1,
    "slower": lambda ratio: ratio <= 1,
    "not faster": lambda ratio: ratio < 1,
}
"""Ratios of times that contradict a relation."""


def read_claims(path: str | Path) -> list[Claim]:
    """Read a file of claims. Raises UserError."""
    document = read_json(path)
    items = document.get("claims") if isinstance(document, dict) else None
    if not isinstance(items, list) or not items:
        raise UserError('it has no list "claims"')
    return [_read_claim(item, f"claim {i}") for i, item in enumerate(items, 1)]


def _read_claim(item: object, where: str) -> Claim:
    if not isinstance(item, dict):
        raise UserError(f"{where} is no object")
    for key in ("claim", "source"):
        if not isinstance(item.get(key), str) or not item[key].strip():
            raise UserError(f"{where} has no text {key!r}")
    checks = item.get("checks")
    if not isinstance(checks, list) or not checks:
        raise UserError(f'{where} has no list "checks"')
    shared = _read_keys(item.get("keys", {}), where, "keys")
    checks = [
        _read_check(check, shared, f"{where}, check {i}")
        for i, check in enumerate(checks, 1)
    ]
    note = str(item.get("note", ""))
    about = _read_keys(item.get("where", {}), where, "where")
    return Claim(item["claim"], item["source"], note, checks, about)


def _read_check(item: object, shared: Keys, where: str) -> Check:
    if not isinstance(item, dict):
        raise UserError(f"{where} is no object")
    relation = item.get("relation")
    if relation not in RELATIONS:
        raise UserError(
            f"{where}: the relation {relation!r} is not among {', '.join(RELATIONS)}"
        )
    row, against = (
        {**shared, **_read_keys(item.get(key), where, key)}
        for key in ("row", "against")
    )
    ratio = _read_number(item, "ratio", where)
    within = _read_number(item, "within", where)
    start = None
    contradicted = _CONTRADICTED.get(relation)
    if ratio is not None and contradicted and contradicted(ratio):
        meant = "slower" if ratio > 1 else "faster" if ratio < 1 else "the same"
        raise UserError(
            f'{where}: "{relation}" with a ratio of times of {ratio:g}, which is {meant}'
        )
    if relation == "about" and (ratio is None or within is None):
        raise UserError(f'{where}: "about" needs "ratio" and "within"')
    if relation == "step":
        start = {**shared, **_read_keys(item.get("start"), where, "start")}
        _require_counts([row, against, start], where)
    return Check(row, against, relation, ratio, within or 0.0, start)


def _require_counts(rows: Sequence[Keys], where: str) -> None:
    counts = [whole_number(keys.get("count", "")) for keys in rows]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        raise UserError(f'{where}: "step" needs a "count" in each of its rows')
    if not known[0] > known[1] > known[2]:
        raise UserError(f'{where}: the counts of a "step" must fall')


def _read_keys(item: object, where: str, name: str) -> Keys:
    texts = isinstance(item, dict) and all(isinstance(v, str) for v in item.values())
    if not texts:
        raise UserError(f"{where}: {name!r} is no object of texts")
    return dict(item)


def _read_number(item: dict, key: str, where: str) -> float | None:
    value = item.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UserError(f"{where}: {key!r} is no number")
    if not 0 < value < math.inf:
        raise UserError(f"{where}: {key!r} is not above zero")
    return float(value)
