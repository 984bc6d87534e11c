"""Calls that a system refuses: what is not measured is done without, and said once; what is measured is refused."""

import os
import re
import subprocess

import pytest

from brief import ROWS, failed, measure, measured
from fault_table import fault
from injection import can_inject
from mounts import disk, faulty_fs, make_image, mounted
from run_suite import SUITE, WRAPPER

needs_strace = pytest.mark.skipif(not can_inject(), reason="strace cannot inject here")


@pytest.fixture
def work(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def injected(tmp_path, calls, error, *options):
    """A run in which each of these calls fails with that error: its process and its results, or None."""
    work, out = tmp_path / "work", tmp_path / "out.json"
    work.mkdir(exist_ok=True)
    names = ",".join(calls)
    strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null"]
    strace += ["-e", f"trace={names}", "-e", f"inject={names}:error={error}"]
    # A leak cannot be looked for under a tracer.
    found = measure(
        work,
        out,
        *options,
        program=[*strace, *SUITE],
        env={"ASAN_OPTIONS": "detect_leaks=0"},
    )
    assert os.listdir(work) == []
    return found


def without(results):
    return results["context"].get("gatherbench.went_without", "")


def check_excused(result, results, line, rows=2):
    """All rows are measured, and one line says what was done without."""
    assert result.returncode == 0, result.stderr
    assert len(measured(results)) == rows
    assert re.search(line, without(results))
    assert len(re.findall(f"{line}.*measured without it", result.stderr)) == 1


TWO = ["--strategy=pwrite,pwritev"]


@needs_strace
@pytest.mark.parametrize("error", ["EBADF", "EACCES", "EPERM", "EINVAL", "EIO"])
def test_a_lock_that_is_refused_is_done_without(error, tmp_path):
    with fault(error, "flock"):
        found = injected(tmp_path, ["flock"], error, *ROWS["file"], *TWO)
        check_excused(*found, "flock: ")


def test_a_lock_that_a_file_system_refuses_is_done_without(tmp_path):
    with faulty_fs(tmp_path, "--call=flock", "--times=0", "--errno=9") as folder:
        with fault("FUSE: EBADF", "flock"):
            found = measure(folder, tmp_path / "out.json", *ROWS["file"], *TWO)
            check_excused(*found, "flock: Bad file descriptor")


@needs_strace
@pytest.mark.parametrize("error", ["EBADF", "EACCES", "EISDIR", "EIO", "EROFS"])
def test_a_directory_that_cannot_be_synced_is_done_without(error, tmp_path):
    """Rows of files without sync: nothing else of theirs is synced."""
    with fault(error, "fsync of a directory"):
        rows = [*ROWS["file"], *TWO, "--sync=none"]
        result, results = injected(tmp_path, ["fsync"], error, *rows)
        if error == "EIO":  # of the results' file it is one that counts
            assert result.returncode == 1 and results is None
            assert "fsync of the directory: Input/output error" in result.stderr
            assert "failed" not in result.stdout
        else:
            check_excused(result, results, "fsync of the directory: ")
            assert "the results are kept all the same" in result.stderr


@pytest.mark.parametrize("scope", ROWS)
def test_a_directory_that_a_file_system_does_not_sync_is_done_without(scope, tmp_path):
    with faulty_fs(tmp_path, "--call=fsyncdir", "--times=0", "--errno=9") as folder:
        with fault("FUSE: EBADF", "fsyncdir"):
            found = measure(folder, tmp_path / "out.json", *ROWS[scope], *TWO)
            check_excused(*found, "fsync of the directory: Bad file descriptor")


@needs_strace
def test_a_window_that_cannot_be_synced_is_measured(tmp_path):
    with fault("EINVAL", "fsync of a window"):
        found = injected(tmp_path, ["fsync"], "EINVAL", *ROWS["op"], *TWO)
        check_excused(*found, "fsync of the window: Invalid argument")


@needs_strace
@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "EDQUOT"])
def test_a_window_that_is_lost_fails_its_row(error, tmp_path):
    with fault(error, "fsync of a window"):
        out = tmp_path / "out.json"
        result, _ = injected(tmp_path, ["fsync"], error, *ROWS["op"], *TWO)
        assert result.returncode == 1
        assert "fsync the window" in result.stdout
        assert not out.exists()


@needs_strace
@pytest.mark.parametrize("error", ["EPERM", "EACCES", "ENOSYS"])
def test_rights_that_cannot_be_asked_for_stop_nothing(error, tmp_path):
    calls = ["?faccessat2", "?fchmod"]
    with fault(error, "faccessat2"):
        result, results = injected(tmp_path, calls, error, *ROWS["op"], *TWO)
        if error == "EACCES":  # that is an answer
            assert result.returncode == 1
            assert "write to directory" in result.stderr
        else:
            assert result.returncode == 0, result.stderr
            assert len(measured(results)) == 2


# --- What is measured. ---


DENIED = {
    "pwritev": ([*ROWS["op"], *TWO], "pwritev"),
    "pwritev2": ([*ROWS["op"], "--strategy=pwrite,pwritev2"], "pwritev2"),
    "fdatasync": (
        [*ROWS["op"], "--strategy=pwrite", "--sync=none,fdatasync"],
        "fdatasync",
    ),
    "fallocate": (
        [*ROWS["file"], "--strategy=pwrite", "--preallocate=no,yes"],
        "allocate",
    ),
    "mincore": (
        [
            *ROWS["op"],
            "--strategy=pwrite",
            "--size=4k",
            "--window=1m",
            "--direct=no,yes",
        ],
        "mincore",
    ),
    "pipe2": ([*ROWS["op"], "--strategy=write", "--target=null,pipe"], "pipe"),
    "socketpair": (
        [*ROWS["op"], "--strategy=write", "--target=null,unix"],
        "socketpair",
    ),
}


@needs_strace
@pytest.mark.parametrize("error", ["EPERM", "ENOSYS", "EINVAL"])
@pytest.mark.parametrize("call", DENIED)
def test_a_row_whose_call_is_denied_is_refused(call, error, tmp_path):
    """The C library may not put another call in its place, as glibc calls pwritev for pwritev2 without flags."""
    options, name = DENIED[call]
    reason = {"EPERM": "not permitted", "ENOSYS": "not impl", "EINVAL": "Invalid arg"}
    with fault(error, call):
        result, results = injected(tmp_path, [call], error, *options)
        assert result.returncode == 0, result.stderr
        assert not failed(results)
        assert len(measured(results)) == 1
        refused = results["context"]["gatherbench.refused"]
        assert re.search(f"{name}.*: .*{reason[error]}", refused), refused


def test_a_call_is_tried_once_for_all_rows_that_make_it(work, tmp_path):
    if not can_inject():
        pytest.skip("strace cannot inject here")
    log = tmp_path / "log"
    counts = ",".join(map(str, range(1, 31)))
    strace = ["strace", "-f", "-qq", "-e", "trace=pwritev", "-o", log]
    plain = [*ROWS["op"], "--strategy=pwritev", f"--count={counts}", "--size=16"]
    result, results = measure(
        work, tmp_path / "o.json", *plain, program=[*strace, *SUITE]
    )
    assert result.returncode == 0
    calls = len(log.read_text().splitlines())
    rows = 30 * (2 + 2)  # two repetitions, and up to two entries to find the iterations
    assert calls <= rows + 1


def test_a_loopback_that_is_down_is_refused(work, tmp_path):
    down = ["unshare", "-rn"]
    if subprocess.run([*down, "true"], capture_output=True).returncode != 0:
        pytest.skip("no network namespace here")
    result, results = measure(
        work,
        tmp_path / "out.json",
        *[*ROWS["op"], "--strategy=write", "--target=tcp,unix"],
        program=[*down, *SUITE],
    )
    assert result.returncode == 0, result.stderr
    assert (
        "loopback: Network is unreachable" in results["context"]["gatherbench.refused"]
    )
    (name,) = measured(results)
    assert "target:unix" in name


@pytest.mark.skipif(not WRAPPER, reason="this is no emulated program")
def test_what_an_emulator_replaces_is_refused(work, tmp_path):
    """qemu-user before 8.0 knows no pwritev2, so that glibc calls pwritev."""
    result, results = measure(
        work, tmp_path / "out.json", *ROWS["op"], "--strategy=pwrite,pwritev2"
    )
    assert result.returncode == 0
    emulated = results["context"].get("gatherbench.emulated", "")
    if not emulated.startswith("qemu-user 7."):
        pytest.skip("this emulator may know it")
    assert (
        "pwritev2: Function not implemented"
        in results["context"]["gatherbench.refused"]
    )


# --- O_DIRECT. ---

DIRECT = ["--strategy=pwrite,writev", "--count=4", "--window=4m", "--direct=yes,no"]


@pytest.mark.parametrize("size", ["4k", "512"])
def test_o_direct_that_goes_through_the_page_cache_is_refused(size, tmp_path):
    """btrfs writes what has checksums through the cache since Linux 6.15, and drops the pages at once."""
    with disk("btrfs", tmp_path) as folder:
        result, results = measure(
            folder, tmp_path / "out.json", *DIRECT, f"--size={size}"
        )
        assert result.returncode == 0
        if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (6, 15):
            pytest.skip("before Linux 6.15 btrfs goes past it")
        refused = results["context"].get("gatherbench.refused", "")
        assert len(re.findall("O_DIRECT is ignored", refused)) == 2
        assert not any("direct:yes" in name for name in measured(results))


def test_o_direct_on_btrfs_without_checksums_is_measured(tmp_path):
    with disk("btrfs", tmp_path) as folder:
        plain = folder / "plain"
        plain.mkdir()
        if subprocess.run(["chattr", "+C", plain]).returncode != 0:
            pytest.skip("chattr +C does not work here")
        result, results = measure(plain, tmp_path / "out.json", *DIRECT, "--size=4k")
        assert result.returncode == 0
        assert sum("direct:yes" in name for name in measured(results)) == 2


def test_a_file_whose_end_is_no_block_is_refused(tmp_path):
    """A device with blocks of 4096 bytes takes no 512 at the end of a file, though its batches are whole."""
    image = tmp_path / "image"
    make_image(image, "ext4")
    loop = subprocess.run(
        ["losetup", "--find", "--show", "--sector-size=4096", image],
        capture_output=True,
        text=True,
    )
    if loop.returncode != 0:
        pytest.skip(f"no such loop device: {loop.stderr.strip()}")
    device = loop.stdout.strip()
    try:
        subprocess.run(["mkfs.ext4", "-q", "-F", "-b", "4096", device], check=True)
        with mounted(tmp_path / "disk", device) as folder:
            rows = ["--scope=file", "--strategy=pwrite", "--count=2", "--size=4k"]
            result, results = measure(
                folder,
                tmp_path / "out.json",
                *rows,
                "--file-bytes=33280",
                "--direct=yes,no",
            )
            assert result.returncode == 0, result.stderr
            assert (
                "pwrite: Invalid argument" in results["context"]["gatherbench.refused"]
            )
            assert not failed(results)
            result, results = measure(
                folder,
                tmp_path / "out.json",
                *rows,
                "--file-bytes=36864",
                "--direct=yes",
            )
            assert result.returncode == 0, result.stderr
            assert len(measured(results)) == 1
    finally:
        subprocess.run(["losetup", "--detach", device])


# --- The results' file. ---


@pytest.mark.parametrize("length", [245, 255])
def test_a_long_name_of_results_can_be_written(length, work, tmp_path):
    out = tmp_path / ("r" * (length - 5) + ".json")
    result, results = measure(
        work, out, *ROWS["op"], "--target=null", "--strategy=write"
    )
    assert result.returncode == 0, result.stderr
    assert len(measured(results)) == 1
    assert sorted(os.listdir(tmp_path)) == sorted([out.name, "work"])


@needs_strace
@pytest.mark.parametrize(
    "error, kept",
    [
        ("EINVAL", True),
        ("EROFS", True),
        ("EIO", False),
        ("ENOSPC", False),
        ("EDQUOT", False),
    ],
)
def test_results_that_cannot_be_synced_are_kept_unless_they_are_lost(
    error, kept, tmp_path
):
    rows = [*ROWS["op"], "--target=null", "--strategy=write"]
    with fault(error, "fsync of results"):
        result, results = injected(tmp_path, ["fsync"], error, *rows)
        assert (result.returncode == 0) == kept
        assert (results is not None) == kept
        assert ("the results are kept all the same" in result.stderr) == kept
        assert "fsync" in result.stderr
