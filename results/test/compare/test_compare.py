"""compare.py: pairs of rows, exit status, formats and options."""

import csv
import io
import math
import re

import pytest
from conftest import RESULTS
from gatherstats.compare.data import KEYS, PAIR_KEYS
from made import aggregates, failed, repetitions, results
from made_launches import OP, alternating, as_data, flat, in_turn, row, run_of, verdicts

from commands import compare as script


def test_a_table_of_launches_in_turn(compare, rng):
    old, new = dict(a=100, b=100, c=100, d=100), dict(a=100, b=90, c=120, d=100.8)
    status, out, err = compare(**alternating(rng, old, new))
    assert (status, err) == (1, "")
    assert "4 pairs: " in out and "1 faster, 1 slower" in out
    lines = {line.split()[0]: flat(line) for line in out.splitlines() if line}
    assert lines["a"].endswith(" 8 same")
    assert lines["b"].endswith(" % faster") and lines["c"].endswith(" % slower")
    assert "alternate.py" not in out and "Incomplete" not in out


def test_one_file_against_one_has_figures_and_no_word(compare, rng):
    old, new = run_of(rng, a=100, b=100), run_of(rng, a=100, b=180)
    document = as_data(compare, old, new, options=["--fail-above=1.01"])
    assert document["exit_status"] == 3 and not document["complete"]
    assert set(verdicts(document).values()) == {"undecided"}
    first, second = document["pairs"]
    assert 1.7 < second["low"] < second["ratio"] < second["high"] < 1.9
    assert second["p"] is None and second["needed"] is None
    assert "one launch of each" in second["problem"]
    assert first["low"] < 1 < first["high"]
    status, out, _ = compare(old, new)
    assert status == 3 and "alternate.py" in out and "slower" not in out
    assert "2 pairs: one launch of each" in flat(out)


@pytest.mark.parametrize("n", [5, 40])
def test_two_launches_of_one_program_have_no_word(compare, rng, n):
    """Load on one of them changes nothing, nor do aggregates in place of repetitions."""
    for _ in range(10):
        old, new = (run_of(rng, n=n, a=100 * rng.lognormal(0, 0.05)) for _ in "ab")
        assert verdicts(as_data(compare, old, new)) == {"a": "undecided"}
    summed = [
        results(aggregates("a", 10, mean=mean, stddev=0.1)) for mean in (10.0, 12.0)
    ]
    document = as_data(compare, *summed)
    assert verdicts(document) == {"a": "undecided"} and document["exit_status"] == 3


@pytest.mark.parametrize(
    "changes, options, status",
    [
        ({}, [], 0),
        ({"b": 80}, [], 0),
        ({"b": 120}, [], 1),
        ({"b": 120}, ["--fail-above=1.1"], 1),
        ({"b": 120}, ["--fail-above=1.3"], 0),
        ({"b": 120, "c": None}, [], 1),
        ({"c": None}, [], 3),
        ({"extra": 5}, [], 3),
    ],
)
def test_exit_status(compare, rng, changes, options, status):
    medians = {"a": 100, "b": 100, "c": 100}
    new = {k: v for k, v in {**medians, **changes}.items() if v is not None}
    sides = alternating(rng, medians, new)
    assert compare(**sides, options=options)[0] == status


def test_a_gate_looks_at_the_whole_interval(compare, rng):
    sides = alternating(rng, {"a": 100}, {"a": 110}, scatter=0.05)
    (pair,) = as_data(compare, **sides)["pairs"]
    low, ratio = pair["low"], pair["ratio"]
    for gate, status in ((low - 1e-4, 1), ((low + ratio) / 2, 0)):
        assert compare(**sides, options=[f"--fail-above={gate}"])[0] == status


def test_units_and_names_on_one_side(compare, rng):
    old = [results(row("both", 1500, rng), row("gone", 5, rng)) for _ in range(5)]
    new = [
        results(row("both", 3, rng, unit="us"), row("came", 5, rng)) for _ in range(5)
    ]
    status, out, _ = compare(**in_turn(old, new))
    assert status == 1 and "1 slower. Geometric mean of the ratios: 2.00" in flat(out)
    assert "- gone: missing in new" in out and "- came: missing in old" in out


def test_the_geometric_mean_is_of_matched_rows(compare, rng):
    old = run_of(rng, scatter=1e-6, a=100, b=100, gone=1)
    new = run_of(rng, scatter=1e-6, a=200, b=50, came=1e6)
    assert as_data(compare, old, new)["geometric_mean"] == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("side", [0, 1])
def test_failed_rows_are_listed_and_never_compared(compare, rng, side):
    files = [run_of(rng, a=100), run_of(rng, a=100)]
    files[side]["benchmarks"].append(failed("b", 'a "quote"\tand \\'))
    files[1 - side]["benchmarks"] += row("b", 100, rng)
    document = as_data(compare, *files)
    assert list(verdicts(document)) == ["a"] and document["exit_status"] == 3
    assert document["problems"] == [
        ("old", "new")[side] + ': b: failed: a "quote"\tand \\'
    ]
    _, out, _ = compare(*files)
    assert "-100" not in out and 'b: failed: a "quote"\\x09and \\\n' in out


@pytest.mark.parametrize("content", [b"", "{", '{"benchmarks": []}', "[]"])
@pytest.mark.parametrize("side", [0, 1])
def test_unreadable_files_give_no_verdict(compare, rng, content, side):
    files = [run_of(rng, a=100), content]
    status, out, err = compare(*(files if side else files[::-1]))
    assert (status, out) == (2, "") and err.count("\n") == 1


def test_a_file_that_is_not_there(compare, capsys):
    assert script.main(["/none/a.json", "/none/b.json"]) == 2
    assert capsys.readouterr().err == (
        "compare.py: /none/a.json: No such file or directory\n"
    )


@pytest.mark.parametrize(
    "old, new, problem",
    [
        ([5.0], [5.0, 5.1, 5.2], "a single value shows no spread"),
        ([0.0] * 5, [1.0, 1.1, 1.2, 1.3, 1.4], "a time of zero gives no ratio"),
        ([2.0] * 9, [2.0] * 9, "no spread at all"),
    ],
)
def test_rows_without_a_test(compare, old, new, problem):
    files = [results(repetitions("a", times)) for times in (old, new)]
    document = as_data(compare, *files)
    (pair,) = document["pairs"]
    assert pair["verdict"] == "undecided" and problem in pair["problem"]
    assert pair["p"] is None and not pair["attainable"] and not document["complete"]
    status, out, _ = compare(*files)
    assert status == 3 and f"- a: {problem}" in out and "nan" not in out.lower()


def test_too_few_repetitions_are_out_of_reach(compare, rng):
    names = [OP.format(strategy, 1) for strategy in ("write", "writev")]
    run = results(row(names[0], 100, rng, 3), row(names[1], 300, rng, 3))
    status, out, _ = compare(run, options=["--by=strategy"])
    assert status == 3 and "out of reach, needs 4" in out
    assert "with 3 repetitions and 1 pairs the corrected p is 0.1 at best" in flat(out)


def test_aggregates_are_called_so(compare, rng):
    names = [OP.format(strategy, 1) for strategy in ("write", "writev")]
    run = results(
        aggregates(names[0], 10, mean=10.0, stddev=0.1, median=9.0),
        aggregates(names[1], 10, mean=12.0, stddev=0.1, median=13.0),
    )
    document = as_data(compare, run, options=["--by=strategy"])
    (pair,) = document["pairs"]
    assert pair["verdict"] == "slower" and pair["statistic"] == "means"
    assert pair["other_s"] == pytest.approx(0.012)
    assert "order not known" in pair["sentence"]
    out = flat(compare(run, options=["--by=strategy"])[1])
    assert "compared by their aggregates" in out and "order not known" in out


def test_markdown_is_one_table_with_every_name_safe(compare, rng):
    name = "BM_<int>|x\x1b[2J`*"
    files = [results(row(name, 100, rng)) for _ in range(2)]
    _, out, _ = compare(*files, options=["--format=markdown"])
    table = [line for line in out.splitlines() if line.startswith("|")]
    assert len(table) == 3 and len({len(line) for line in table}) == 1
    assert "\x1b" not in out and r"BM_\<int>\|x\x1b\[2J\`\*" in table[2]
    assert "\x1b" not in compare(*files)[1]


def test_csv(compare, rng):
    old, new = {"a,b": 100, "c": 0.0}, {"a,b": 120, "c": 1}
    status, out, _ = compare(**alternating(rng, old, new), options=["--format=csv"])
    first, second = csv.DictReader(io.StringIO(out))
    assert status == 1 and list(first) == list(PAIR_KEYS)
    assert first["name"] == "a,b" and first["verdict"] == "slower"
    assert float(first["ratio"]) == pytest.approx(1.2, rel=0.01)
    assert "new is 2" in first["sentence"] or "new is 1" in first["sentence"]
    assert second["ratio"] == second["p"] == "" and second["problem"]


def test_many_lines_are_not_all_shown(compare, rng):
    old = run_of(rng, n=4, a=100, **{f"x{i}": 100 for i in range(30)})
    new = run_of(rng, n=4, a=100)
    _, out, _ = compare(old, new)
    assert out.count("missing in new") == 20 and "and 10 more (--format=json" in out
    assert len(as_data(compare, old, new)["problems"]) == 30


def test_the_correction_can_be_chosen(compare, rng):
    # Of seven repetitions p is 0.0006 at best, which is not enough for one pair in ninety.
    groups = [
        row(OP.format(strategy, count), time, rng, 7)
        for count in range(1, 91)
        for strategy, time in (("write", 100), ("writev", 140))
    ]
    run = results(*groups)
    by_holm = as_data(compare, run, options=["--by=strategy"])
    assert by_holm["counts"]["undecided"] == 90
    assert {pair["needed"] for pair in by_holm["pairs"]} == {8}
    by_bh = as_data(compare, run, options=["--by=strategy", "--correction=bh"])
    assert by_bh["counts"]["slower"] == 90 and by_bh["complete"]


def test_the_threshold(compare, rng):
    sides = alternating(rng, {"a": 100}, {"a": 103})
    assert compare(**sides)[0] == 1
    assert compare(**sides, options=["--threshold=10"])[0] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a"],
        ["a", "b", "c"],
        ["a", "b", "--by=strategy"],
        ["a", "b", "--baseline=x"],
        ["--old", "a"],
        ["--old", "a", "--new"],
        ["a", "--old", "a", "--new", "b"],
        ["a", "b", "--fail-above=0.9"],
        ["a", "b", "--fail-above=nan"],
        ["a", "b", "--threshold=0"],
        ["a", "b", "--across=colour"],
        ["a", "b", "--format=xml"],
    ],
)
def test_bad_usage(arguments, capsys):
    with pytest.raises(SystemExit) as raised:
        script.main(arguments)
    assert raised.value.code == 2 and "usage:" in capsys.readouterr().err


def test_help_documents_every_key(capsys):
    with pytest.raises(SystemExit) as raised:
        script.main(["--help"])
    out = capsys.readouterr().out
    assert raised.value.code == 0
    assert all(f"  {key} " in out for key in [*KEYS, *PAIR_KEYS])


def test_the_published_figures_say_the_same(compare):
    content = (RESULTS / "reference" / "blog_m1.json").read_text()
    document = as_data(compare, content, options=["--by=strategy"])
    x64, arm64 = (pair["sentence"] for pair in document["pairs"])
    assert "undecided, no evidence of a difference" in x64
    assert "about 730 repetitions" in x64
    assert "is 10.8 % faster than" in arm64
    assert math.isclose(document["pairs"][0]["p"], 0.2984, abs_tol=5e-4)


def test_it_says_how_p_is_corrected(compare, rng):
    sides = alternating(rng, {"a": 100, "b": 100}, {"a": 100, "b": 100})
    text = "p is corrected for 2 pairs by "
    assert text + "Holm's method." in flat(compare(**sides)[1])
    out = flat(compare(**sides, options=["--correction=bh"])[1])
    assert text + "Benjamini and Hochberg's method." in out
    alone = alternating(rng, {"a": 100}, {"a": 100})
    assert "p is corrected" not in compare(**alone)[1]
    # Without a test there is no p.
    files = [run_of(rng, a=100, b=100) for _ in range(2)]
    assert "p is corrected" not in flat(compare(*files)[1])


def test_ratios_far_from_one_can_be_read(compare, rng):
    _, out, _ = compare(
        **alternating(rng, {"a": 100, "b": 100}, {"a": 20000, "b": 0.5})
    )
    assert re.search(r"\b0\.0050\d  0\.00\d+ to 0\.00\d+ .* 99\.5 % faster", out)
    assert re.search(r" (199|20\d) times slower\n", out)


def test_a_narrow_terminal_has_names_on_lines_of_their_own(compare, rng, monkeypatch):
    name = "op/strategy:{}/target:{}/sync:fdatasync/count:4/size:16/real_time"
    groups = [
        repetitions(name.format(strategy, target), list(rng.lognormal(0, 0.3, 10)))
        for strategy in ("pwrite", "pwritev", "coalesce")
        for target in ("file", "null")
    ]
    run = results(*groups)
    wide = compare(run, options=["--by=strategy"])[1]
    monkeypatch.setattr("gatherstats.compare.terminal.screen_width", lambda: 80)
    narrow = compare(run, options=["--by=strategy"])[1]
    longest = [max(map(len, out.splitlines()[1:])) for out in (narrow, wide)]
    assert longest[0] <= 80 < longest[1]
    for strategy in ("pwritev", "coalesce"):
        for target in ("file", "null"):
            assert f"\n{strategy}/{target}\n" in narrow


def test_a_wide_table_keeps_what_tells_rows_apart(compare):
    """Names lose their keys before they lose a part of a value."""
    name = "op/strategy:{}/target:{}/sync:{}/direct:yes/count:{}/size:16/real_time"
    rest = [
        (target, sync, count)
        for target in ("file", "null")
        for sync in ("none", "fdatasync")
        for count in (1, 256000)
    ]
    groups = [
        repetitions(name.format(strategy, *each), [n + 1.5 for n in range(10)])
        for strategy in ("pwrite", "pwritev", "coalesce")
        for each in rest
    ]
    _, out, _ = compare(results(*groups), options=["--by=strategy"])
    rows = [line for line in out.splitlines() if line.startswith("coalesce/")]
    assert [row.split()[0] for row in rows] == [
        f"coalesce/{target}/{sync}/count:{count}" for target, sync, count in rest
    ]
    assert max(map(len, out.splitlines())) <= 120
