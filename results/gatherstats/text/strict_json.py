"""Writes strict JSON: unknown values are null, because JSON has neither NaN nor Infinity."""

from __future__ import annotations

import json
import math


def dumps(value: object, indent: int | None = None, compact: bool = False) -> str:
    """`value` as JSON; one line without `indent`, and without spaces if `compact`."""
    separators = (",", ":") if compact else None
    return json.dumps(
        strict(value), indent=indent, allow_nan=False, separators=separators
    )


def strict(value: object) -> object:
    """Copy `value` with None in place of numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: strict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [strict(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
