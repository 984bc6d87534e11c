"""A row that fails is an error in all its repetitions, and costs the other rows nothing."""

import errno
import resource
import signal
import subprocess
import time

import pytest

from run_suite import FAULTY, SMALL, SUITE, read, repetitions, run

# One row makes 16 calls a repetition, the other 4, in random order; alone, a row's calls can be counted.
ONE_ROW = [*SMALL, "--strategy=pwrite", "--benchmark_repetitions=5"]


@pytest.mark.parametrize(
    "call", [1, 16, 17, 40, 65, 80], ids=lambda call: f"call {call} of 80"
)
def test_a_failed_repetition_fails_its_row(call, tmp_path):
    out = tmp_path / "out.json"
    result = run(
        *ONE_ROW,
        f"--dir={tmp_path}",
        f"--benchmark_out={out}",
        program=FAULTY,
        env={"GATHER_INJECT_CALL": str(call)},
    )
    assert result.returncode == 1
    assert "pwrite: No space left on device" in result.stderr
    assert "failed" in result.stdout
    rows = read(out)["benchmarks"]
    assert len(rows) == 5
    for row in rows:
        assert row["error_occurred"] is True
        assert "pwrite: No space left on device" in row["error_message"]
        assert row["real_time"] == 0
        assert "bytes_per_second" not in row
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_without_a_fault_the_faulty_program_measures(tmp_path):
    out = tmp_path / "out.json"
    assert run(*ONE_ROW, f"--benchmark_out={out}", program=FAULTY).returncode == 0
    assert not any("error_occurred" in row for row in read(out)["benchmarks"])


@pytest.mark.parametrize("call", [1, 50, 99])
def test_other_rows_go_on(call, tmp_path):
    out = tmp_path / "out.json"
    result = run(
        *SMALL,
        "--strategy=pwrite,pwritev,contiguous",
        "--benchmark_repetitions=5",
        f"--benchmark_out={out}",
        program=FAULTY,
        env={"GATHER_INJECT_CALL": str(call)},
    )
    assert result.returncode == 1
    rows = repetitions(read(out))
    assert len(rows) == 15
    failed = {row["name"] for row in rows if "error_occurred" in row}
    good = [row for row in rows if row["name"] not in failed]
    assert len(failed) == 1
    assert len(good) == 10
    assert all(row["real_time"] > 0 for row in good)
    assert all("error_occurred" in row for row in rows if row["name"] in failed)


def test_calls_that_the_kernel_did_not_see_are_labelled(tmp_path):
    out = tmp_path / "out.json"
    interrupted = {"GATHER_INJECT_CALL": "40", "GATHER_INJECT_ERROR": str(errno.EINTR)}
    options = [*ONE_ROW, f"--dir={tmp_path}", f"--benchmark_out={out}"]
    assert run(*options, program=FAULTY, env=interrupted).returncode == 0
    rows = repetitions(read(out))
    differences = [row["calls"] - row["kernel_calls"] for row in rows]
    assert sorted(differences) == [0, 0, 0, 0, 1]
    labelled = ["differ" in row.get("label", "") for row in rows]
    assert labelled == [difference == 1 for difference in differences]


def test_a_file_that_may_not_grow_is_an_error_of_the_row(tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    result = subprocess.run(
        [*SUITE, *SMALL, "--strategy=pwritev", "--quick", f"--dir={tmp_path}"],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert "pwritev: File too large" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_results_disk_is_reported(tmp_path):
    out = tmp_path / "out.json"

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    result = subprocess.run(
        [
            *SUITE,
            "--target=null",
            "--strategy=write",
            "--quick",
            f"--benchmark_out={out}",
        ],
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert str(out) in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_leaves_whole_results_and_nothing_else(tmp_path):
    out = tmp_path / "out.json"
    process = subprocess.Popen(
        [*SUITE, "--preset=blog", f"--dir={tmp_path}", f"--benchmark_out={out}"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        process.wait(timeout=1)
    except subprocess.TimeoutExpired:
        pass
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == 128 + 15
    if out.exists():  # some row had four repetitions
        read(out)
    assert {path.name for path in tmp_path.iterdir()} <= {"out.json"}


def test_an_ignored_hangup_stays_ignored(tmp_path):
    """As under nohup."""
    out = tmp_path / "out.json"
    options = [
        "--preset=blog",
        "--benchmark_filter=target:null",
        f"--benchmark_out={out}",
    ]
    process = subprocess.Popen(
        [*SUITE, *options],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    time.sleep(0.1)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=60) == 0
    assert len(repetitions(read(out))) == 300
