"""Medians of many arrays at once: thousands of short ones take as long as a few."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def medians(arrays: Sequence[np.ndarray]) -> list[float]:
    """The median of each array, none of which may be empty."""
    by_size: dict[int, list[int]] = {}
    for i, array in enumerate(arrays):
        by_size.setdefault(array.size, []).append(i)
    result = [0.0] * len(arrays)
    for indices in by_size.values():
        rows = np.stack([arrays[i] for i in indices])
        for i, value in zip(indices, np.median(rows, axis=1)):
            result[i] = float(value)
    return result
