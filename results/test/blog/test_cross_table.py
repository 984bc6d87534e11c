"""Launches on two architectures become one table, and the sentence on translation follows from them."""

import json

from commands import cross_table
import numpy as np
import pytest
from gatherstats.blog import x64
from made import BLOG, blog_run, failed, repetitions

NATIVE = {"machine": "x86_64", "emulated": "no", "host_machine": "x86_64"}
EMULATED = {
    "machine": "aarch64",
    "emulated": "qemu-user 7.2.22",
    "host_machine": "x86_64",
}
GATHER_WINS = {"pwrite": 40.0, "pwritev": 30.0, "fallback": 40.0, "contiguous": 29.0}
NO_GAIN = {"pwrite": 60.0, "pwritev": 60.0, "fallback": 60.0, "contiguous": 59.9}
GATHER_LOSES = {"pwrite": 60.0, "pwritev": 70.0, "fallback": 60.0, "contiguous": 50.0}


def make_launches(folder, native_ms, emulated_ms, launches=10, **options):
    """The files that alternate.py leaves."""
    rng = np.random.default_rng(5)
    for side, medians, context in (
        ("a", native_ms, NATIVE),
        ("b", emulated_ms, EMULATED),
    ):
        for number in range(1, launches + 1):
            run = blog_run(medians, rng, n=10, scatter=0.002, **options, **context)
            (folder / f"{side}-{number:02}.json").write_text(json.dumps(run))


def shown(folder, capsys, status=0):
    assert cross_table.main([str(folder)]) == status
    out = capsys.readouterr().out
    return out, " ".join(out.split())


def test_the_table_has_both_architectures(tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS)
    out, _ = shown(tmp_path, capsys)
    table = [line for line in out.splitlines() if line.startswith("|")]
    assert len(table) == 2 + 8
    assert sum("aarch64, qemu-user 7.2.22" in line for line in table) == 4
    assert all(" 10 |" in line or "  9 |" in line for line in table[2:])
    assert max(map(len, out.splitlines())) <= 120


def test_the_load_of_any_launch_is_said(tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS)
    launch = json.loads((tmp_path / "b-07.json").read_text())
    launch["context"]["gatherbench.under_load"] = "others used 60 %"
    (tmp_path / "b-07.json").write_text(json.dumps(launch))
    _, said = shown(tmp_path, capsys)
    assert said.count("Under load: 1 of 10 launches; the first: others used 60 %") == 1


@pytest.mark.parametrize(
    "native, emulated, says",
    [
        (GATHER_WINS, GATHER_WINS, "Translation does not change the answer: gathering"),
        (GATHER_WINS, GATHER_LOSES, "Translation changes the answer: gathering is 25"),
        (GATHER_WINS, NO_GAIN, "Translation changes the answer: gathering is 25"),
    ],
)
def test_what_translation_changes_follows_from_the_launches(
    native, emulated, says, tmp_path, capsys
):
    make_launches(tmp_path, native, emulated)
    assert says in shown(tmp_path, capsys)[1]


def test_too_few_launches_tell_nothing(tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS, launches=2)
    assert "these launches cannot tell" in shown(tmp_path, capsys)[1]


def test_the_kernels_count_is_told_for_each_architecture(tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS)
    text = shown(tmp_path, capsys)[1]
    assert text.count("each gather reached it as one call") == 2


def test_why_the_published_x64_rows_gained_nothing_is_said(tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS)
    assert x64.explanation() in shown(tmp_path, capsys)[1]


def test_gathers_that_did_not_reach_the_kernel_are_told(tmp_path, capsys):
    calls = {"pwrite": 6250, "pwritev": 6250}
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS, kernel_calls=calls)
    assert "did not reach it as such" in shown(tmp_path, capsys)[1]


def test_a_failed_row_is_said_and_shows_no_time(tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS)
    path = tmp_path / "b-03.json"
    run = json.loads(path.read_text())
    name = BLOG.format("pwritev")
    run["benchmarks"] = [b for b in run["benchmarks"] if b["name"] != name]
    run["benchmarks"].append(failed(name))
    path.write_text(json.dumps(run))
    out, text = shown(tmp_path, capsys, status=1)
    (line,) = [
        part for part in out.splitlines() if "qemu" in part and "| WriteGather" in part
    ]
    assert "failed" in line
    assert "cannot be told" in text


def test_what_a_call_costs_is_told_for_each_architecture(tmp_path, capsys):
    """4,687 calls more and 4,687 buffers more: 1 ms and 0.1 ms of them, and five times as much."""
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS)
    for path in tmp_path.iterdir():
        run = json.loads(path.read_text())
        slower = 5 if path.name.startswith("b") else 1
        for strategy, calls, us in (
            ("pwrite", 6250, 1000 + 4687),
            ("pwritev", 1563, 1000 + 468.7),
            ("contiguous", 1563, 1000),
        ):
            name = BLOG.format(strategy).replace("target:file", "target:null")
            run["benchmarks"] += repetitions(
                name, [us * slower] * 10, "us", calls=calls
            )
        path.write_text(json.dumps(run))
    out, text = shown(tmp_path, capsys)
    assert "x86_64: a write call costs 1000.00 ns (1000.00 to 1000.00)" in text
    assert "one more buffer in a gather 100.00 ns (100.00 to 100.00)" in text
    assert "qemu-user 7.2.22: a write call costs 5000.00 ns" in text
    assert sum(line.startswith("|") for line in out.splitlines()) == 10


@pytest.mark.parametrize("left", ["a", "b", ""])
def test_a_folder_without_both_sides_is_bad_usage(left, tmp_path, capsys):
    make_launches(tmp_path, GATHER_WINS, GATHER_WINS, launches=2)
    for path in tmp_path.iterdir():
        if not left or not path.name.startswith(left):
            path.unlink()
    assert cross_table.main([str(tmp_path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
