"""selfcheck.py: its judgement of simulated machines, and its measurement."""

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

import numpy as np
import pytest
from commands import selfcheck
from conftest import RESULTS
from gatherstats.compare.selfcheck import EXTRA, preset_lines
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.resampling import draw, smallest_found
from made import BLOG, drifting, independent, repetitions, results

SCRIPT = str(RESULTS / "selfcheck.py")


def made_run(rng, n=60, kind=independent, extra=EXTRA):
    """A run of selfcheck's rows on a machine where time is in proportion to bytes."""
    sizes = [0.0, *extra]
    order = rng.permutation(n * len(sizes)).reshape(len(sizes), n)
    times = kind((order.size,), rng)
    groups = []
    for more, starts in zip(sizes, order):
        size = round(100_000_000 * (1 + more))
        name = BLOG.format("pwrite").replace("100000000", str(size))
        values = list(50 * (1 + more) * times[starts])
        starts = [float(s) for s in starts]
        groups.append(repetitions(name, values, "ms", start_s=starts))
    return results(*groups)


@pytest.fixture
def run(tmp_path, capsys):
    def call(document, *options):
        path = tmp_path / "run.json"
        path.write_text(json.dumps(document))
        status = selfcheck.main([f"--from={path}", *options])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.mark.parametrize(
    "option", ["--seed=-1", "--seed=x", "--from=", "--keep=", "--from=a --keep=b"]
)
def test_bad_options_are_refused(option, capsys):
    with pytest.raises(SystemExit) as end:
        selfcheck.main(option.split())
    assert end.value.code == 2 and "Traceback" not in capsys.readouterr().err


def test_a_quiet_machine(run, rng):
    status, out, err = run(made_run(rng))
    assert (status, err) == (0, "")
    assert "No drift stood out" in out
    assert "One row, 60 repetitions; compared are samples of 30:" in out
    assert re.search(r"False alarms: \d+ of 400 comparisons", out)
    for size in ("1.00", "2.00", "5.00"):
        assert f"\n{size} % more bytes took " in out
    found = re.findall(r"found (\S+) % of the time with 30 repetitions", out)
    assert float(found[0]) > 50 and float(found[1]) > 98 and float(found[2]) == 100
    smallest = re.search(
        r"^Differences under (\S+) % cannot be told here with 30 repetitions\.$",
        out,
        re.M,
    )
    # Means of 30 values that scatter by 1 % differ by 0.26 % (a standard error), and 3.2 of these
    # are found 9 times in 10.
    assert 0.6 < float(smallest[1]) < 1.6


def test_it_says_the_same_twice(run, rng):
    document = made_run(rng, 10)
    assert run(document, "--seed=2") == run(document, "--seed=2")


def test_a_run_under_load_says_so(run, rng):
    document = made_run(rng, 10)
    assert "Under load" not in run(document)[1]
    document["context"]["gatherbench.under_load"] = "others used 60 %"
    assert "Under load: others used 60 %; measure again." in run(document)[1]


def test_drift_and_correlation_are_said(run, rng):
    _, out, _ = run(made_run(rng, 20, drifting))
    before, after = re.search(r"correlation (\S+), without drift (\S+)\.", out).groups()
    assert float(before) > 0.6 and abs(float(after)) < 0.3
    assert "was removed" in out


def test_a_fixed_order_is_not_believed(run, rng):
    document = made_run(rng, 20)
    for i, entry in enumerate(document["benchmarks"]):
        entry["start_s"] = float(i)
    status, out, _ = run(document)
    assert status == 1 and "did not run in random order" in out


def test_a_run_of_other_rows_has_no_known_differences(run, rng):
    document = made_run(rng, 20, extra=(0.0,))
    for entry in document["benchmarks"][20:]:
        for key in ("name", "run_name"):
            entry[key] = entry[key].replace("pwrite", "pwritev")
    status, out, _ = run(document)
    assert status == 0 and "more bytes" not in out and "Differences under" in out


@pytest.mark.parametrize("change", [{"start_s": None}, {"repetitions": 3}])
def test_a_run_that_tells_nothing(run, rng, change):
    document = made_run(rng, 3 if "repetitions" in change else 20)
    for entry in document["benchmarks"]:
        entry.update(change)
    status, out, err = run(document)
    assert (status, out) == (2, "") and "raise --seconds" in err


def test_a_file_that_cannot_be_read(capsys):
    assert selfcheck.main(["--from=/none.json"]) == 2
    assert "/none.json: No such file" in capsys.readouterr().err


def test_the_smallest_difference_follows_the_scatter(rng):
    def smallest(scatter):
        times = rng.lognormal(0, scatter, 200)
        starts = rng.permutation(200).astype(float)
        row = Row(parse_name("a"), times, starts)
        return smallest_found(draw([row], 0, 0, 30, 100, rng))

    small, large = smallest(0.01), smallest(0.03)
    assert large == pytest.approx(3 * small, rel=0.35)
    assert smallest(3.0) is None


def test_halves_are_disjoint_and_of_one_stretch(rng):
    times = np.arange(1.0, 401)
    row = Row(parse_name("a"), times, times)
    # Without noise all of it is drift, so what comes out is not what went in.
    rows = [Row(parse_name("b"), np.ones(400), times), row]
    for base, other in draw(rows, 0, 0, 20, 10, rng):
        assert base.size == other.size == 20
    for base, other in draw([Row(row.name, times, None or times)], 0, 0, 5, 20, rng):
        # Too few for drift: the values are those drawn.
        both = np.concatenate([base.times_s, other.times_s])
        assert np.unique(both).size == 10 and np.ptp(both) == 9


def test_the_preset_has_the_blogs_row_and_three_larger():
    lines = preset_lines(7)
    assert [line.rpartition("=")[2] for line in lines] == (
        ["100000000", "101000000", "102000000", "105000000"]
    )
    assert all("--benchmark_repetitions=7 " in line for line in lines)


# What it launches, with a program that pretends to be the suite.

PROGRAM = """
    import json, os, random, re, signal, sys, time
    given = dict(a.split("=", 1) for a in sys.argv[1:])
    with open(os.environ["LOG"], "a") as log:
        print(json.dumps(sys.argv[1:]), os.getpid(), file=log)
    lines = open(given["--preset-file"]).read().splitlines()
    if os.environ.get("MODE") == "fail":
        print("no space", file=sys.stderr)
        sys.exit(1)
    if os.environ.get("MODE") == "interrupt":
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(60)
    chance, rows = random.Random(1), []
    for i, line in enumerate(lines):
        n = min(int(re.search("repetitions=(\\\\d+)", line)[1]), 12)
        size = int(re.search("file-bytes=(\\\\d+)", line)[1])
        for k in range(n):
            rows.append({
                "name": f"file/strategy:pwrite/file_bytes:{size}", "repetitions": n,
                "family_index": i, "repetition_index": k, "start_s": chance.random(),
                "real_time": size * chance.lognormvariate(0, 0.01)})
    with open(given["--benchmark_out"], "w") as out:
        json.dump({"benchmarks": rows}, out)
"""


def measure(tmp_path, *options, mode=""):
    program = tmp_path / "suite"
    program.write_text(f"#!{sys.executable} -SE\n" + textwrap.dedent(PROGRAM))
    program.chmod(0o755)
    return subprocess.run(
        [sys.executable, SCRIPT, f"--program={program}", *options],
        env={**os.environ, "LOG": str(tmp_path / "log"), "MODE": mode},
        capture_output=True,
        text=True,
    )


def test_it_measures(tmp_path):
    kept = tmp_path / "kept.json"
    done = measure(tmp_path, "--seconds=2", "--dir=/mnt/x", f"--keep={kept}")
    assert done.returncode == 0 and "Differences under" in done.stdout
    assert "repetitions of each row" in done.stderr and kept.exists()
    calls = [
        json.loads(line.rpartition(" ")[0])
        for line in (tmp_path / "log").read_text().splitlines()
    ]
    assert len(calls) == 2 and all("--dir=/mnt/x" in call for call in calls)


def test_a_suite_that_fails(tmp_path):
    done = measure(tmp_path, mode="fail")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no space" in done.stderr and "gave exit status 1" in done.stderr


def test_an_interruption_ends_the_suite(tmp_path):
    done = measure(tmp_path, mode="interrupt")
    assert (done.returncode, done.stdout) == (130, "")
    assert "selfcheck.py: interrupted" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "log").read_text().split()[-1]), 0)


def test_a_suite_that_is_not_there(capsys):
    assert selfcheck.main(["--program=/none/suite"]) == 2
    assert "cannot start /none/suite: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error", [OSError(28, "No space"), OSError(28, "No space", "/t")]
)
def test_temporary_files_that_cannot_be_made(error, monkeypatch, capsys):
    def fail(*words, **options):
        raise error

    monkeypatch.setattr(tempfile, "TemporaryDirectory", fail)
    assert selfcheck.main([]) == 2
    where = error.filename or "temporary files"
    assert capsys.readouterr() == ("", f"selfcheck.py: {where}: No space\n")


@pytest.mark.parametrize("option", ["--seconds=0", "--seconds=x", "--seed=x", "--x"])
def test_bad_usage(option):
    with pytest.raises(SystemExit) as raised:
        selfcheck.main([option])
    assert raised.value.code == 2
