"""alternate.py: order, kept files, interruption, continuation, and bad launches."""

import json
import os
import shlex
import subprocess
import sys
import textwrap

from commands import alternate
import pytest
from conftest import RESULTS
from gatherstats.compare.series import Series

SCRIPT = str(RESULTS / "alternate.py")

# A benchmark program: writes one row around its first argument, and a line into a log.
PROGRAM = """
    import json, os, random, signal, sys, time
    median, log, mode = float(sys.argv[1]), sys.argv[2], (sys.argv[3:] + [""])[0]
    with open(log, "a") as file:
        print(sys.argv[1], os.getpid(), file=file)
    launches = len(open(log).readlines())
    if mode == "interrupt" and launches == 6:
        os.kill(os.getppid(), signal.SIGTERM)
        time.sleep(60)
    if mode == "fail":
        print("first line\\nno such directory", file=sys.stderr)
        sys.exit(3)
    if mode == "silent":
        sys.exit(0)
    chance = random.Random(launches)
    times = [median * chance.lognormvariate(0, 0.01) for _ in range(3)]
    rows = [
        {"name": "row", "repetitions": 3, "repetition_index": i, "real_time": t}
        for i, t in enumerate(times)
    ]
    context = {"gatherbench.filesystem": mode} if mode in ("ext4", "xfs") else {}
    out = [a for a in sys.argv if a.startswith("--benchmark_out=")][0].partition("=")[2]
    with open(out, "w") as file:
        json.dump({"context": context, "benchmarks": rows}, file)
    if mode == "error row":
        sys.exit(1)
    if mode == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    return tmp_path


def command(folder, median, mode=""):
    words = [sys.executable, "-S", "-E", folder / "program.py", median, folder / "log"]
    return shlex.join(map(str, [*words, *([mode] if mode else [])]))


def launched(folder):
    return [line.split()[0] for line in (folder / "log").read_text().splitlines()]


@pytest.fixture
def run(folder, capsys):
    def call(a, b, *options):
        status = alternate.main([a, b, f"--out-dir={folder / 'out'}", *options])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return call


def names(folder):
    return sorted(path.name for path in (folder / "out").iterdir())


def test_a_series_ends_with_its_comparison(folder, run):
    a, b = command(folder, 100), command(folder, 120)
    status, out, err = run(a, b, "--launches=5", "--seed=7")
    assert status == 1 and "1 pair: 1 slower" in out and "5 launches," in out
    assert "launch 1 of 10 (" in err and "launch 10 of 10 (" in err and " s left" in err
    files = [f"{side}-0{i}.json" for side in "ab" for i in range(1, 6)]
    assert names(folder) == sorted([*files, "alternate.json"])
    record = json.loads((folder / "out" / "alternate.json").read_text())
    assert record["seed"] == 7
    assert record["commands"] == {"a": shlex.split(a), "b": shlex.split(b)}
    paths = [str(folder / "out" / name) for name in files]
    from commands import compare

    # The files do not say when they started: it is alternate.py that knows their order.
    assert compare.main(["--old", *paths[:5], "--new", *paths[5:]]) == 3


def test_pairs_are_in_random_order(folder):
    series = Series(folder, {}, 200, 3)
    order = series.order()
    pairs = list(zip(order[::2], order[1::2]))
    assert [{one, other} for one, other in pairs] == (
        [{("a", i), ("b", i)} for i in range(1, 201)]
    )
    assert 70 < sum(one[0] == "a" for one, _ in pairs) < 130
    assert Series(folder, {}, 100, 3).order() == order[:200]
    assert Series(folder, {}, 200, 4).order() != order


def test_launches_follow_that_order(folder, run):
    run(command(folder, 100), command(folder, 101), "--launches=3", "--seed=1")
    order = Series(folder, {}, 3, 1).order()
    assert launched(folder) == [{"a": "100", "b": "101"}[side] for side, _ in order]


def test_interrupted_it_keeps_what_is_whole_and_goes_on(folder):
    a, b = command(folder, 100, "interrupt"), command(folder, 120, "interrupt")
    arguments = [sys.executable, SCRIPT, a, b, "--launches=5", "--out-dir=out"]
    first = subprocess.run(arguments, cwd=folder, capture_output=True, text=True)
    assert (first.returncode, first.stdout) == (128 + 15, "")
    assert "Traceback" not in first.stderr and "the same command again" in first.stderr
    assert len(names(folder)) == 6 and not list((folder / "out").glob(".*"))
    for name in names(folder):
        json.loads((folder / "out" / name).read_text())
    child = int((folder / "log").read_text().split()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    again = shlex.split(first.stderr.splitlines()[-1])
    second = subprocess.run(again, cwd=folder, capture_output=True, text=True)
    assert second.returncode == 1 and "1 pair: 1 slower" in second.stdout
    assert "5 of 10 launches are in out already" in second.stderr
    assert len(launched(folder)) == 11 and len(names(folder)) == 11


def test_two_series_do_not_share_a_folder(folder):
    """The second would remove what the first has not finished."""
    slow = shlex.join([sys.executable, "-c", "import time; time.sleep(60)"])
    first = subprocess.Popen(
        [sys.executable, SCRIPT, slow, slow, "--out-dir=out"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while "launch 1 of" not in first.stderr.readline():
            assert first.poll() is None
        second = subprocess.run(
            [sys.executable, SCRIPT, slow, slow, "--out-dir=out"],
            cwd=folder,
            capture_output=True,
            text=True,
        )
        assert second.returncode == 2
        assert second.stderr.splitlines()[-1] == (
            "alternate.py: out: another process is making its launches"
        )
        assert first.poll() is None
    finally:
        first.terminate()
        first.communicate(timeout=30)


def test_what_a_killed_run_left_is_removed(folder, run):
    left = folder / "out" / ".unfinished-x"
    left.mkdir(parents=True)
    (left / "a-01.json").write_text("{")
    run(command(folder, 100), command(folder, 101), "--launches=1")
    assert names(folder) == ["a-01.json", "alternate.json", "b-01.json"]


@pytest.mark.parametrize(
    "mode, message",
    [
        ("fail", "a-01.json: no results, exit status 3: no such directory"),
        ("silent", "a-01.json: no results, exit status 0: No such file"),
        ("killed", "a-01.json: exit status -9: no message"),
    ],
)
def test_a_launch_without_results(folder, run, mode, message):
    a, b = command(folder, 100, mode), command(folder, 100, mode)
    status, out, err = run(a, b, "--seed=0")
    message = message if "a-01" in err else message.replace("a-01", "b-01")
    assert (status, out) == (2, "") and message in err
    assert names(folder) == ["alternate.json"]


def test_a_row_that_failed_is_a_result(folder, run):
    a, b = command(folder, 100, "error row"), command(folder, 100)
    assert run(a, b, "--launches=1")[0] in (0, 3)
    assert len(names(folder)) == 3


def test_what_must_not_be_compared_ends_with_the_first_pair(folder, run):
    a, b = command(folder, 100, "ext4"), command(folder, 120, "xfs")
    status, out, _ = run(a, b, "--launches=5")
    assert status == 3 and "different file systems" in out and len(names(folder)) == 3
    status, out, _ = run(a, b, "--launches=5", "--across=filesystem")
    assert status == 1 and len(names(folder)) == 11


def test_a_folder_of_another_series(folder, run):
    a, b = command(folder, 100), command(folder, 101)
    run(a, b, "--launches=1", "--seed=1")
    status, _, err = run(a, a, "--launches=1")
    assert status == 2 and "launches of other commands" in err
    status, _, err = run(a, b, "--launches=1", "--seed=2")
    assert status == 2 and "was started with --seed=1" in err
    (folder / "out" / "alternate.json").unlink()
    status, _, err = run(a, b, "--launches=1")
    assert status == 2 and "holds launches, but no alternate.json" in err


@pytest.mark.parametrize(
    "text, reason",
    [
        ("", "the file is empty"),
        ("[" * 100_000, "nested too deeply"),
        ("null", "does not describe"),
        ("{}", "does not describe"),
        ('{"seed": true}', "does not describe"),
        ('{"seed": 1.5}', "does not describe"),
        ('{"seed": 1, "commands": 2}', "launches of other commands"),
    ],
)
def test_a_folder_with_a_damaged_manifest(folder, run, text, reason):
    a, b = command(folder, 100), command(folder, 101)
    manifest = folder / "out" / "alternate.json"
    manifest.parent.mkdir()
    manifest.write_text(text)
    status, out, err = run(a, b, "--launches=1")
    assert (status, out) == (2, "")
    assert reason in err and len(err.splitlines()) == 1
    assert manifest.read_text() == text


def test_results_that_cannot_be_put_in_place(folder, run):
    out = folder / "out"
    meanwhile = f"mkdir {out / 'a-01.json'} {out / 'b-01.json'}"
    words = ["sh", "-c", f'{meanwhile}; exec {command(folder, 100)} "$0" "$@"']
    status, said, err = run(shlex.join(words), shlex.join(words))
    assert (status, said) == (2, "")
    assert err.endswith(f"alternate.py: {out}: Is a directory\n")


def test_a_program_that_is_not_there(folder, run):
    status, out, err = run("/none/program", "/none/program")
    assert (status, out) == (2, "")
    assert "cannot start /none/program: No such file or directory" in err


def test_a_folder_that_cannot_be_made(folder, run):
    status, _, err = run("a", "b", "--out-dir=/dev/null/x")
    assert status == 2 and "/dev/null/x: Not a directory" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["a"],
        ["a", ""],
        ["a", "'"],
        ["a", "b --benchmark_out=x"],
        ["a", "b", "--launches=0"],
        ["a", "b", "--launches=x"],
        ["a", "b", "--seed=x"],
    ],
)
def test_bad_usage(arguments, capsys):
    with pytest.raises(SystemExit) as raised:
        alternate.main(arguments)
    assert raised.value.code == 2 and "usage:" in capsys.readouterr().err
