"""Real file systems, small ones: of many kinds, full, read-only, shut down."""

import ctypes
import errno
import fcntl
import os
import re
import struct
import threading
from contextlib import ExitStack, contextmanager

import pytest

from brief import BRIEF, ROWS, STRATEGIES, check_failure, failed, measure, measured
from fault_table import fault
from mounts import disk, faulty_fs, fill, image, make_image, mounted, need_mounts
from mounts import thin_disk, tmpfs, unmount
from run_suite import SUITE, read, repetitions, run

MS_RDONLY, MS_REMOUNT = 1, 32  # sys/mount.h


DISKS = ["tmpfs", "ext4", "xfs", "btrfs"]


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


@contextmanager
def overlay(upper, tmp_path):
    """An overlay whose upper layer is a folder of some file system."""
    lower = tmp_path / "lower"
    for path in lower, upper / "upper", upper / "work":
        path.mkdir()
    layers = f"lowerdir={lower},upperdir={upper}/upper,workdir={upper}/work"
    with mounted(tmp_path / "over", "-t", "overlay", "-o", layers, "ov") as folder:
        yield folder


@contextmanager
def directory(kind, tmp_path):
    """A folder on a file system of a kind, with a name that is not ASCII."""
    with ExitStack() as stack:
        if kind == "fuse":
            folder = stack.enter_context(faulty_fs(tmp_path))
        elif kind == "overlay":
            below = stack.enter_context(tmpfs(tmp_path / "below", "size=16m"))
            folder = stack.enter_context(overlay(below, tmp_path))
        else:
            folder = stack.enter_context(disk(kind, tmp_path))
        folder /= "Füße 日本 \N{GRINNING FACE}"
        folder.mkdir()
        yield folder


# A chroot often has no /proc.
WITHOUT_PROC = ["unshare", "--mount", "sh", "-c"]
WITHOUT_PROC += ['mount -t tmpfs none /proc && exec "$0" "$@"']


@pytest.mark.parametrize("proc", ["proc", "no proc"])
@pytest.mark.parametrize("kind", [*DISKS, "ext3", "overlay", "fuse"])
def test_each_kind_of_file_system_is_named_and_measured(kind, proc, tmp_path):
    program = SUITE if proc == "proc" else [*WITHOUT_PROC, *SUITE]
    out = tmp_path / "out.json"
    with directory(kind, tmp_path) as folder:
        if run("--version", program=program).returncode != 0:
            pytest.skip("this program does not start without /proc")
        for scope in ROWS:
            result, results = measure(
                folder,
                out,
                *[*ROWS[scope], f"--strategy={STRATEGIES}", "--verify"],
                program=program,
            )
            assert result.returncode == 0, result.stderr
            assert len(measured(results)) == len(STRATEGIES.split(","))
            told = results["context"]
            # What a number tells, where there is no name, is less than that.
            names = (
                {kind} if proc == "proc" else {kind, "ext4" if kind == "ext3" else kind}
            )
            if kind == "fuse" and proc == "proc":
                names = {"fuse.faulty_fs"}
            assert told["gatherbench.filesystem"] in names
            assert told["gatherbench.directory"] == str(folder)


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


class Meanwhile:
    """Does something to a file system once the suite has made a file in it, again and again until it returns True."""

    def __init__(self, folder, action):
        self.folder, self.action = folder, action
        self.ended, self.error = threading.Event(), None
        self.thread = threading.Thread(target=self.act)

    def act(self):
        try:
            while not any(self.folder.glob(".gatherbench-*/file-*")):
                if self.ended.wait(0.001):
                    return
            while not self.action() and not self.ended.wait(0.001):
                pass
        except BaseException as error:
            self.error = error

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        assert self.error is None


# Rows that would take some seconds, if nothing happened meanwhile.
LONG = ["--scope=file", "--file-bytes=4M", "--benchmark_repetitions=500"]
LONG += ["--strategy=pwrite,pwritev", "--target=file,null"]


@pytest.mark.parametrize("kind", DISKS)
def test_a_disk_that_fills_up_fails_the_rows_on_it(kind, tmp_path):
    with disk(kind, tmp_path) as folder, fault("disk fills up", kind):
        (folder / "somebody-elses").touch()
        with Meanwhile(folder, lambda: bool(fill(folder)) and False):
            result, results = measure(folder, tmp_path / "out.json", *LONG)
        rows = repetitions(results)
        assert len(rows) == 2000
        check_failure(result, results, "pwritev?|open|create directory", [errno.ENOSPC])


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_a_disk_that_fills_up_while_old_and_new_are_there_fails_the_row(kind, tmp_path):
    with disk(kind, tmp_path) as folder, fault("disk fills up", kind):
        (folder / "somebody-elses").touch()
        options = [*LONG, "--target=file", "--create=rename", "--strategy=pwritev"]
        with Meanwhile(folder, lambda: bool(fill(folder)) and False):
            result, results = measure(folder, tmp_path / "out.json", *options)
        assert len(repetitions(results)) == 500
        [message] = failed(results).values()
        calls = "pwritev|open|rename|create directory|(create|write|fsync) the old file"
        assert re.fullmatch(f"({calls}): {os.strerror(errno.ENOSPC)}", message)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_what_cannot_be_written_back_fails_the_sync(kind, tmp_path):
    """Delayed allocation, on a disk that is smaller than it says: the writes succeed, and fsync tells."""
    with thin_disk(kind, tmp_path) as folder, fault("thin disk", kind):
        result, results = measure(
            folder,
            tmp_path / "out.json",
            *["--scope=file", "--file-bytes=8M", "--strategy=pwritev", "--sync=fsync"],
        )
        assert result.returncode == 1
        (message,) = failed(results).values()
        reasons = "|".join(map(os.strerror, (errno.ENOSPC, errno.EIO)))
        # btrfs becomes read-only at the first failure, which may come before the row's own.
        read_only = f"|open: {os.strerror(errno.EROFS)}" if kind == "btrfs" else ""
        assert re.search(f"^(fsync: ({reasons}){read_only})$", message)


@pytest.mark.parametrize("kind", DISKS)
def test_results_on_a_full_disk_are_told_to_be_missing(kind, tmp_path):
    """What was there before stays."""
    with disk(kind, tmp_path) as folder, fault("results on a full disk", kind):
        out, work = folder / "out.json", tmp_path / "work"
        out.write_text("{}")
        work.mkdir()
        fill(folder)
        # Results of some size: a small file system may have a few bytes in a corner.
        options = ["--strategy=pwrite,pwritev", "--benchmark_repetitions=100"]
        result, results = measure(work, out, *ROWS["file"], *options)
        assert result.returncode == 1
        assert re.search(f"gatherbench: .*{out}.*: No space left", result.stderr)
        assert results == {}
        assert sorted({*os.listdir(folder)} - {"lost+found"}) == [
            "out.json",
            "somebody-elses",
        ]


# --- Read-only, and shut down. ---


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_read_only_mount_is_refused(kind, tmp_path):
    make_image(tmp_path / "image", kind)
    with image(tmp_path / "disk", tmp_path / "image", "ro") as folder:
        with fault("read-only", kind):
            for options in ROWS.values():
                result, results = measure(folder, tmp_path / "out.json", *options)
                assert result.returncode == 1
                assert result.stderr == (
                    f"gatherbench: write to directory {folder}: Read-only file system\n"
                )
                assert results is None


def test_results_on_a_read_only_mount_are_refused(tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    with tmpfs(tmp_path / "disk", "ro,size=1m") as folder:
        out = folder / "out.json"
        result, _ = measure(work, out, *ROWS["file"])
        assert result.returncode == 1
        assert (
            result.stderr
            == f"gatherbench: create {out}.partial: Read-only file system\n"
        )


EXT4_IOC_SHUTDOWN = 0x8004587D  # linux/fs: also what xfs takes
LOG_FLUSH = struct.pack("I", 1)


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_a_file_system_that_is_shut_down_fails_the_rows_on_it(kind, tmp_path):
    def shut_down():
        fd = os.open(folder, os.O_RDONLY)
        fcntl.ioctl(fd, EXT4_IOC_SHUTDOWN, LOG_FLUSH)
        os.close(fd)
        return True

    out = tmp_path / "out.json"
    make_image(tmp_path / "image", kind)
    with fault("shut down", kind):
        with image(tmp_path / "disk", tmp_path / "image") as folder:
            with Meanwhile(folder, shut_down):
                result = run(*LONG, f"--dir={folder}", f"--benchmark_out={out}")
        check_failure(result, read(out), ".*", [errno.EIO, errno.EROFS])
        assert "is left; the next run there removes it" in result.stderr
        with image(tmp_path / "disk", tmp_path / "image") as folder:
            run(*BRIEF, *ROWS["file"], f"--dir={folder}")
            assert {*os.listdir(folder)} <= {"lost+found"}


@pytest.mark.parametrize("kind", DISKS)
def test_a_file_system_that_becomes_read_only_fails_the_rows_on_it(kind, tmp_path):
    """It can while no file is open for writing: half of the time, for rows on null take as long."""
    libc = ctypes.CDLL(None)
    rows = "--scope=file --strategy=pwrite,pwritev --benchmark_repetitions=500"
    preset = tmp_path / "preset"
    preset.write_text(
        f"{rows} --target=file --file-bytes=4M\n{rows} --target=null --file-bytes=64M\n"
    )

    def remount(flags):
        return libc.mount(None, bytes(folder), None, MS_REMOUNT | flags, None) == 0

    out = tmp_path / "out.json"
    with disk(kind, tmp_path) as folder, fault("becomes read-only", kind):
        with Meanwhile(folder, lambda: remount(MS_RDONLY)):
            options = [f"--preset-file={preset}", f"--dir={folder}"]
            result = run(*options, f"--benchmark_out={out}")
        check_failure(result, read(out), ".*", [errno.EROFS])
        assert "is left; the next run there removes it" in result.stderr
        assert remount(0)
        measured_now = run(*BRIEF, *ROWS["file"], f"--dir={folder}")
        assert measured_now.returncode == 0
        assert {*os.listdir(folder)} <= {"lost+found"}


@pytest.mark.parametrize(
    "option, says, share", [("rw", "yes", 1), ("noauto_da_alloc", "no", 0)]
)
def test_whether_closing_a_replaced_file_writes_it_out_is_told(
    option, says, share, tmp_path
):
    """The device sees all of a file that .NET's calls made, though it was removed; or nothing of it."""
    out = tmp_path / "out.json"
    with image(
        tmp_path / "disk", make_image(tmp_path / "image", "ext4"), option
    ) as folder:
        options = [
            "--scope=file",
            "--create=new,dotnet",
            "--strategy=pwritev",
            "--file-bytes=1m",
        ]
        result = run(*options, "--quick", f"--dir={folder}", f"--benchmark_out={out}")
    assert result.returncode == 0
    assert read(out)["context"]["gatherbench.auto_da_alloc"] == says
    for row in repetitions(read(out)):
        written = share if "create:dotnet" in row["name"] else 0
        assert row["device_bytes"] == pytest.approx(
            written << 20, abs=16384
        )  # and its metadata
