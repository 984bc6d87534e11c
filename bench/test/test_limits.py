"""Limits of the process: open files, memory."""

import os
import re
import resource

import pytest

from brief import BRIEF, ROWS
from fault_table import fault
from run_suite import read, repetitions, run


def run_limited(limit, value, *options):
    return run(*options, preexec_fn=lambda: resource.setrlimit(limit, (value, value)))


# Each with a file, and a stream or threads, whose stacks are the first that there is no memory for.
LIMITED = {
    "file": [*ROWS["file"], "--strategy=pwritev,coalesce", "--latency"],
    "threads": [*ROWS["op"], "--strategy=pwritev", "--threads=4", "--latency"],
    "stream": ["--strategy=writev", "--target=unix,tcp,pipe"],
}


def check_limited(result, folder, out):
    """Either all is well, or each thing that failed is told in a line of its own; nothing is left behind."""
    assert os.listdir(folder) == []
    assert result.returncode in (0, 1)
    assert (result.returncode == 0) == (result.stderr == "")
    for line in result.stderr.splitlines():
        # Google Benchmark names the files of the machine that it cannot open, and the one that it must have.
        google = (
            "[Ff]ailed to (open|read) .*(/proc|/sys)/|invalid file name: '/dev/null'"
        )
        assert re.match(f"gatherbench: .|{google}", line), line
    assert not os.path.exists(f"{out}.partial")
    if os.path.exists(out):
        rows = repetitions(read(out))
        assert rows
        assert any("error_occurred" in row for row in rows) == (result.returncode != 0)
        out.unlink()


def check_limits(kind, limit, values, what, tmp_path):
    """From nothing to enough: a run that cannot start, runs that fail, and runs in which all is well."""
    folder, out = tmp_path / "work", tmp_path / "out.json"
    folder.mkdir()
    options = [*BRIEF, *LIMITED[what], f"--dir={folder}", f"--benchmark_out={out}"]
    statuses = []
    for value in values:
        # Below that its libraries cannot be loaded.
        if not statuses and run_limited(limit, value, "--version").returncode != 0:
            continue
        with fault(kind, what):
            result = run_limited(limit, value, *options)
            check_limited(result, folder, out)
        statuses.append(result.returncode)
        if statuses[-3:] == [0, 0, 0]:
            break
    assert statuses[-1] == 0
    assert 1 in statuses


@pytest.mark.parametrize("what", LIMITED)
def test_few_open_files_are_told(what, tmp_path):
    check_limits("RLIMIT_NOFILE", resource.RLIMIT_NOFILE, range(25), what, tmp_path)


@pytest.mark.parametrize("what", LIMITED)
def test_little_memory_is_told(what, tmp_path):
    if run_limited(resource.RLIMIT_AS, 1 << 30, "--version").returncode != 0:
        pytest.skip("this build needs more memory: it has a sanitizer")
    sizes = [int(1.07**i * (4 << 20)) for i in range(70)]
    check_limits("RLIMIT_AS", resource.RLIMIT_AS, sizes, what, tmp_path)
