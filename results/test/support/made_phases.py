"""Makes runs of whole files that say how long each phase took, as rows of the scope `file` do."""

from __future__ import annotations

from made import BLOG, CALLS, repetitions

FILE_BYTES = 100_000_000
DOTNET = BLOG.replace("sync:none/", "sync:none/create:dotnet/")


def phased(name, phases_ms, rng, n=20, scatter=0.01, flushed=None, **counters):
    """A row whose phases have these medians in milliseconds; their sum is its time.

    flushed: the share of the file that goes to the device; None where nobody counted.
    """
    columns = {
        f"{phase}_ns": list(
            ms * 1e6 * rng.lognormal(0, scatter, n) if ms else [0.0] * n
        )
        for phase, ms in phases_ms.items()
    }
    times = [sum(of_one) for of_one in zip(*columns.values())]
    counters |= {"bytes_per_second": [FILE_BYTES * 1e9 / time for time in times]}
    if flushed is not None:
        counters["device_bytes"] = flushed * FILE_BYTES
    strategy = name.split("strategy:")[1].split("/")[0]
    counters.setdefault("calls", CALLS.get(strategy, 1))
    return repetitions(name, times, **columns, **counters)


def opened(write, close, sync=0.0, open_=0.03):
    """The phases of a row in milliseconds."""
    return {"open": open_, "write": write, "sync": sync, "close": close}
