"""Hostile files cause clean errors only, in bounded time and memory."""

import contextlib
import functools
import gzip
import io
import json
import os
import resource
import subprocess
import sys
import tracemalloc

import hostile
import pytest
from conftest import RESULTS
from gatherstats.claims.claims_file import PUBLIC
from gatherstats.compare import selfcheck_command
from gatherstats.data import reader as loading
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import repetitions, results

from commands import blog_table
from commands import claims
from commands import compare
from commands import cross_table
from commands import crossover
from commands import keep
from commands import report
from commands import selfcheck

# Meson's suite "slow" asks for more.
EXAMPLES = int(os.environ.get("GATHERBENCH_EXAMPLES", "60"))

# The same examples every time.
hostile_settings = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def outcome(script, *arguments):
    """Run a script as a user would see it; returns (status, stdout)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = script.main(list(map(str, arguments)))
    assert status in (0, 1, 2, 3)
    assert out.getvalue() or err.getvalue() or not status
    for line in err.getvalue().splitlines():
        assert line.startswith(f"{script.program}: ") and line.isprintable()
    return status, out.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def good(folder):
    path = folder / "good.json"
    path.write_bytes(hostile.encode(hostile.DOCUMENTS[1]))
    return path


@hostile_settings
@given(hostile.files())
def test_any_file_is_shown_or_refused(folder, good, data):
    path = folder / "file.json"
    path.write_bytes(data)
    for script, options in (
        (blog_table, ()),
        (compare, ("--by=strategy",)),
        (compare, (good, "--format=markdown")),
        (crossover, ()),
        (claims, ()),
        (report, ("-o", folder / "report.html")),
        (keep, ("-o", folder / "kept.json.gz")),
    ):
        _, out = outcome(script, path, *options)
        assert all(line.replace("\xa0", " ").isprintable() for line in out.split("\n"))
    for script, options in (
        (compare, (path, "--format=json", "--force")),
        (crossover, ("--format=json",)),
        (claims, ("--format=json",)),
    ):
        _, out = outcome(script, path, *options)
        if out:
            json.loads(out, parse_constant=pytest.fail)


@settings(hostile_settings, max_examples=EXAMPLES // 6)
@given(hostile.files(), hostile.files())
def test_any_launches_are_shown_or_refused(folder, good, one, other):
    launches = folder / "launches"
    launches.mkdir(exist_ok=True)
    for name, data in (("a-01", one), ("a-02", one), ("b-01", other), ("b-02", other)):
        (launches / f"{name}.json").write_bytes(data)
    outcome(cross_table, launches)
    a, b = (sorted(launches.glob(f"{side}-*")) for side in "ab")
    outcome(compare, "--old", *a, "--new", *b)


@settings(hostile_settings, max_examples=EXAMPLES // 6)
@given(hostile.files())
def test_any_run_is_checked_or_refused(folder, data):
    path = folder / "run.json"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        check = functools.partial(selfcheck_command.check, tries=20)
        patch.setattr(selfcheck_command, "check", check)
        outcome(selfcheck, f"--from={path}")


@hostile_settings
@given(hostile.files(json.loads(PUBLIC[0].read_bytes())))
def test_any_claims_are_checked_or_refused(folder, data):
    path, run = folder / "claims.json", folder / "claimed.json"
    path.write_bytes(data)
    run.write_bytes(hostile.encode(hostile.DOCUMENTS[5]))
    outcome(claims, run, f"--claims={path}")


@hostile_settings
@given(st.binary(max_size=200))
def test_any_bytes_are_refused(folder, data):
    path = folder / "bytes.json"
    path.write_bytes(data)
    assert outcome(blog_table, path) == (2, "")


def test_a_small_file_that_unpacks_to_a_large_one(folder, monkeypatch):
    monkeypatch.setattr(loading, "_LARGEST_BYTES", 1 << 20)
    path = folder / "bomb.json"
    path.write_bytes(gzip.compress(b" " * (64 << 20)))
    tracemalloc.start()
    try:
        assert outcome(blog_table, path) == (2, "")
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def test_many_small_values_are_refused_before_they_take_memory(folder):
    path = folder / "values.json"
    path.write_text('{"benchmarks": [' + "{}," * 8_000_000 + "{}]}")
    tracemalloc.start()
    try:
        assert outcome(blog_table, path) == (2, "")
        assert tracemalloc.get_traced_memory()[1] < 128 << 20
    finally:
        tracemalloc.stop()


def test_a_file_without_an_end():
    """With as little memory as a run of some size needs."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    result = subprocess.run(
        [sys.executable, str(RESULTS / "blog_table.py"), "/dev/zero"],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=limit,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "blog_table.py: /dev/zero: it holds more than 256 MiB\n"


KEYED = "op/strategy:{}/target:{}/sync:none/count:{}/size:{}/real_time"
CROWDS = {
    "targets": lambda i: KEYED.format(("write", "writev")[i % 2], i // 2, 4, 64),
    "sizes": lambda i: KEYED.format(("write", "writev")[i % 2], "file", 4, i // 2),
    "counts": lambda i: KEYED.format(("write", "writev")[i % 2], "file", i // 2, 64),
    "strategies": lambda i: KEYED.format(f"s{i}", "file", 4, 64),
    "keys": lambda i: f"op/strategy:x/k{i}:1",
    "components": lambda i: f"op/strategy:x{i}" + "/a:b" * 400,
}


@pytest.mark.parametrize("kind", CROWDS)
def test_many_rows_of_an_odd_kind_take_no_longer_than_others(folder, kind):
    """No script takes quadratic time in the rows; Meson's time limit would fail."""
    names = [CROWDS[kind](i) for i in range(600)]
    path = folder / "crowd.json"
    path.write_text(json.dumps(results(*(repetitions(n, [1.0, 2, 3]) for n in names))))
    for script, options in (
        (compare, ("--by=strategy",)),
        (crossover, ()),
        (claims, ()),
    ):
        outcome(script, path, *options)


def test_a_name_too_long_is_none(folder):
    path = folder / "long.json"
    path.write_text(json.dumps(results(repetitions("a/" * 100_000, [1.0, 2]))))
    assert outcome(blog_table, path) == (1, "")
