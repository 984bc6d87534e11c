"""Every way to write from the command line: threads, latencies, verification, presets and what is refused."""

import os
import re

import pytest

from run_suite import read, repetitions, run, table_of

FAST = ["--benchmark_min_time=0.001", "--benchmark_repetitions=3"]
STREAMS = ["pipe", "unix", "tcp"]


def listed(heading):
    """The names below one heading of --list."""
    section = run("--list").stdout.split(heading)[1].split("\n\n")[0]
    return re.findall(r"(?m)^  (\w+) ", section)


def test_every_target_and_strategy_is_measured_or_refused_with_a_reason(tmp_path):
    out = tmp_path / "out.json"
    strategies, targets = listed("Strategies"), listed("Targets")
    assert {"pwrite", "none"} < set(strategies) and set(STREAMS) < set(targets)
    result = run(
        f"--strategy={','.join(strategies)}",
        f"--target={','.join(targets)}",
        "--size=24+100",
        "--verify",
        f"--dir={tmp_path}",
        f"--benchmark_out={out}",
        *FAST,
    )
    assert result.returncode == 0
    results = read(out)
    measured = {row["name"] for row in repetitions(results)}
    refused = results["context"]["gatherbench.refused"].splitlines()
    assert len(measured) + len(refused) == len(strategies) * len(targets)
    # Positioned strategies cannot write to streams.
    positioned = {line.split("/")[1] for line in refused}
    assert "strategy:pwrite" in positioned and "strategy:write" not in positioned
    assert len(refused) == len(positioned) * len(STREAMS)
    assert all("offsets" in line for line in refused)
    assert result.stderr.count("refused:") == len(refused)


@pytest.mark.parametrize("shared", [False, True], ids=["own files", "shared file"])
def test_threads_are_timed_per_op_and_their_throughput_is_summed(shared, tmp_path):
    out = tmp_path / "out.json"
    options = [
        "--strategy=pwritev",
        "--threads=1,2",
        "--size=4k",
        "--verify",
        f"--dir={tmp_path}",
    ]
    if shared:
        options.append("--shared-file")
    result = run(*options, f"--benchmark_out={out}", *FAST)
    assert result.returncode == 0, result.stderr
    rows = [row for row in repetitions(read(out)) if row["threads"] == 2]
    assert len(rows) == 3
    for row in rows:
        assert row["name"].endswith("/real_time/threads:2")
        assert ("shared_file:yes" in row["name"]) == shared
        # Counters are one thread's, not the sum.
        assert row["calls"] == 1
        assert row["buffers"] == 4
        # Google Benchmark 1.7.1 alone would show half of the time of an op. What it adds is a barrier.
        assert row["real_time"] >= 0.99 * row["op_ns"]
        # Two threads write twice the bytes in an op's time.
        expected = 2 * 16384 / (row["real_time"] * 1e-9)
        assert row["bytes_per_second"] == pytest.approx(expected, rel=0.05)


def test_latencies_are_ordered_and_say_how_many_ops_they_rest_on(tmp_path):
    out = tmp_path / "out.json"
    options = ["--strategy=write", "--target=null", "--threads=1,2", "--latency"]
    assert run(*options, f"--benchmark_out={out}", *FAST).returncode == 0
    for row in repetitions(read(out)):
        told = [row[key] for key in ("p50", "p99", "p99.9", "max") if key in row]
        assert 0 < told[0] and told == sorted(told)
        assert row["latency_ops"] == row["iterations"] * row["repetitions"]
        assert "label" not in row


@pytest.mark.parametrize(
    "ops, told",
    [(99, []), (100, ["p99"]), (999, ["p99"]), (1000, ["p99", "p99.9"])],
)
def test_percentiles_rest_on_all_repetitions_and_need_enough_ops(ops, told, tmp_path):
    """One op a repetition: what is told is told of all of them together."""
    out = tmp_path / "out.json"
    options = ["--scope=file", "--target=null", "--strategy=write", "--file-bytes=4k"]
    options += ["--latency", f"--benchmark_repetitions={ops}"]
    result = run(*options, f"--benchmark_out={out}")
    assert result.returncode == 0
    rows = repetitions(read(out))
    assert len(rows) == ops
    for row in rows:
        assert row["latency_ops"] == ops
        assert [key for key in ("p99", "p99.9") if key in row] == told
        assert {row[key] for key in ("p50", *told, "max")} == {
            rows[0][key] for key in ("p50", *told, "max")
        }
    head, line = table_of(result.stdout)
    assert head.count("p99") == 2
    assert line.split()[-4:].count("-") == 2 - len(told)


def test_latencies_that_do_not_fit_are_said(tmp_path):
    out = tmp_path / "out.json"
    options = ["--strategy=none", "--target=null", "--latency"]
    options += ["--benchmark_min_time=1", "--benchmark_repetitions=1"]
    assert run(*options, f"--benchmark_out={out}").returncode == 0
    for row in repetitions(read(out)):
        assert row["iterations"] > row["latency_ops"] == 1 << 20
        assert f"{1 << 20} of {row['iterations']} ops" in row["label"]


def test_the_time_of_a_sync_call_is_told_apart(tmp_path):
    out = tmp_path / "out.json"
    options = ["--strategy=pwrite", "--sync=none,fdatasync,odsync", f"--dir={tmp_path}"]
    assert run(*options, f"--benchmark_out={out}", *FAST).returncode == 0
    for row in repetitions(read(out)):
        if "sync:fdatasync" in row["name"]:
            assert row["write_ns"] > 0 and row["sync_ns"] > 0
            # The two parts are all of the op; starting the clock is not in them.
            assert row["write_ns"] + row["sync_ns"] <= 1.01 * row["real_time"]
        else:
            assert "sync_ns" not in row and "write_ns" not in row


def test_a_growing_log_is_synced_batch_by_batch(tmp_path):
    out = tmp_path / "out.json"
    result = run(
        "--scope=file",
        "--file-bytes=64k",
        "--strategy=pwritev",
        "--sync=fdatasync,odsync",
        "--sync-each",
        "--verify",
        f"--dir={tmp_path}",
        f"--benchmark_out={out}",
        *FAST,
    )
    assert result.returncode == 0
    results = read(out)
    names = {row["name"].split("/real_time")[0] for row in repetitions(results)}
    assert names == {
        "file/strategy:pwritev/target:file/sync:fdatasync/sync_each:yes/file_bytes:65536/verify:yes/count:4/size:4096"
    }
    assert "no call after a batch" in results["context"]["gatherbench.refused"]


def test_direct_is_measured_only_where_it_is_real(tmp_path):
    out = tmp_path / "out.json"
    options = [
        "--strategy=pwrite,stdio",
        "--direct=yes",
        "--size=4k,1000",
        f"--benchmark_out={out}",
    ]
    result = run(*options, f"--dir={tmp_path}", *FAST)
    refused = [line for line in result.stderr.splitlines() if "refused" in line]
    assert any("size:1000" in line and "whole blocks" in line for line in refused)
    assert any("strategy:stdio" in line and "aligned" in line for line in refused)
    if result.returncode == 0:
        assert {row["name"] for row in repetitions(read(out))} == {
            "op/strategy:pwrite/target:file/sync:none/direct:yes/count:4/size:4096/real_time"
        }
    else:
        # A file system without it: the row that could have been measured is refused too.
        assert any(
            "strategy:pwrite/" in line and "size:4096" in line for line in refused
        )
        assert not out.exists()


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="no tmpfs")
def test_direct_that_a_file_system_ignores_is_refused():
    result = run("--strategy=pwrite", "--direct=yes", "--dir=/dev/shm", *FAST)
    assert result.returncode == 3
    # Older kernels refuse the flag on tmpfs, newer ones take and ignore it.
    assert "O_DIRECT is ignored" in result.stderr or "Invalid argument" in result.stderr
    assert "every row was refused" in result.stderr


def test_a_stream_target_serves_the_grid(tmp_path):
    listed = run(
        *["--preset=grid", "--target=unix", "--strategy=write,writev,coalesce"],
        "--benchmark_list_tests",
    ).stdout.splitlines()
    assert len(listed) == 8 * 7 * 3
    assert {line.split("/")[1] for line in listed} == {
        "strategy:write",
        "strategy:writev",
        "strategy:coalesce",
    }


def test_the_grid_is_the_map_that_the_documents_promise():
    listed = run("--preset=grid", "--benchmark_list_tests").stdout.splitlines()
    assert len(listed) == 8 * 7 * 3 * 2
    assert {line.split("/")[1] for line in listed} == {
        "strategy:pwrite",
        "strategy:pwritev",
        "strategy:coalesce",
    }


@pytest.mark.parametrize("preset", listed("\nPresets"))
def test_no_preset_asks_for_what_makes_no_sense(preset, tmp_path):
    result = run(f"--preset={preset}", "--dry-run", f"--dir={tmp_path}")
    assert result.returncode == 0
    assert "refused" not in result.stderr
    assert "rows, " in result.stdout and "about " in result.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("preset", ["ladder", "wal", "net", "claims", "syscall"])
def test_presets_run_and_verify(preset, tmp_path):
    out = tmp_path / "out.json"
    options = [
        f"--preset={preset}",
        "--verify",
        f"--dir={tmp_path}",
        f"--benchmark_out={out}",
    ]
    result = run(*options, "--benchmark_min_time=1e-6", "--benchmark_repetitions=1")
    assert result.returncode == 0, result.stderr
    assert not any("error_occurred" in row for row in read(out)["benchmarks"])
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_list_shows_what_a_preset_file_asks_for(tmp_path):
    preset = tmp_path / "mine"
    preset.write_text("--strategy=writev --target=tcp --count=2 --size=24+64\n")
    result = run(f"--preset-file={preset}", "--list")
    assert f"Preset file {preset}" in result.stdout
    assert "op/strategy:writev/target:tcp/sync:none/count:2/size:24+64" in result.stdout


def test_more_than_two_gib_go_to_dev_null(tmp_path):
    out = tmp_path / "out.json"
    options = ["--target=null", "--strategy=writev", "--count=3", "--size=1g"]
    result = run(
        *options,
        "--benchmark_min_time=1e-9",
        "--benchmark_repetitions=1",
        f"--benchmark_out={out}",
    )
    assert result.returncode == 0
    (row,) = repetitions(read(out))
    assert row["calls"] == 3
    assert row["bytes_per_second"] * row["real_time"] * 1e-9 == pytest.approx(3 << 30)


def test_a_processor_that_is_not_there_is_refused():
    result = run("--cpu=1023", "--strategy=write", "--target=null", *FAST)
    assert result.returncode == 3
    assert "no such processor" in result.stderr
    assert "every row was refused" in result.stderr


def test_files_that_stay_are_added_up_for_the_space_that_is_needed(tmp_path):
    def needed(*options):
        result = run(
            "--strategy=write", "--window=1000000g", f"--dir={tmp_path}", *options
        )
        assert result.returncode == 1
        return float(result.stderr.split(" MB are needed")[0].split()[-1])

    one = needed()
    assert needed("--threads=2") == pytest.approx(2 * one)
    assert needed("--direct=no,yes") == pytest.approx(2 * one)
    assert needed("--threads=2", "--shared-file") == pytest.approx(2 * one)


def test_cpu_time_of_threads_is_not_multiplied(tmp_path):
    out = tmp_path / "out.json"
    options = ["--strategy=none", "--target=null", "--threads=2", "--cpu=0"]
    options += ["--benchmark_min_time=0.05", "--benchmark_repetitions=3"]
    assert run(*options, f"--benchmark_out={out}").returncode == 0
    # Both threads share one processor, so an op cannot take more of its time than passes.
    assert all(
        row["cpu_time"] <= 0.75 * row["real_time"] for row in repetitions(read(out))
    )


@pytest.mark.parametrize("target", STREAMS)
def test_the_reader_of_a_stream_does_not_spin(target, tmp_path):
    """While the writer only computes, the process uses one processor: `none` writes nothing."""
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    options = [f"--target={target}", "--strategy=none", "--benchmark_min_time=0.3"]
    result = run(*options, "--benchmark_repetitions=1")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert result.returncode == 0
    # A sleeping reader switches a few times; one that spins through system calls shows as system time.
    assert after.ru_stime - before.ru_stime < 0.1
