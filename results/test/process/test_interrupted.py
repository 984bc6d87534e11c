"""Interrupted or killed at any moment, a script leaves its output as it was, or the complete new one."""

import concurrent.futures
import contextlib
import gzip
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
from importlib.util import find_spec

import numpy as np
import pytest
from commands import Command, alternate
from conftest import RESULTS
from made_account import account_run
from made_maps import COALESCE, GATHER, by_size, grid_run

SEED = int(os.environ.get("GATHERBENCH_SEED", random.SystemRandom().randrange(2**32)))
# For each script and each kind of signal.
MOMENTS = int(os.environ.get("GATHERBENCH_MOMENTS", 4))
CATCHABLE = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
OLD = b"old"

# A benchmark program that takes a moment, and writes its results a half at a time.
SUITE = """
    import json, os, re, sys, time
    given = dict(a.split("=", 1) for a in sys.argv[1:] if "=" in a)
    preset = given.get("--preset-file")
    sizes = re.findall("file-bytes=(\\\\d+)", open(preset).read()) if preset else [1]
    rows = [
        {"name": f"file/strategy:pwrite/file_bytes:{size}", "repetitions": 12,
         "repetition_index": i, "family_index": int(size), "start_s": 12.0 * k + i,
         "real_time": int(size) * (1 + i / 100)}
        for k, size in enumerate(sizes) for i in range(12)
    ]
    text = json.dumps({"benchmarks": rows})
    with open(given["--benchmark_out"], "w") as out:
        for half in (text[:99], text[99:]):
            time.sleep(0.05)
            out.write(half)
            out.flush()
"""

# PNG needs a package that the scripts do without otherwise.
PNG = " --png={out}/map.png" if find_spec("cairosvg") else ""

# Each script's arguments; {out} is its output folder.
SCRIPTS = {
    "report": "{blog} {grid} -o {out}/report.html",
    "blog_table": "{blog} --out={out}/table.md",
    "crossover": "{grid} --svg={out}/map.svg" + PNG,
    "keep": "{grid} -o {out}/grid.json.gz",
    "pictures": "--from={data} --into={out}",
    "selfcheck": "--program={suite} --seconds=1 --keep={out}/run.json",
    "alternate": "{suite} {suite} --launches=3 --out-dir={out}",
    "compare": "{grid} --by=strategy --format=json",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The names of the scripts' input files."""
    rng = np.random.default_rng(1)
    folder = tmp_path_factory.mktemp("data")
    times = by_size({"16": COALESCE, "512": GATHER})
    (folder / "blog.json").write_text(json.dumps(account_run(rng)))
    (folder / "grid.json").write_text(json.dumps(grid_run(times, rng)))
    suite = folder / "suite"
    suite.write_text(f"#!{sys.executable} -SE\n" + textwrap.dedent(SUITE))
    suite.chmod(0o755)
    return {
        "data": folder,
        "suite": suite,
        "blog": folder / "blog.json",
        "grid": folder / "grid.json",
    }


def command(script, data, out):
    arguments = SCRIPTS[script].format(**data, out=out)
    return [sys.executable, Command(script).script, *shlex.split(arguments)]


def is_complete(path):
    content = path.read_bytes()
    if path.suffix == ".html":
        return content.endswith(b"</html>\n")
    if path.suffix == ".svg":
        return content.rstrip().endswith(b"</svg>")
    if path.suffix == ".png":
        return content.endswith(b"IEND\xaeB`\x82")
    if path.suffix == ".gz":
        return bool(json.loads(gzip.decompress(content)))
    if path.suffix == ".json":
        return bool(json.loads(content))
    return content.startswith(b"## ") and content.endswith(b"\n")


def is_caught(process, number):
    with open(f"/proc/{process.pid}/status") as status:
        caught = re.search(r"^SigCgt:\s*([0-9a-f]+)", status.read(), re.M)[1]
    return bool(int(caught, 16) >> (number - 1) & 1)


def wait_until_caught(process):
    """Before that Python itself has SIGINT, and shows where it was."""
    with contextlib.suppress(FileNotFoundError):
        while process.poll() is None and not is_caught(process, signal.SIGTERM):
            time.sleep(0.001)


def interrupted(words, number, moment_s):
    """Run a script, send the signal after that time, and return the status and the output."""
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        if number == signal.SIGINT:
            wait_until_caught(process)
        time.sleep(moment_s)
        process.send_signal(number)
        said = process.communicate(timeout=60)[1]
    finally:
        process.kill()
        process.wait()
    return process.returncode, said


def at_random_moments(script, data, folder, numbers, check):
    whole = folder / "whole"
    whole.mkdir()
    begin = time.monotonic()
    status = subprocess.run(command(script, data, whole), capture_output=True)
    length_s = time.monotonic() - begin
    names = {path.name for path in whole.iterdir()}
    generator = random.Random(f"{SEED} {script} {numbers}")
    moments = [(generator.choice(numbers), generator.random()) for _ in range(MOMENTS)]

    def one(i):
        number, share = moments[i]
        out = folder / str(i)
        out.mkdir()
        for name in names if script != "alternate" else ():
            (out / name).write_bytes(OLD)
        words = command(script, data, out)
        try:
            ended, said = interrupted(words, number, share * length_s)
            check(script, data, out, names, (number, ended, status.returncode), said)
        except AssertionError as why:
            where = f"signal {number} after {share * length_s:.4f} of {length_s:.4f} s"
            raise AssertionError(f"GATHERBENCH_SEED={SEED}: {where}") from why

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(MOMENTS)))


def assert_old_or_complete(out, names):
    for path in out.iterdir():
        if path.name in names:
            assert path.read_bytes() == OLD or is_complete(path), path.name


def check_caught(script, data, out, names, statuses, said):
    number, ended, usual = statuses
    assert ended in (128 + number, -number, usual)
    assert "Traceback" not in said and "Exception" not in said
    if ended == 128 + number:
        assert f"{script}.py: interrupted" in said
    if ended == -number:  # before it was caught, or when all is done
        assert said == ""
    assert {path.name for path in out.iterdir()} <= names
    assert_old_or_complete(out, names)


def check_killed(script, data, out, names, statuses, said):
    assert_old_or_complete(out, names)
    left = {path.name for path in out.iterdir()} - names
    assert all(re.fullmatch(r".*\.partial|\.unfinished-\w+", name) for name in left)
    if not left:
        return
    # The next run takes over the files that are left, or removes them.
    subprocess.run(command(script, data, out), capture_output=True, timeout=60)
    assert {path.name for path in out.iterdir()} == names
    assert all(is_complete(path) for path in out.iterdir())


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_interrupted_script_leaves_the_old_or_the_new(script, data, tmp_path):
    at_random_moments(script, data, tmp_path, CATCHABLE, check_caught)


@pytest.mark.parametrize("script", sorted(SCRIPTS.keys() - {"compare"}))
def test_a_killed_script_leaves_the_old_or_the_new(script, data, tmp_path):
    at_random_moments(script, data, tmp_path, [signal.SIGKILL], check_killed)


# Most moments of a script's run are before it writes; here all of them are in the writing.

WRITER = """
    import sys
    sys.path.insert(0, sys.argv[1])
    from gatherstats.process.atomic_file import write_atomically
    from gatherstats.process.output import run_main

    def main():
        print("starts", flush=True)
        while True:
            for letter in b"ab":
                write_atomically(sys.argv[2], bytes([letter]) * 3_000_000)

    run_main("writer.py", main)
"""


@pytest.mark.parametrize("number", [*CATCHABLE, signal.SIGKILL])
def test_in_the_middle_of_writing(number, tmp_path):
    generator = random.Random(f"{SEED} {number}")
    out = tmp_path / "out"
    for _ in range(2 * MOMENTS):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITER), RESULTS, out],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout.readline() == "starts\n"
            moment_s = 0.01 + generator.random() * 0.1
            time.sleep(moment_s)
            process.send_signal(number)
            said = process.communicate(timeout=60)[1]
        finally:
            process.kill()
            process.wait()
        where = f"GATHERBENCH_SEED={SEED}: after {moment_s:.4f} s"
        if out.exists():
            content = out.read_bytes()
            assert content in (b"a" * 3_000_000, b"b" * 3_000_000), where
        names = {path.name for path in tmp_path.iterdir()}
        if number == signal.SIGKILL:
            assert names <= {"out", "out.partial"}, where
        else:
            assert names <= {"out"}, where
            assert process.returncode == 128 + number
            assert said == "writer.py: interrupted\n"


def test_a_second_signal_ends_it_at_once(tmp_path):
    """What it waits for does not end by itself: a program that ignores that it should."""
    (tmp_path / "stubborn").write_text("trap '' TERM; touch up; exec sleep 60\n")
    words = [sys.executable, alternate.script, "sh stubborn", "sh stubborn"]
    process = subprocess.Popen(
        [*words, f"--out-dir={tmp_path / 'series'}"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        while process.poll() is None and not (tmp_path / "up").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.3)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=8)[1]
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 128 + signal.SIGINT
    assert "interrupted" in said and "Traceback" not in said


# A program in which a signal or two come at a moment that is known.
AT_A_MOMENT = """
    import errno, os, signal, subprocess, sys
    sys.path.insert(0, sys.argv[1])
    from gatherstats.process import children
    from gatherstats.process import interruption
    from gatherstats.process.output import run_main

    def fail():
        with interruption.signals_wait():
            signal.raise_signal(signal.SIGTERM)
            raise OSError(errno.EIO, "an error")

    def start():
        popen = subprocess.Popen

        def popen_and_signals(*words, **options):
            child = popen(*words, **options)
            print(child.pid, flush=True)
            for number in (signal.SIGTERM, signal.SIGINT):
                signal.raise_signal(number)
            return child

        subprocess.Popen = popen_and_signals
        with interruption.signals_raise():
            children.run_command(["sleep", "60"])

    def main():
        try:
            globals()[sys.argv[2]]()
        except interruption.Interrupted as interrupted:
            return 128 + interrupted.number

    sys.exit(run_main("program.py", main))
"""


def at_a_moment(which):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(AT_A_MOMENT), RESULTS, which],
        capture_output=True,
        text=True,
        timeout=30,
    )


def test_a_signal_counts_for_more_than_an_error():
    done = at_a_moment("fail")
    assert done.returncode == 128 + signal.SIGTERM
    assert done.stderr == "program.py: interrupted\n"


def test_no_signal_leaves_a_child_that_has_just_been_started():
    done = at_a_moment("start")
    assert done.returncode == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_what_is_ignored_stays_ignored(data, tmp_path):
    """As under nohup."""
    out = tmp_path / "grid.json.gz"
    process = subprocess.Popen(
        command("keep", data, tmp_path),
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    wait_until_caught(process)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert is_complete(out)
