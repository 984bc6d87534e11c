"""Brief runs in a directory of the test's own, and what has to be in their results."""

import os
import re

from run_suite import read, repetitions, run

# A row of each scope, in files so small that they take no time.
ROWS = {
    "file": ["--scope=file", "--file-bytes=64000", "--count=4", "--size=1000"],
    "op": ["--scope=op", "--window=64000", "--count=4", "--size=1000"],
}

# One op a repetition: calls can be counted, and a run takes no time.
BRIEF = ["--benchmark_min_time=1e-9", "--benchmark_repetitions=2"]


STRATEGIES = "write,writev,pwrite,pwritev,pwritev2,coalesce,contiguous,fallback,stdio"


def measure(folder, out, *options, **how):
    """Runs a row or some in a folder; returns the process and the results.

    The folder must be as before, but for what a file system that became read-only does not let go: that is said.
    """
    before = sorted(os.listdir(folder))
    result = run(*BRIEF, *options, f"--dir={folder}", f"--benchmark_out={out}", **how)
    left = [name for name in sorted(os.listdir(folder)) if name not in before]
    assert sorted(os.listdir(folder)) == sorted(before + left)
    if left:
        assert os.statvfs(folder).f_flag & os.ST_RDONLY
        assert f"{left[0]} is left; the next run there removes it" in result.stderr
    assert not os.path.exists(f"{out}.partial")
    return result, read(out) if os.path.exists(out) else None


def measured(results):
    """The names of rows that were measured; none may have failed."""
    rows = repetitions(results)
    assert not any("error_occurred" in row for row in rows)
    return {row["name"] for row in rows}


def failed(results):
    """What is said of rows that failed, by name: each in all its repetitions, and without a time."""
    messages = {}
    for row in repetitions(results):
        if row.get("error_occurred"):
            messages.setdefault(row["name"], []).append(row["error_message"])
            assert row["real_time"] == 0
            assert "bytes_per_second" not in row
        else:
            messages.setdefault(row["name"], []).append(None)
    for told in messages.values():
        assert len(set(told)) == 1  # no repetition of a failed row has a time
    messages = {name: told for name, told in messages.items() if told[0]}
    return {name: told[0] for name, told in messages.items()}


def check_failure(result, results, operations, errors, on="file"):
    """All rows on a target failed in one of some operations for one of some reasons; others were measured."""
    assert result.returncode == 1
    messages = failed(results)
    names = {row["name"] for row in repetitions(results)}
    assert set(messages) == {name for name in names if f"target:{on}/" in name}
    assert any("target:null" in name for name in names)
    reasons = "|".join(os.strerror(error) for error in errors)
    for name, message in messages.items():
        assert re.fullmatch(f"({operations}): ({reasons})", message), message
        assert f"gatherbench: {name}: {message}\n" in result.stderr
