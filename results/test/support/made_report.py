"""Makes runs for the report: a grid, latencies, and one whose every text is hostile."""

from __future__ import annotations

from made import failed, repetitions, results
from made_maps import COALESCE, GATHER, LEVEL, NAME, SEPARATE, by_size, grid_rows

TIMES = by_size(
    {"16": COALESCE, "512": GATHER, "16384": SEPARATE, "65536": LEVEL},
    (1, 2, 4, 16, 256),
)
EVIL = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x1b[31m\u202e\x00"
)


def latency_run(rng, number=3):
    counters = {"p50": 250.0, "p99": 1200.0, "p99.9": 15000.0, "max": 2.5e6}
    rows = []
    for i in range(number):
        name = NAME.format("pwrite", "null", "none", 2, 16 << i)
        values = {k: v * (i + 1) for k, v in counters.items()}
        times = list(300 * rng.lognormal(0, 0.01, 10))
        starts = list(rng.permutation(10) * 0.1 + i * 0.03)
        rows.append(
            repetitions(name, times, latency_ops=5000.0, start_s=starts, **values)
        )
    return results(*rows, version="0.1.0", command="gatherbench --latency")


def evil_run(rng):
    name = f"op/strategy:pwrite/target:null/count:1/size:8/x:{EVIL}"
    rows = [
        repetitions(
            name,
            [1.0, 2, 3, 4],
            label=EVIL,
            p50=1.0,
            p99=2.0,
            max=4.0,
            **{"p99.9": 3.0},
        ),
        repetitions(name.replace("pwrite", "none"), [1.0, 2, 3, 4], label=EVIL),
        repetitions(
            EVIL + 60 * "w", [1.0, 2.0], p50=1.0, p99=2.0, max=4.0, **{"p99.9": 3.0}
        ),
        failed(f"{EVIL}/2", EVIL),
    ]
    if isinstance(rows[-1], dict):
        rows[-1] = [rows[-1]]
    keys = (
        "source",
        "command",
        "filesystem",
        "kernel",
        "refused",
        "preset",
        "directory",
        "version",
    )
    evil = results(*rows, *grid_rows(TIMES, rng, target=EVIL.replace("/", "")))
    for key in keys[1:]:
        evil["context"][f"gatherbench.{key}"] = EVIL
    return evil
