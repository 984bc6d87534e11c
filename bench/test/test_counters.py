"""Each counter agrees with somebody else's count: the disk's, strace's, perf's, the file system's, the machine's."""

import os
import re
import subprocess
import time

import pytest

from brief import BRIEF, measure
from mounts import disk, device_statistics
from run_suite import SMALL, SUITE, WRAPPER, read, repetitions, run, strace_works

FILE_BYTES = 8 << 20
NOISE = 256 << 10  # of the file system's own: a journal, inodes, superblocks
PROOF = 4 << 20  # before the rows, to see whether syncs reach the disk
ONE_FILE = ["--scope=file", f"--file-bytes={FILE_BYTES}", "--size=64k", "--count=1"]
ONE_FILE += ["--strategy=pwrite", "--buffers=distinct"]


def rows_of(results):
    rows = repetitions(results)
    if "device_bytes" not in rows[0]:
        pytest.skip("this kernel does not count a thread's bytes")
    return rows


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_device_bytes_are_those_that_the_disk_saw(kind, tmp_path):
    """None of a file that was deleted before it was written out, and all of one that was synced."""
    with disk(kind, tmp_path) as folder:
        for sync, expected in ("none", 0), ("fsync", FILE_BYTES):
            os.sync()
            before = device_statistics(folder)
            _, results = measure(
                folder, tmp_path / "out.json", *ONE_FILE, f"--sync={sync}"
            )
            os.sync()
            rows = rows_of(results)
            seen = device_statistics(folder)["bytes"] - before["bytes"]
            total = expected * ("folios" in rows[0])  # an op that is not timed
            for row in rows:
                assert row["device_bytes"] == pytest.approx(expected, abs=NOISE)
                total += row["device_bytes"]
            assert total - NOISE <= seen <= total + PROOF + 4 * NOISE


def test_calls_are_those_that_perf_counts(tmp_path):
    events = ["syscalls:sys_enter_pwrite64", "syscalls:sys_enter_pwritev"]
    command = ["perf", "stat", "-x,", "-o", tmp_path / "perf"]
    command += [argument for event in events for argument in ("-e", event)]
    try:
        able = subprocess.run([*command, "true"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("perf is missing")
    if able.returncode or "not" in (tmp_path / "perf").read_text() or WRAPPER:
        pytest.skip("perf counts no system calls of this program here")
    out = tmp_path / "out.json"
    options = [*SMALL, *BRIEF, "--strategy=pwrite,pwritev", "--buffers=distinct"]
    run(
        *options,
        f"--dir={tmp_path}",
        f"--benchmark_out={out}",
        program=[*command, *SUITE],
    )
    counted = {
        name: int(count)
        for count, name in re.findall(
            r"^(\d+),,\w+:sys_enter_(\w+)", (tmp_path / "perf").read_text(), re.M
        )
    }
    for strategy, call in ("pwrite", "pwrite64"), ("pwritev", "pwritev"):
        rows = repetitions(read(out), strategy)
        tried = 1  # before the run, to see whether this directory takes it
        observed = [row["calls"] for row in rows[:1] if "folios" in row]  # not timed
        assert sum([row["calls"] for row in rows] + observed) == counted[call] - tried
        assert all(row["kernel_calls"] == row["calls"] for row in rows)


def test_folios_are_those_that_perf_counts(tmp_path):
    """A file that is written by single pages has a folio for each; and so has perf, for each file."""
    command = ["perf", "stat", "-x,", "-e", "filemap:mm_filemap_add_to_page_cache"]
    command += ["-o", tmp_path / "perf"]
    try:
        able = subprocess.run([*command, "true"], capture_output=True)
    except FileNotFoundError:
        pytest.skip("perf is missing")
    if able.returncode or "not" in (tmp_path / "perf").read_text() or WRAPPER:
        pytest.skip("perf counts no folios of this program here")
    pages = 2000
    out = tmp_path / "out.json"
    options = ["--scope=file", f"--file-bytes={pages * 4096}", "--size=4k", "--count=1"]
    options += [
        "--strategy=pwrite",
        "--benchmark_repetitions=5",
        "--benchmark_min_time=1e-9",
    ]
    run(
        *options,
        f"--dir={tmp_path}",
        f"--benchmark_out={out}",
        program=[*command, *SUITE],
    )
    assert read(out)["context"]["gatherbench.folios"] == "counted"
    counted = int(
        re.search(r"^(\d+),,filemap", (tmp_path / "perf").read_text(), re.M)[1]
    )
    for row in repetitions(read(out)):
        assert (
            pages <= row["folios"] <= 1.05 * pages
        )  # and of what the file system itself reads
        files = 6  # with the one that is not timed
        assert files * pages <= counted <= files * row["folios"] + pages


def test_folios_that_cannot_be_counted_are_absent_with_the_reason(tmp_path):
    """As for a user who may not use the kernel's tracepoints."""
    out = tmp_path / "out.json"
    filtered = ["strace", "-f", "-qq", "-o", "/dev/null", "--seccomp-bpf"]
    filtered += [
        "-e",
        "trace=perf_event_open",
        "-e",
        "inject=perf_event_open:error=EACCES",
    ]
    if not strace_works() or WRAPPER:
        pytest.skip("strace cannot inject here")
    options = [*SMALL, *BRIEF, "--strategy=pwrite", f"--dir={tmp_path}"]
    env = {"ASAN_OPTIONS": "detect_leaks=0"}  # it cannot run under a tracer
    result = run(
        *options, f"--benchmark_out={out}", program=[*filtered, *SUITE], env=env
    )
    assert result.returncode == 0, result.stderr
    assert all("folios" not in row for row in repetitions(read(out)))
    said = read(out)["context"]["gatherbench.folios"]
    assert re.fullmatch(r"not counted: (tracefs|perf_event_open): [\w ]+", said)


def dirty_bytes():
    with open("/proc/meminfo") as file:
        return int(re.search(r"(?m)^Dirty: +(\d+) kB", file.read())[1]) << 10


def test_dirty_bytes_are_those_of_the_machine(tmp_path):
    """A file that waits to be written back is among them."""
    waiting = 16 << 20
    os.sync()
    (tmp_path / "waiting").write_bytes(os.urandom(waiting))
    before = dirty_bytes()
    out = tmp_path / "out.json"
    run(*SMALL, "--strategy=pwrite", f"--dir={tmp_path}", f"--benchmark_out={out}")
    if min(before, dirty_bytes()) < waiting:
        pytest.skip("nothing waits here: it is memory, or was written back at once")
    for row in repetitions(read(out)):
        assert waiting <= row["dirty_bytes"]


def test_buffers_and_bytes_are_those_of_the_files(tmp_path):
    """--verify holds the length of the files."""
    out = tmp_path / "out.json"
    options = ["--scope=file", "--file-bytes=1000000", "--size=16000", "--count=4"]
    options += ["--strategy=pwritev", "--verify", *BRIEF]
    started = time.monotonic()
    run(*options, f"--dir={tmp_path}", f"--benchmark_out={out}")
    ended = time.monotonic()
    for row in repetitions(read(out)):
        assert row["buffers"] == -(-1000000 // 16000)
        seconds = row["real_time"] * {"ns": 1e-9, "us": 1e-6}[row["time_unit"]]
        assert row["bytes_per_second"] * seconds == pytest.approx(1000000, rel=1e-6)
        assert 0 <= row["start_s"] <= ended - started
