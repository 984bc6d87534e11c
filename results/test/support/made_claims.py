"""Makes claims, and a run in which the published ones are true."""

from __future__ import annotations

import numpy as np
from made import repetitions, results


NAME = "op/strategy:{}/target:{}/sync:none/count:{}/size:{}/real_time"


SYNC = "op/strategy:pwrite/target:file/sync:osync/direct:yes/window:16384/count:{}/size:{}/real_time"
PUBLISHED = [
    "commonwarexyz/monorepo#4704",
    "commonwarexyz/monorepo#4704",
    "ocsigen/lwt#291",
    "crystal-lang/crystal#6078",
    "ceph/ceph#6307",
    "socketry/async#228, libevent/libevent#1537",
    "PostgreSQL pg_test_fsync",
    "dotnet/runtime#36951",
]


def row(rng, strategy, time, target="file", count=4, size=64, n=20, scatter=0.01):
    # With as large a scatter the seed must not decide: both rows get the same one.
    spread = (
        np.linspace(1 - 1.5 * scatter, 1 + 1.5 * scatter, n)
        if scatter >= 0.2
        else rng.lognormal(0, scatter, n)
    )
    times = list(time * spread)
    return repetitions(NAME.format(strategy, target, count, size), times)


def pair(relation, **more):
    keys = {"row": {"strategy": "coalesce"}, "against": {"strategy": "writev"}}
    return [{**keys, "relation": relation, **more}]


def true_run(rng, targets=("null", "file", "unix")):
    """A machine on which all published claims are true."""
    groups = []
    for target in targets:

        def add(count, size, write, writev, copy):
            for strategy, time in (
                ("write", write),
                ("writev", writev),
                ("coalesce", copy),
            ):
                groups.append(row(rng, strategy, time, target, count, size))

        add(256, 16, 900, 166, 100)
        add(256, 4096, 900, 88, 100)
        for size in (6, 16, 32, 64, 128):
            add(16, size, 300, 130, 100)
        add(16, 48, 300, 100, 100)
        for size in (256, 512):
            add(16, size, 300, 100, 130)
        for size in (5, 500):
            add(10, size, 300, 130, 100)
        for count, writev in ((1, 110), (8, 180), (9, 240)):
            add(count, 64, 100 * count, writev, 100)
    for count in (1, 2, 4, 8, 16):
        times = list(1000 * count * rng.lognormal(0, 0.01, 20))
        groups.append(repetitions(SYNC.format(count, 16384 // count), times))
    return results(*groups, preset="claims")
