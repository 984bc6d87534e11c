"""Real file systems: full, read-only, shut down, unreliable; of many kinds; and what the suite refuses to touch."""

import ctypes
import errno
import os
import re
import resource
import threading

import pytest

from fault_table import fault
from mounts import disk, faulty_fs, fill, mounted, need_mounts, tmpfs, unmount
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


def check_failure(result, results, operations, errors):
    """All rows on files failed in one of some operations for one of some reasons; others were measured."""
    assert result.returncode == 1
    messages = failed(results)
    names = {row["name"] for row in repetitions(results)}
    assert set(messages) == {name for name in names if "target:file" in name}
    assert any("target:null" in name for name in names)
    reasons = "|".join(os.strerror(error) for error in errors)
    for name, message in messages.items():
        assert re.fullmatch(
            f"{re.escape(name)}: ({operations}): ({reasons})", message
        ), message
        assert f"gatherbench: {message}\n" in result.stderr


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
                *["--strategy=pwritev", f"--sync={sync}"],
            )
            assert result.returncode == 1
            (message,) = failed(results).values()
            assert message.endswith(f": {sync}: {os.strerror(number)}")


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


# --- Limits. ---


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
