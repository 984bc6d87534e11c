"""Makes runs of the blog's loop on a file and on /dev/null whose account is known."""

from __future__ import annotations

from made import BLOG, CALLS, repetitions, results

ON_FILE_MS = {"pwrite": 42, "pwritev": 31, "fallback": 42, "contiguous": 30.8}
ON_NULL_MS = {"pwrite": 0.6, "pwritev": 0.25, "contiguous": 0.2}
"""The gain is 11 ms: 0.4 of entry, -0.05 of handing over vectors, 10.65 of the rest."""


def account_run(
    rng, on_file=None, on_null=None, n=100, scatter=0.01, calls=None, **context
):
    """A run of the blog preset with its rows on /dev/null."""
    calls = calls or CALLS
    groups = []
    rows = [(BLOG, on_file or ON_FILE_MS)]
    rows.append((BLOG.replace("target:file", "target:null"), on_null or ON_NULL_MS))
    number = sum(len(medians) for _, medians in rows)
    starts = iter(rng.permutation(n * number).reshape(number, n) * 0.05)
    for name, medians in rows:
        for strategy, median in medians.items():
            times = list(median * rng.lognormal(0, scatter, n))
            counters = {"calls": calls[strategy], "kernel_calls": calls[strategy]}
            start = list(next(starts))
            groups.append(
                repetitions(
                    name.format(strategy), times, "ms", start_s=start, **counters
                )
            )
    return results(*groups, preset="blog", version="0.1.0", **context)
