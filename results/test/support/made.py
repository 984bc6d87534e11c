"""Makes the JSON objects of a results file for the tests, and rows whose true ratio is known."""

from __future__ import annotations

import numpy as np
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.drift import remove_drift

BLOG = (
    "file/strategy:{}/target:file/sync:none/file_bytes:100000000/count:4/size:16000"
    "/real_time"
)
CALLS = {"pwrite": 6250, "pwritev": 1563, "fallback": 6250, "contiguous": 1563}


def repetitions(name, times, unit="ns", **extra):
    """One entry for each time; an extra that is a list gives each entry its own value."""
    entries = []
    for i, time in enumerate(times):
        entry = {
            "name": name,
            "run_name": name,
            "run_type": "iteration",
            "repetitions": len(times),
            "repetition_index": i,
            "threads": 1,
            "iterations": 1,
            "real_time": time,
            "cpu_time": time,
            "time_unit": unit,
        }
        for key, value in extra.items():
            entry[key] = value[i] if isinstance(value, list) else value
        entries.append(entry)
    return entries


def aggregates(name, n, unit="ms", **values):
    entries = []
    for aggregate, value in values.items():
        entry = {
            "name": f"{name}_{aggregate}",
            "run_name": name,
            "run_type": "aggregate",
            "aggregate_name": aggregate,
            "real_time": value,
            "time_unit": unit,
        }
        if n is not None:
            entry["repetitions"] = n
        entries.append(entry)
    return entries


def failed(name, message="fsync: No space left on device"):
    return {
        "name": name,
        "run_name": name,
        "run_type": "iteration",
        "repetitions": 1,
        "repetition_index": 0,
        "error_occurred": True,
        "error_message": message,
        "real_time": 0.0,
        "cpu_time": 0.0,
        "time_unit": "ns",
    }


def results(*groups, **context):
    """A whole file; keyword arguments are context keys of this suite.

    Where no entry says when it began, all of them ran in random order.
    """
    entries = [entry for group in groups for entry in group]
    measured = [e for e in entries if e.get("run_type") == "iteration"]
    if not any("start_s" in entry for entry in measured):
        order = np.random.default_rng(len(measured)).permutation(len(measured))
        for entry, place in zip(measured, order):
            entry["start_s"] = float(place)
    return {
        "context": {f"gatherbench.{key}": value for key, value in context.items()},
        "benchmarks": entries,
    }


def blog_run(medians_ms, rng, n=100, scatter=0.02, kernel_calls=None, **context):
    """A run of the blog preset in random order; medians_ms: by strategy."""
    starts = rng.permutation(n * len(medians_ms)).reshape(len(medians_ms), n) * 0.05
    groups = []
    for start, (strategy, median) in zip(starts, medians_ms.items()):
        counters = {"calls": CALLS[strategy], "bytes_per_second": 2e9}
        counters["kernel_calls"] = (kernel_calls or CALLS).get(strategy)
        counters = {k: v for k, v in counters.items() if v is not None}
        times = list(median * rng.lognormal(0, scatter, n))
        groups.append(
            repetitions(
                BLOG.format(strategy), times, "ms", start_s=list(start), **counters
            )
        )
    return results(*groups, preset="blog", version="0.1.0", **context)


def independent(shape, rng):
    """Independent relative times."""
    return rng.lognormal(0, 0.01, shape)


def drifting(shape, rng):
    """The same on a machine that is slowly faster and slower, by up to a tenth."""
    length = int(np.prod(shape))
    walk = np.cumsum(rng.normal(0, 0.01, length))
    wave = 0.05 * np.sin(np.arange(length) / 30) + walk - walk.mean()
    return independent(shape, rng) * np.exp(wave).reshape(shape)


def heavy_tailed(shape, rng):
    """Most agree within one per cent, some take many times as long."""
    return np.exp(0.005 * np.abs(rng.standard_t(1.5, shape)).clip(0, 400))


def bimodal(shape, rng):
    """A third takes four per cent more than the rest."""
    return independent(shape, rng) * np.where(rng.random(shape) < 1 / 3, 1.04, 1)


def in_bursts(shape, rng):
    """On a machine that others use too: a step of a fifth, and bursts of a few slower ones."""
    length = int(np.prod(shape))
    slow = np.zeros(length)
    slow[length // 3 : length // 2] = 0.2
    for first in range(int(rng.integers(0, 15)), length, 15):
        slow[first : first + 3] += [0.05, 0.1, 0.04][: length - first]
    spikes = np.where(rng.random(length) < 0.04, rng.exponential(0.5, length), 0)
    noise = rng.normal(0, 0.005, length) * np.where(slow > 0.1, 4, 1)
    return np.exp(slow + spikes + noise).reshape(shape)


def uneven(shape, rng):
    """Noise that is five times as large in stretches as in others."""
    length = int(np.prod(shape))
    size = np.where(np.arange(length) // 25 % 2, 0.02, 0.004)
    return np.exp(rng.normal(0, 1, length) * size).reshape(shape)


def in_one_run(*samples, seed=1):
    """Rows of a run with these times, in random order: as they are compared."""
    sizes = [len(one) for one in samples]
    order = np.random.default_rng(seed).permutation(sum(sizes)).astype(float)
    starts = np.split(order, np.cumsum(sizes)[:-1])
    rows = [Row(parse_name("a"), np.asarray(t), s) for t, s in zip(samples, starts)]
    return tuple(remove_drift(rows)[0])


KINDS = [independent, drifting, heavy_tailed, bimodal, in_bursts, uneven]
"""Makers of relative times in the order of time, given a shape and a generator."""


def interleaved(kind, n, rng, ratio=1.0):
    """Two rows of n repetitions in random order, whose true ratio is known."""
    times = kind((2 * n,), rng)
    owner = rng.permutation(np.repeat([False, True], n))
    starts = np.arange(2.0 * n)
    return [
        Row(parse_name(name), times[chosen] * factor, starts[chosen])
        for name, chosen, factor in (("base", ~owner, 1.0), ("other", owner, ratio))
    ]
