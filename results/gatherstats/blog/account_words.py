"""Puts the account of the gain into a few lines."""

from __future__ import annotations

from gatherstats.blog.account import Account
from gatherstats.stats.parts import Part
from gatherstats.text.units import Unit, significant, time_unit

MAY_BE_ZERO = "may be zero"


def unit_of(account: Account) -> Unit:
    """Choose the unit of all parts: the largest part's."""
    return time_unit([max(abs(part.time_s) for part in (account.gain, *account.parts))])


def part_text(part: Part, unit: Unit) -> str:
    """Format a part with its interval, in this unit."""
    low, high = (_number(v, unit) for v in (part.low_s, part.high_s))
    return f"{_number(part.time_s, unit)} {unit.name} ({low} to {high})"


def labels(account: Account) -> tuple[str, ...]:
    """Name the parts."""
    call_ns = significant(account.call.time_s * 1e9, 3)
    return (
        f"{account.calls_saved} calls saved x {call_ns} ns",
        "handing over vectors",
        f"the file system's work{' in the writes' if account.others else ''}",
        *(f"in the {phase}" for phase in account.others),
    )


def share_text(part: Part, account: Account) -> str:
    """Say a part's share of the gain, or that it may be zero; "" if there is no gain."""
    if not part.is_clear:
        return MAY_BE_ZERO
    if not account.gain.is_clear:
        return ""
    share = part.time_s / account.gain.time_s * 100
    return f"{share:.0f} %" if abs(share) >= 1 else f"{share:.1f} %"


def account_lines(account: Account) -> list[str]:
    """Say the parts, a line each; the first line names their sum, the gain.

    Where the phases are known, the first line is the gain of each, and the others of the writes.
    """
    unit = unit_of(account)

    def with_share(part: Part) -> str:
        share = share_text(part, account)
        return part_text(part, unit) + (f", {share}" if share else "")

    saved, handing, work, *where = labels(account)
    doubt = "" if account.gain.is_clear else f", {MAY_BE_ZERO}"
    first = f"Gain {part_text(account.gain, unit)}{doubt}"
    entry = f"{saved} = {with_share(account.entry)}"
    lines = [f"{first}: {entry}"]
    if where:
        phases = zip(
            ("in the writes", *where), (account.writes, *account.others.values())
        )
        by_phase = "; ".join(f"{name} {with_share(part)}" for name, part in phases)
        lines = [f"{first}: {by_phase}", f"in the writes: {entry}"]
    return [
        *lines,
        f"{handing} (this too as on /dev/null): {with_share(account.vectors)}",
        f"{work}, which is the rest: {with_share(account.rest)}",
    ]


def _number(time_s: float, unit: Unit) -> str:
    return f"{time_s / unit.size:.2f}"
