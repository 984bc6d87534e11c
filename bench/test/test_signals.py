"""A signal at any moment: what is finished is kept, nothing else stays, and the status says which signal it was."""

import collections
import concurrent.futures
import fcntl
import itertools
import json
import os
import random
import re
import signal
import struct
import subprocess
import termios
import time

import pytest

from run_suite import SMALL, SUITE, read, run, table_of

SEED = int(os.environ.get("GATHERBENCH_SEED", random.SystemRandom().randrange(2**32)))
# For each shape of a run; all shapes together make a hundred and more.
MOMENTS = int(os.environ.get("GATHERBENCH_MOMENTS", 9))
CATCHABLE = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
LEAST = 4  # repetitions of a row that was cut short
OLD = '{"old": true}\n'


def presets():
    listed = run("--list").stdout.split("\nPresets (--preset)\n")[1]
    return re.findall(r"^  (\w+) ", listed, re.M)


# Every preset, made short; and runs that are mostly filling a window, trying what a directory can do, or writing results.
SHORT = ["--file-bytes=1m", "--window=16m", "--benchmark_repetitions=2"]
SHORT_OPS = ["--benchmark_min_time=1e-4"]
# Of a preset whose rows each sync a file twenty times a repetition.
FEWER = {"save": ["--create=new,rename", "--strategy=pwrite,pwritev"]}
SHAPES = {
    f"preset {name}": [f"--preset={name}", *SHORT]
    + ([] if name in ("blog", "prealloc") else SHORT_OPS)
    + FEWER.get(name, [])
    for name in presets()
}
SHAPES |= {
    "fills a window": ["--window=64m", "--strategy=pwrite,pwritev", "--quick"],
    "tries O_DIRECT": ["--direct=no,yes", "--count=1,4", "--size=4k,16k,64k"]
    + ["--window=1m", "--strategy=pwrite,pwritev", "--quick", *SHORT_OPS],
    "writes long results": ["--scope=file", "--target=null", "--file-bytes=16k"]
    + ["--strategy=pwrite,pwritev", "--benchmark_repetitions=2000"],
    "threads": ["--target=null,pipe,file", "--threads=1,2", "--window=1m", "--quick"]
    + SHORT_OPS,
}
outcomes = collections.Counter()


class Place:
    """A directory to measure in, one for the results, and old results in it."""

    def __init__(self, folder):
        self.work, self.results = folder / "work", folder / "results"
        self.work.mkdir(parents=True)
        self.results.mkdir()
        self.out = self.results / "out.json"
        self.out.write_text(OLD)

    def command(self, options):
        return [*SUITE, *options, f"--dir={self.work}", f"--benchmark_out={self.out}"]

    def start(self, options, **more):
        return subprocess.Popen(
            self.command(options),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **more,
        )

    def interrupted_at(self, moment_s, options, number):
        """Runs with options, sends the signal after that time, and returns the status."""
        process = self.start(options)
        try:
            time.sleep(moment_s)
            process.send_signal(number)
            return process.wait(timeout=60)
        finally:
            process.kill()
            process.wait()

    def names(self):
        return sorted(path.name for path in self.work.iterdir()) + sorted(
            path.name for path in self.results.iterdir()
        )


def rows_of(results):
    rows = collections.defaultdict(list)
    for row in results["benchmarks"]:
        if row["run_type"] == "iteration":
            rows[row["name"]].append(row)
    return rows


def check_rows(rows, names, repetitions):
    """Each row is whole, cut short or interrupted; returns whether all are whole."""
    assert set(rows) == set(names)
    whole = kept = 0
    for row in rows.values():
        failed = ["error_occurred" in repetition for repetition in row]
        if any(failed):
            assert all(failed)
            assert all(one["error_message"] == "interrupted" for one in row)
            assert all(one["real_time"] == 0 for one in row)
            continue
        kept += 1
        assert all(one["real_time"] > 0 for one in row)
        assert all(one["repetitions"] == len(row) for one in row)
        if len(row) == repetitions:
            whole += 1
        else:
            assert len(row) >= LEAST
            said = f"cut short: {len(row)} of {repetitions} repetitions"
            assert all(one["label"].endswith(said) for one in row)
    assert kept > 0
    return whole == len(rows)


def check_caught(place, status, number, names, repetitions):
    assert place.names() == ["out.json"]
    if status == -number:  # before it was caught, and before anything was made
        assert place.out.read_text() == OLD
        outcomes["before it was caught"] += 1
        return
    if place.out.read_text() == OLD:  # no row had enough repetitions
        assert status == 128 + number
        outcomes["nothing to keep"] += 1
        return
    all_whole = check_rows(rows_of(read(place.out)), names, repetitions)
    if status == 0:
        assert all_whole
        outcomes["after the end"] += 1
    else:
        assert status == 128 + number
        outcomes["whole all the same" if all_whole else "interrupted"] += 1


def check_killed(place, status, number, names, repetitions):
    assert status in (0, -number)
    allowed = r"\.gatherbench-[0-9a-f]{16}|out\.json(\.partial)?"
    assert all(re.fullmatch(allowed, name) for name in place.names())
    if place.out.read_text() != OLD:
        assert check_rows(rows_of(read(place.out)), names, repetitions)
    outcomes["killed"] += 1
    after = subprocess.run(
        place.command([*SMALL, "--quick"]), capture_output=True, timeout=60
    )
    assert after.returncode == 0
    assert place.names() == ["out.json"]
    assert len(rows_of(read(place.out))) == 3


def at_random_moments(folder, options, numbers, check):
    begin = time.monotonic()
    whole = Place(folder / "whole")
    subprocess.run(whole.command(options), capture_output=True, timeout=60)
    length_s = time.monotonic() - begin
    rows = rows_of(read(whole.out))
    repetitions = len(next(iter(rows.values())))
    # The options, too: each shape has moments of its own.
    generator = random.Random(f"{SEED} {options} {numbers}")
    shares = [generator.random() for _ in range(MOMENTS)]
    chosen = generator.choices(numbers, k=MOMENTS)

    def one(i):
        place = Place(folder / str(i))
        number, moment_s = chosen[i], shares[i] * length_s
        where = f"GATHERBENCH_SEED={SEED}: signal {number} after {moment_s:.4f} of {length_s:.4f} s"
        try:
            status = place.interrupted_at(moment_s, options, number)
            check(place, status, number, rows, repetitions)
        except (AssertionError, ValueError, OSError, subprocess.SubprocessError) as why:
            raise AssertionError(where) from why

    # Two at a time, for half of the time is waiting.
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(MOMENTS)))


@pytest.mark.parametrize("shape", SHAPES)
def test_a_signal_at_any_moment_keeps_what_is_finished(shape, tmp_path):
    at_random_moments(tmp_path, SHAPES[shape], CATCHABLE, check_caught)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_killed_run_leaves_is_removed_by_the_next(shape, tmp_path):
    at_random_moments(tmp_path, SHAPES[shape], [signal.SIGKILL], check_killed)


def test_the_moments_fell_into_the_runs():
    """Otherwise the tests above would show nothing."""
    print(f"GATHERBENCH_SEED={SEED}", dict(outcomes))
    if not outcomes["killed"] or outcomes.total() == outcomes["killed"]:
        pytest.skip("they were not all run")
    assert outcomes["nothing to keep"] + outcomes["interrupted"] >= len(SHAPES)


def wait_until(condition):
    """Fails after a time that no machine takes."""
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def lasting_file(folder):
    """Whether one is there for longer than those that are only tried out."""
    before = set(folder.glob("*/file-*"))
    time.sleep(0.3)
    return before & set(folder.glob("*/file-*"))


@pytest.mark.parametrize("first, second", itertools.permutations(CATCHABLE, 2))
def test_a_second_signal_ends_an_op_that_takes_long(first, second, tmp_path):
    place = Place(tmp_path)
    # Sixty-seven million durable writes: more than anybody waits for, on a tmpfs too.
    stuck = ["--scope=file", "--sync=osync", "--strategy=pwrite", "--count=1"]
    process = place.start([*stuck, "--size=1", "--file-bytes=64m"])
    try:
        wait_until(lambda: lasting_file(place.work))
        process.send_signal(first)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.2)
        process.send_signal(second)
        assert process.wait(timeout=10) == 128 + second
    finally:
        process.kill()
        process.wait()
    assert place.out.read_text() == OLD
    assert place.names() != ["out.json"]
    # What stays behind is the next run's to remove.
    subprocess.run(
        place.command([*SMALL, "--quick"]), check=True, capture_output=True, timeout=60
    )
    assert place.names() == ["out.json"]


@pytest.mark.parametrize("number", CATCHABLE)
def test_before_anything_is_made_a_signal_does_what_it_always_does(number, tmp_path):
    preset = tmp_path / "preset"
    os.mkfifo(preset)  # nobody writes: reading the options never ends
    place = Place(tmp_path / "place")
    process = place.start([f"--preset-file={preset}"])
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
        process.send_signal(number)
        assert process.wait(timeout=10) == -number
    finally:
        process.kill()
        process.wait()
    assert place.names() == ["out.json"]
    assert place.out.read_text() == OLD


def used_s(process):
    """Seconds of processor time."""
    words = open(f"/proc/{process.pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def interrupt_after(place, options, seconds):
    """Runs until so much processor time is used; returns the process and what it printed."""
    process = subprocess.Popen(
        place.command(options),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        wait_until(lambda: used_s(process) >= seconds)
        process.send_signal(signal.SIGINT)
        return process, *process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("shown", ["table", "json"])
def test_an_interrupted_run_keeps_the_repetitions_that_were_made(shown, tmp_path):
    place = Place(tmp_path)
    options = ["--target=null", "--strategy=write,writev", "--latency"]
    # Some forty of two hundred repetitions; a row that has fewer than four of them is as likely as a false alarm.
    options += ["--benchmark_min_time=0.05", "--benchmark_repetitions=100"]
    options += [f"--benchmark_format={shown}"] if shown != "table" else []
    process, screen, messages = interrupt_after(place, options, 2)
    assert process.returncode == 128 + signal.SIGINT
    results = read(place.out)
    rows = rows_of(results)
    assert not check_rows(rows, rows, 100) and len(rows) == 2
    counts = {name: len(row) for name, row in rows.items()}
    for row in results["benchmarks"]:
        if row.get("aggregate_name") == "mean":
            times = [one["real_time"] for one in rows[row["run_name"]]]
            assert row["iterations"] == len(times)
            assert row["real_time"] == pytest.approx(sum(times) / len(times))
    for row in rows.values():
        assert row[0]["latency_ops"] == sum(one["iterations"] for one in row)
    context = results["context"]
    said = "cut short by SIGINT: 0 of 2 rows have all 100 repetitions, 2 fewer, and 0 too few to be kept"
    assert context["gatherbench.cut_short"] == "SIGINT"
    assert said in context["gatherbench.spoiled"].splitlines()
    # One line, however many rows there are; besides it only what else may have spoiled the figures.
    assert messages.count("cut short") == 1 and f"gatherbench: {said}\n" in messages
    assert "interrupted" not in messages
    if shown == "json":
        assert {row["repetitions"] for row in json.loads(screen)["benchmarks"]} == set(
            counts.values()
        )
    else:
        assert said in screen.splitlines()
        head, *lines = table_of(screen)
        assert re.search(r" reps +p50 ", head)
        assert [int(line.split()[-5]) for line in lines] == list(counts.values())


def test_rows_with_too_few_repetitions_are_interrupted_in_one_line(tmp_path):
    """One of two rows is slow and has no four repetitions in that time."""
    place = Place(tmp_path)
    options = ["--scope=file", "--strategy=write", "--count=1", "--size=16,1m"]
    options += ["--file-bytes=1m", "--target=null", "--benchmark_repetitions=2000"]
    process, screen, messages = interrupt_after(place, options, 0.5)
    assert process.returncode == 128 + signal.SIGINT
    rows = rows_of(read(place.out))
    check_rows(rows, rows, 2000)
    assert messages.count("\n") == 1 + screen.count("under load")


def test_old_results_stay_where_no_row_has_four_repetitions(tmp_path):
    place = Place(tmp_path)
    sizes = ",".join(str(size) for size in range(1, 22))
    options = ["--target=null", "--strategy=write", f"--size={sizes}", "--quick"]
    options += ["--benchmark_min_time=2", "--benchmark_repetitions=100"]
    process, screen, messages = interrupt_after(place, options, 0.3)
    assert process.returncode == 128 + signal.SIGINT
    assert place.out.read_text() == OLD
    assert place.names() == ["out.json"]
    assert screen == ""
    assert messages == (
        "gatherbench: interrupted by SIGINT: no row has 4 repetitions, so nothing is kept\n"
    )


def waiting_bytes(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def test_signals_do_not_cut_what_a_slow_reader_gets(tmp_path):
    """The table waits in the pipe's buffer when the signal comes; nothing of it is lost."""
    sizes = ",".join(str(size) for size in range(1, 1500))
    options = ["--target=null", "--strategy=none", f"--size={sizes}"]
    options += ["--benchmark_repetitions=1", "--benchmark_min_time=1e-9"]
    place = Place(tmp_path)
    process = subprocess.Popen(
        place.command(options), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    try:
        wait_until(
            lambda: waiting_bytes(process.stdout) > 60_000
        )  # full, but for a write
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        table = process.stdout.read().decode()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    assert len(table.encode()) > 65536
    rows = rows_of(read(place.out))
    assert len(rows) == 1499
    assert len(table_of(table)) == 1 + 1499
