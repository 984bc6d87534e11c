"""The ways of saving a file: their comparison, safety beside speed, and the limits of the advice."""

import json
import re

import pytest
from commands import compare, crossover, report
from conftest import runner, write_files
from gatherstats.compare import terminal
from gatherstats.data.names import parse_name
from made import results
from made_saving import ONE_US, row_name, saving_run

JOURNALED = {"auto_da_alloc": "yes"}


@pytest.fixture
def by_create(tmp_path, capsys):
    run = runner(crossover.main, tmp_path, capsys)
    return lambda *contents, options=(): run(
        *contents, options=["--by=create", *options]
    )


def flat(text):
    return " ".join(text.split())


def test_a_row_for_each_size_and_a_column_for_each_way(by_create, rng):
    status, out, err = by_create(saving_run(rng, scatter=1e-4))
    assert (status, err) == (0, "")
    head, _, times, opened, closed = out.split("medians:\n\n")[1].splitlines()[:5]
    assert head.split() == [
        "File",
        "new",
        "dotnet",
        "rename",
        "truncate",
        "overwrite",
        "unlink",
    ]
    assert times.split()[:3] == ["16", "KiB", "[us]"]
    assert times.split()[3:] == [
        "30.0/24.0",
        "64.0/51.2",
        "143/114",
        "197/158",
        "9.00/7.20",
        "32.0/25.6",
    ]
    assert opened.split()[:2] == ["open", "3.0/2.4"] and closed.split()[:2] == [
        "close",
        "15/12",
    ]
    assert max(map(len, out.splitlines())) <= 100


def test_safety_stands_beside_speed(by_create, rng):
    _, out, _ = by_create(saving_run(rng, context=JOURNALED))
    table = out.split("Replacing 16 KiB")[1].split("\n\n")[0].splitlines()[2:]
    assert [line.split()[0] for line in table] == [
        "overwrite",
        "unlink",
        "rename",
        "truncate",
    ]
    for line, words in zip(
        table,
        (
            r"can leave old and new bytes mixed +\d.* % faster",
            r"in between loses both files +\d.* % faster",
            r"leaves the old file or the new one +\d",
            r"can lose the old bytes and the new +\d.* % slower",
        ),
    ):
        assert re.search(words, line)
        assert re.search(r"[\d.]+ to [\d.]+", line)


def test_the_advice_names_what_is_lost_with_what_is_gained(by_create, rng):
    said = flat(by_create(saving_run(rng, context=JOURNALED))[1])
    assert re.search(
        r"16 KiB: renaming a new file over it takes 14\d us \(.*?\), and a crash leaves the old file or"
        r" the new one; overwriting takes 9\.\d+ us \(.*?\), 93\.\d % less, but a crash can leave old and"
        r" new bytes mixed; removing the old file first takes 3\d\.\d us \(.*?\), 7\d\.\d % less, but a"
        r' crash in between loses both files; fopen "w" takes 19\d us \(.*?\): 3\d.\d % slower than'
        r" renaming, and a crash can lose",
        said,
    )
    assert re.search(
        r"replaces none takes .* as \.NET does .* 11\d % slower than that", said
    )
    assert (
        "handing over the buffers at once, against one by one: faster in 6 of 6" in said
    )


def test_where_nothing_is_faster_it_says_so(by_create, rng):
    us = {"rename": 100.0, "truncate": 150.0, "unlink": 120.0}
    said = flat(by_create(saving_run(rng, us))[1])
    assert "nothing else is known to be faster, so rename" in said
    assert "% less" not in said


def test_what_cannot_be_told_apart_is_not_advised(by_create, rng):
    us = {"rename": 100.0, "truncate": 100.2}
    said = flat(by_create(saving_run(rng, us, scatter=0.3))[1])
    assert "not known to be faster, and a crash can lose" in said


@pytest.mark.parametrize(
    "context, sync, safe",
    [
        (JOURNALED, "none", True),
        ({"auto_da_alloc": "no"}, "none", False),
        ({"filesystem": "ext4"}, "none", False),
        ({}, "fdatasync", True),
    ],
)
def test_renaming_is_called_safe_only_where_something_makes_it_so(
    context, sync, safe, by_create, rng
):
    said = flat(by_create(saving_run(rng, context=context, sync=sync))[1])
    assert ("a crash leaves the old file or the new one" in said) is safe
    assert ("a crash can leave an empty file" in said) is not safe
    assert ("because ext4 writes" in said) is (context == JOURNALED)


def test_files_of_one_length_are_told_apart_by_their_buffers(by_create, rng):
    runs = [saving_run(rng, size=size) for size in (4096, 8192)]
    both = results(*([e] for run in runs for e in run["benchmarks"]))
    out = by_create(both)[1]
    assert "Replacing 16 KiB size:4096" in out and "Replacing 16 KiB size:8192" in out


def test_a_program_gets_the_same(by_create, rng):
    _, out, _ = by_create(saving_run(rng, context=JOURNALED), options=["--format=json"])
    (line,) = out.splitlines()
    (case,) = json.loads(line)["runs"][0]["cases"]
    assert case["file_bytes"] == 16384 and case["sync"] == "none"
    (row,) = [
        r for r in case["rows"] if (r["create"], r["way"]) == ("unlink", "separate")
    ]
    assert row["low_s"] < row["time_s"] < row["high_s"] and row["crash"]
    assert row["time_s"] == pytest.approx(32e-6, rel=0.05)
    assert row["phases_s"]["close"] == pytest.approx(16e-6, rel=0.05)
    assert case["against"]["unlink"]["verdict"] == "faster"
    assert case["against"]["unlink"]["base"] == "rename"
    assert case["against"]["dotnet"]["base"] == "new"


def test_a_run_without_ways_of_saving_is_incomplete(by_create, rng):
    status, _, err = by_create(saving_run(rng, {"new": 30.0}))
    assert status == 1 and "no way of saving to compare" in err


def test_a_picture_of_it_is_bad_usage(tmp_path, rng):
    (path,) = write_files(tmp_path, "run", [saving_run(rng)])
    with pytest.raises(SystemExit) as end:
        crossover.main([path, "--by=create", "--format=svg", "-o", str(tmp_path / "x")])
    assert end.value.code == 2


def test_names_that_say_that_a_file_is_kept_and_those_that_need_not():
    new, truncate = (parse_name(row_name(create)) for create in ("new", "truncate"))
    assert new.without("create") == truncate.without("create")
    assert new.value("create") == "new" and truncate.value("create") == "truncate"
    deleted = parse_name(row_name("new").replace("/keep:yes", ""))
    assert deleted.without("create") != truncate.without("create")
    assert parse_name("op/strategy:write/target:file").value("create") is None


def test_comparing_by_it_has_the_new_file_as_the_base(tmp_path, capsys, rng):
    (path,) = write_files(tmp_path, "run", [saving_run(rng)])
    assert compare.main([path, "--by=create"]) == 1
    out = capsys.readouterr().out
    assert "Base: create:new" in out and "15 pairs: 3 faster, 12 slower" in out


def test_rows_that_would_be_cut_to_the_same_stand_on_lines_of_their_own(
    tmp_path, capsys, rng, monkeypatch
):
    monkeypatch.setattr(terminal, "screen_width", lambda: 100)
    runs = [
        saving_run(rng, sync=sync, length=length, size=size)
        for sync in ("none", "fdatasync")
        for length, size in ((16384, 4096), (1048576, 65536))
    ]
    both = results(*([e] for run in runs for e in run["benchmarks"]))
    compare.main([*write_files(tmp_path, "run", [both]), "--by=create"])
    out = capsys.readouterr().out
    assert all(create in out for create in ONE_US)


def test_the_report_has_it_with_bars(tmp_path, rng):
    out = tmp_path / "report.html"
    (path,) = write_files(tmp_path, "run", [saving_run(rng, context=JOURNALED)])
    assert report.main([path, "-o", str(out)]) == 0
    page = out.read_text()
    assert "How a file is saved: not synced" in page
    assert page.count('class="phase-close"') >= len(ONE_US)
    assert "in between loses both files" in page
