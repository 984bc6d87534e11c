"""Makes runs that save a file in several ways, with known times."""

from __future__ import annotations

from made import repetitions, results

NAME = (
    "file/strategy:{}/target:file/sync:{}{}{}/file_bytes:{}/count:4/size:{}/manual_time"
)
KEPT_ANYWAY = ("truncate", "overwrite", "settle", "unlink", "rename")

ONE_US = {
    "new": 30.0,
    "dotnet": 64.0,
    "truncate": 197.0,
    "overwrite": 9.0,
    "unlink": 32.0,
    "rename": 143.0,
}
"""By the way of creating, in microseconds."""


def row_name(create, strategy="pwrite", sync="none", length=16384, size=4096):
    create_key = "" if create == "new" else f"/create:{create}"
    keep = "" if create in KEPT_ANYWAY else "/keep:yes"
    return NAME.format(strategy, sync, create_key, keep, length, size)


def saving_run(
    rng, us=None, gather=0.8, scatter=0.02, n=20, close_share=0.5, context=None, **name
):
    """Rows of pwrite with these medians, of pwritev with `gather` times them, and coalesce the same."""
    groups = []
    for create, median in (us or ONE_US).items():
        for strategy, factor in (
            ("pwrite", 1),
            ("pwritev", gather),
            ("coalesce", gather),
        ):
            times = list(1e3 * factor * median * rng.lognormal(0, scatter, n))
            groups.append(
                repetitions(
                    row_name(create, strategy, **name),
                    times,
                    calls=4 if strategy == "pwrite" else 1,
                    open_ns=[0.1 * time for time in times],
                    write_ns=[(0.9 - close_share) * time for time in times],
                    sync_ns=0.0,
                    close_ns=[close_share * time for time in times],
                )
            )
    return results(*groups, preset="save", version="0.1.0", **(context or {}))
