"""A file system that gives faults: each call fails once, writes are short, and what is lacking is told."""

import errno
import os
import re

import pytest

from brief import ROWS, STRATEGIES, check_failure, failed, measure, measured
from fault_table import fault
from mounts import faulty_fs
from run_suite import repetitions


@pytest.mark.parametrize("scope", ROWS)
@pytest.mark.parametrize("options", [(), ("--cached",), ("--hard-remove",)])
def test_every_strategy_writes_all_bytes_on_fuse(scope, options, tmp_path):
    """Also where a file that is open loses its name for good when it is deleted, as on some network file systems."""
    with faulty_fs(tmp_path, *options) as folder:
        result, results = measure(
            folder,
            tmp_path / "out.json",
            *ROWS[scope],
            f"--strategy={STRATEGIES}",
            "--verify",
        )
    assert result.returncode == 0, result.stderr
    assert len(measured(results)) == len(STRATEGIES.split(","))
    assert results["context"]["gatherbench.filesystem"] == "fuse.faulty_fs"


# The system call that a strategy makes, as messages name it.
CALL = {"coalesce": "pwrite", "contiguous": "pwrite", "fallback": "pwrite"}
CALL["stdio"] = "write"


@pytest.mark.parametrize("scope", ROWS)
@pytest.mark.parametrize("strategy", STRATEGIES.split(","))
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT"])
def test_a_failed_write_on_fuse_fails_its_row(error, strategy, scope, tmp_path):
    number = getattr(errno, error)
    # The window is written first, in 16 pages. Twice, for like pwritev a fallback returns what it has written before
    # an error, and only the next call tells of it.
    options = ["--call=write", f"--first={18 if scope == 'op' else 2}", "--times=2"]
    with faulty_fs(tmp_path, *options, f"--errno={number}") as folder:
        with fault(f"FUSE: {error}", "write"):
            result, results = measure(
                folder,
                tmp_path / "out.json",
                *ROWS[scope],
                *[f"--strategy={strategy}", "--target=file,null"],
            )
            call = CALL.get(strategy, strategy)
            check_failure(result, results, call, [number])


@pytest.mark.parametrize("sync", ["fsync", "fdatasync"])
@pytest.mark.parametrize("scope", ROWS)
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT"])
def test_a_failed_sync_on_fuse_fails_its_row(error, scope, sync, tmp_path):
    number = getattr(errno, error)
    # The window is synced first.
    options = ["--call=fsync", f"--first={2 if scope == 'op' else 1}"]
    with faulty_fs(tmp_path, *options, f"--errno={number}") as folder:
        with fault(f"FUSE: {error}", "fsync"):
            result, results = measure(
                folder,
                tmp_path / "out.json",
                *ROWS[scope],
                *["--strategy=pwritev,contiguous", f"--sync={sync}"],
            )
            assert result.returncode == 1
            (message,) = failed(results).values()  # the other row goes on
            assert len(repetitions(results)) == 4
            assert message == f"{sync}: {os.strerror(number)}"


# How much a short write writes: one byte; less than the first buffer, less than the second; all but one byte.
@pytest.mark.parametrize("short", [1, 500, 1500, -1])
@pytest.mark.parametrize("scope", ROWS)
def test_short_writes_on_fuse_are_resumed(scope, short, tmp_path):
    size = "--file-bytes=8000" if scope == "file" else "--window=8000"
    options = ["--call=write", "--times=0", f"--short={short}"]
    with faulty_fs(tmp_path, *options) as folder:
        with fault(f"FUSE: short write ({short})", "write"):
            result, results = measure(
                folder,
                tmp_path / "out.json",
                *ROWS[scope],
                *[size, f"--strategy={STRATEGIES}", "--verify"],
            )
            assert result.returncode == 0, result.stderr
            assert len(measured(results)) == len(STRATEGIES.split(","))
            for row in repetitions(results):
                each_buffer = re.search(
                    "strategy:(write|pwrite|fallback)/", row["name"]
                )
                # A buffer of 1000 bytes is not cut by a limit of 1500.
                assert (row["short_writes"] > 0) == (short != 1500 or not each_buffer)
                assert row["calls"] == row["kernel_calls"]


# Each kind of call, and how messages name what it is a part of. A file system that is asked to close a file flushes it.
KINDS = {
    "statfs": "statvfs",
    "mkdir": "create directory",
    "create": "open|create file",
    "open": "open the window|open for reading",
    "write": "pwritev|write the window|prepare to verify",
    "fallocate": "posix_fallocate|fallocate",
    "fsync": "fsync|fsync the window",
    "flush": "close|close the window",
    "unlink": "unlink|unlink the window",
    "rmdir": "remove directory",
}


@pytest.mark.parametrize("error", ["EIO", "EDQUOT"])
@pytest.mark.parametrize("scope", ROWS)
@pytest.mark.parametrize("kind", KINDS)
def test_each_call_on_fuse_may_fail(kind, scope, error, tmp_path):
    """The first of its kind, the second, and so on, until a run meets no fault."""
    reason = os.strerror(getattr(errno, error))
    size = (
        ["--file-bytes=8000", "--preallocate=yes"]
        if scope == "file"
        else ["--window=8000"]
    )
    for first in range(1, 100):
        options = [f"--call={kind}", f"--first={first}"]
        options += [f"--errno={getattr(errno, error)}", "--hard-remove"]
        out = tmp_path / "out.json"
        out.unlink(missing_ok=True)
        with faulty_fs(tmp_path, *options) as folder:
            result, results = measure(
                folder,
                out,
                *ROWS[scope],
                *[*size, "--strategy=pwritev", "--sync=fsync", "--verify"],
            )
        if (tmp_path / "faults").read_text() == "":
            break
        with fault(f"FUSE: {error}", kind):
            check_told(result, results, kind, reason)
    assert result.returncode == 0, result.stderr
    assert measured(results)


def check_told(result, results, kind, reason):
    told = re.search(f"({KINDS[kind]}).*: {reason}\n", result.stderr)
    if result.returncode == 0:
        # How much is free is told in the results too, where it can be; a directory is removed at the second try.
        assert kind in ("statfs", "rmdir") and measured(results)
        return
    assert result.returncode == 1
    assert told, result.stderr
