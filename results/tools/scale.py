#!/usr/bin/env python3
"""Compares files of 25,000, 50,000 and 100,000 rows; exits 1 if that takes too long or too much.

Ten repetitions of each name. The limits are those of the largest: 10 seconds of processor time and
1 GiB; twice the rows may take 2.6 times as long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

COMPARE = Path(__file__).resolve().parents[1] / "compare.py"
REPETITIONS = 10
NAMES = (2_500, 5_000, 10_000)
MOST_SECONDS = 10.0
MOST_BYTES = 2**30
MOST_GROWTH = 2.6


def main() -> int:
    """Measure, print a line for each size, and return the exit status."""
    seconds, peak = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for names in NAMES:
            files = [Path(folder) / side for side in ("old.json", "new.json")]
            for seed, path in enumerate(files):
                path.write_text(json.dumps(_run(names, np.random.default_rng(seed))))
            used, peak = _cost([sys.executable, str(COMPARE), *map(str, files)])
            seconds.append(used)
            print(
                f"{names * REPETITIONS} rows: {used:.1f} s of processor time,"
                f" {peak / 2**20:.0f} MiB"
            )
    growth = seconds[-1] / seconds[-2]
    good = seconds[-1] < MOST_SECONDS and peak < MOST_BYTES and growth < MOST_GROWTH
    return 0 if good else 1


def _run(names: int, rng: np.random.Generator) -> dict:
    benchmarks = []
    for i in range(names):
        name = (
            f"op/strategy:pwrite/target:file/sync:none/count:{i % 64 + 1}/size:{i + 1}"
        )
        times = 1000.0 * rng.lognormal(0, 0.01, REPETITIONS)
        for k, time in enumerate(times):
            benchmarks.append(
                {
                    **{"name": name, "run_name": name, "run_type": "iteration"},
                    **{"family_index": i, "per_family_instance_index": 0},
                    **{"repetitions": REPETITIONS, "repetition_index": k},
                    **{"threads": 1, "iterations": 1000, "time_unit": "ns"},
                    **{"real_time": time, "cpu_time": time, "calls": 4.0},
                    **{"buffers": 4.0, "kernel_calls": 4.0, "bytes_per_second": 1e9},
                    **{"device_bytes": 0.0, "dirty_bytes": 1e6},
                    "start_s": float(rng.random() * 1000),
                }
            )
    return {"context": {}, "benchmarks": benchmarks}


def _cost(command: list[str]) -> tuple[float, int]:
    """Processor time in seconds and peak memory in bytes of one comparison."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 3):
        raise SystemExit(f"compare.py gave exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
