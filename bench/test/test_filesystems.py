"""Real file systems: full, read-only, shut down, unreliable; of many kinds; and what the suite refuses to touch."""

import ctypes
import os

import pytest

from mounts import mounted, need_mounts, tmpfs, unmount
from run_suite import read, run

# A row of each scope, in files so small that they take no time.
ROWS = {
    "file": ["--scope=file", "--file-bytes=64000", "--count=4", "--size=1000"],
    "op": ["--scope=op", "--window=64000", "--count=4", "--size=1000"],
}


def measure(folder, out, *options):
    """Runs a row or some in a folder, which must be as before; returns the process and the results."""
    before = sorted(os.listdir(folder))
    result = run(*options, "--quick", f"--dir={folder}", f"--benchmark_out={out}")
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
