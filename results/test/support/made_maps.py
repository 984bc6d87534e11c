"""Makes runs of a grid whose winners are known."""

from __future__ import annotations

from made import repetitions, results

NAME = "op/strategy:{}/target:{}/sync:{}/count:{}/size:{}/real_time"
STRATEGIES = ("pwrite", "pwritev", "coalesce")


def grid_rows(times, rng, target="file", sync="none", n=10, scatter=0.002):
    """Rows for times[size, count] = (separate, gather, copy) in ns; None leaves a row out."""
    groups = []
    for (size, count), cell in times.items():
        for strategy, time in zip(STRATEGIES, cell):
            if time is not None:
                name = NAME.format(strategy, target, sync, count, size)
                values = list(time * rng.lognormal(0, scatter, n))
                groups.append(repetitions(name, values))
    return groups


def grid_run(times, rng, **options):
    """A whole file of such rows, on ext4."""
    return results(*grid_rows(times, rng, **options), filesystem="ext4")


def by_size(winners, counts=(1, 2, 4, 16), single=(100, 120, 130)):
    """times for `winners`: by size the three ways' times for several buffers; `single` for one."""
    return {
        (size, count): single if count == 1 else tuple(t and t * count for t in cell)
        for size, cell in winners.items()
        for count in counts
    }


SEPARATE, GATHER, COALESCE = (100, 130, 140), (140, 100, 130), (140, 130, 100)
"""Times of which separate writes, gathering, copying are the fastest."""

GATHER_OR_COALESCE = (140, 100, 100)
LEVEL = (100, 100, 100)

TYPICAL = by_size({"16": COALESCE, "512": COALESCE, "1024": GATHER, "16384": GATHER})
