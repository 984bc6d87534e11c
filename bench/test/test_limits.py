"""Limits of the process: open files, memory; and a reader that goes away."""

import errno
import os
import re
import resource

import pytest

from brief import BRIEF, ROWS, check_failure
from fault_table import fault
from run_suite import (
    has_sanitizer,
    SUITE,
    WRAPPER,
    read,
    repetitions,
    run,
    strace_works,
)


def run_limited(limit, value, *options):
    return run(*options, preexec_fn=lambda: resource.setrlimit(limit, (value, value)))


# Each with a file, and a stream or threads, whose stacks are the first that there is no memory for.
LIMITED = {
    "file": [*ROWS["file"], "--strategy=pwritev,coalesce", "--size=1m", "--latency"],
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
    if has_sanitizer():
        pytest.skip("a sanitizer prints what it finds in Google Benchmark")
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
    sizes = [int(1.07**i * (4 << 20)) for i in range(70)]
    check_limits("RLIMIT_AS", resource.RLIMIT_AS, sizes, what, tmp_path)


@pytest.mark.skipif(not strace_works() or bool(WRAPPER), reason="strace cannot trace")
@pytest.mark.parametrize("target", ["pipe", "unix", "tcp"])
@pytest.mark.parametrize("strategy", ["write", "writev", "coalesce"])
def test_a_reader_that_closes_its_end_fails_the_row(strategy, target, tmp_path):
    """No signal ends the process. The reader is a thread of the suite: its read fails in the middle of an op, and it
    closes its end."""
    out = tmp_path / "out.json"
    # An op of 128 MB takes at least 500 reads; the program itself makes some dozens.
    strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", tmp_path / "log"]
    strace += ["-e", "trace=read", "-e", "inject=read:error=EIO:when=300"]
    with fault("reader goes away", target):
        result = run(
            *[*BRIEF, f"--strategy={strategy}", f"--target={target},null"],
            *["--count=8192", "--size=16k", f"--benchmark_out={out}"],
            program=[*strace, *SUITE],
            # A leak check cannot run under strace, which traces already.
            env={"ASAN_OPTIONS": "detect_leaks=0"},
        )
        call = "writev" if strategy == "writev" else "write"
        reasons = [errno.EPIPE, errno.ECONNRESET]
        check_failure(result, read(out), call, reasons, on=target)
