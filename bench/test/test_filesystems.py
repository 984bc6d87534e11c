"""Real file systems, small ones: of many kinds, full, read-only, shut down."""

import ctypes
import errno
import os
import re
import threading

import pytest

from brief import BRIEF, ROWS, check_failure, measure, measured
from fault_table import fault
from mounts import disk, faulty_fs, fill, mounted, need_mounts, tmpfs, unmount
from run_suite import repetitions


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


# --- Full disks. ---

DISKS = ["tmpfs", "ext4", "xfs", "btrfs"]


@pytest.mark.parametrize("kind", DISKS)
def test_a_full_disk_is_refused_before_anything_is_written(kind, tmp_path):
    with disk(kind, tmp_path) as folder, fault("full disk", kind):
        fill(folder)
        changed = os.stat(folder).st_mtime_ns
        for options in ROWS["file"], ROWS["op"], ["--preset=blog"]:
            result, results = measure(folder, tmp_path / "out.json", *options)
            assert result.returncode == 1
            assert re.fullmatch(
                f"gatherbench: {folder}: [0-9.]+ MB are needed and 0.0 MB are free\n",
                result.stderr,
            )
            assert results is None
        assert os.stat(folder).st_mtime_ns == changed


@pytest.mark.parametrize("free, enough", [(104, False), (106, True)])
def test_the_room_that_the_blog_needs_is_told(free, enough, tmp_path):
    """100 MB, and a twentieth more."""
    options = ["--preset=blog", "--benchmark_filter=contiguous/target:file"]
    with tmpfs(tmp_path / "disk", f"size={free * 10**6 // 4096 * 4096}") as folder:
        result, _ = measure(folder, tmp_path / "out.json", *options, *BRIEF)
    assert (result.returncode == 0) == enough
    told = "105.0 MB are needed and 104.0 MB are free"
    assert (told in result.stderr) == (not enough)


class Eater:
    """Somebody else, who eats the room of a file system once the suite has begun to write to it."""

    def __init__(self, folder):
        self.folder, self.ended = folder, threading.Event()
        self.thread = threading.Thread(target=self.eat)

    def eat(self):
        while not self.ended.wait(0.001):
            if any(
                name.startswith(".gatherbench-") for name in os.listdir(self.folder)
            ):
                fill(self.folder)

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_fills_up_fails_the_rows_on_it(kind, tmp_path):
    with disk(kind, tmp_path) as folder, fault("disk fills up", kind):
        (folder / "somebody-elses").touch()
        with Eater(folder):
            result, results = measure(
                folder,
                tmp_path / "out.json",
                *["--scope=file", "--file-bytes=4M", "--benchmark_repetitions=500"],
                *["--strategy=pwrite,pwritev", "--target=file,null"],
            )
        rows = repetitions(results)
        assert len(rows) == 2000
        check_failure(result, results, "pwritev?|open|create directory", [errno.ENOSPC])
