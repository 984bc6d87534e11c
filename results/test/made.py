"""Makes the JSON objects of a results file for the tests."""

from __future__ import annotations

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
    """A whole file; keyword arguments are context keys of this suite."""
    return {
        "context": {f"gatherbench.{key}": value for key, value in context.items()},
        "benchmarks": [entry for group in groups for entry in group],
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
