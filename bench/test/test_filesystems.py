"""Real file systems: full, read-only, shut down, unreliable; of many kinds; and what the suite refuses to touch."""

import ctypes
import os

import pytest

from mounts import disk, faulty_fs, mounted, need_mounts, tmpfs, unmount
from run_suite import read, repetitions, run

# A row of each scope, in files so small that they take no time.
ROWS = {
    "file": ["--scope=file", "--file-bytes=64000", "--count=4", "--size=1000"],
    "op": ["--scope=op", "--window=64000", "--count=4", "--size=1000"],
}

# One op a repetition: calls can be counted, and a run takes no time.
BRIEF = ["--benchmark_min_time=1e-9", "--benchmark_repetitions=2"]


def measure(folder, out, *options):
    """Runs a row or some in a folder, which must be as before; returns the process and the results."""
    before = sorted(os.listdir(folder))
    result = run(*BRIEF, *options, f"--dir={folder}", f"--benchmark_out={out}")
    assert sorted(os.listdir(folder)) == before
    assert not os.path.exists(f"{out}.partial")
    return result, read(out) if os.path.exists(out) else None


def context(folder, out):
    """What the results say of a directory."""
    result, results = measure(folder, out, *ROWS["op"], "--strategy=pwrite")
    assert result.returncode == 0, result.stderr
    return results["context"]


# --- Which file system it is. ---


def test_a_file_system_without_a_size_is_measured(tmp_path):
    """ramfs does not tell how much is free; that is not the same as nothing."""
    with mounted(tmp_path / "disk", "-t", "ramfs", "gatherbench-test") as folder:
        told = context(folder, tmp_path / "out.json")
        assert told["gatherbench.filesystem"] == "ramfs"
        assert "gatherbench.free_bytes" not in told


def test_the_mount_that_is_seen_is_named(tmp_path):
    """Not one that another mount hides, though its path is the longer one."""
    with tmpfs(tmp_path / "disk") as lower:
        with mounted(lower / "sub", "-t", "ramfs", "hidden"):
            with tmpfs(lower):
                (lower / "sub").mkdir()
                told = context(lower / "sub", tmp_path / "out.json")
    assert told["gatherbench.filesystem"] == "tmpfs"
    assert told["gatherbench.device"] == "gatherbench-test"


def test_a_mount_without_a_source_is_named(tmp_path):
    need_mounts()
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ctypes.CDLL(None, use_errno=True).mount
    assert mount(b"", bytes(folder), b"tmpfs", 0, b"size=1m") == 0
    try:
        told = context(folder, tmp_path / "out.json")
    finally:
        unmount(folder)
    assert told["gatherbench.filesystem"] == "tmpfs"
    assert told["gatherbench.device"] == ""
    assert "size=1024k" in told["gatherbench.mount_options"]


# --- What a file system lacks. ---


def measured(results):
    """The names of rows that were measured; none may have failed."""
    rows = repetitions(results)
    assert not any("error_occurred" in row for row in rows)
    return {row["name"] for row in rows}


def test_blocks_that_cannot_be_allocated_are_refused(tmp_path):
    """Rather than written one byte each, which is what the C library does instead."""
    with disk("ext3", tmp_path) as folder:
        result, results = measure(
            folder,
            tmp_path / "out.json",
            *ROWS["file"],
            "--strategy=pwrite",
            "--preallocate=yes,no",
        )
    assert result.returncode == 0
    assert "fallocate: Operation not supported" in result.stderr
    refused = results["context"]["gatherbench.refused"]
    assert "preallocate:yes" in refused and "fallocate" in refused
    (name,) = measured(results)
    assert "preallocate:yes" not in name


def test_what_cannot_be_told_of_o_direct_is_refused(tmp_path):
    """Without mmap nobody can see whether pages are cached; other rows are measured all the same."""
    with faulty_fs(tmp_path) as folder:
        result, results = measure(
            folder,
            tmp_path / "out.json",
            *["--strategy=pwrite", "--size=4096", "--window=1M", "--direct=yes,no"],
        )
    assert result.returncode == 0
    assert "O_DIRECT" in results["context"]["gatherbench.refused"]
    (name,) = measured(results)
    assert "direct:yes" not in name


# --- A file system that gives faults. ---

STRATEGIES = "write,writev,pwrite,pwritev,pwritev2,coalesce,contiguous,fallback,stdio"


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
