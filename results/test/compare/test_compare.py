"""compare.py: what is paired with what, what is refused, exit status, and the four formats."""

import csv
import io
import json
import math
import re

from commands import compare as script
import numpy as np
import pytest
from scipy import stats
from conftest import RESULTS
from gatherstats.compare.data import KEYS, PAIR_KEYS
from made import BLOG, aggregates, blog_run, failed, repetitions, results

OP = "op/strategy:{}/target:null/sync:none/count:{}/size:512/real_time"


def row(name, median, rng, n=20, scatter=0.005, **extra):
    return repetitions(name, list(median * rng.lognormal(0, scatter, n)), **extra)


def run_of(rng, n=20, scatter=0.005, context=None, **medians):
    rows = [row(name, median, rng, n, scatter) for name, median in medians.items()]
    return results(*rows, **(context or {}))


def in_turn(old, new):
    """The same launches, of which one of each started every minute."""
    for side, second in ((old, 0), (new, 30)):
        for minute, launch in enumerate(side):
            date = f"2026-12-01T10:{minute:02}:{second:02}+00:00"
            launch["context"]["date"] = date
    return {"old": old, "new": new}


def alternating(rng, old, new, count=8, **options):
    """So many launches of each in turn, by their rows' medians."""
    sides = [
        [run_of(rng, **options, **medians) for _ in range(count)]
        for medians in (old, new)
    ]
    return in_turn(*sides)


def flat(text):
    return " ".join(text.split())


def as_data(compare, *contents, options=(), **sides):
    """The JSON that compare.py prints; it must be strict."""
    status, out, err = compare(*contents, options=["--format=json", *options], **sides)
    assert err == ""

    def never(token):
        raise AssertionError(f"{token} is not strict JSON")

    document = json.loads(out, parse_constant=never)
    assert document["exit_status"] == status
    assert list(document) == list(KEYS)
    assert all(list(pair) == list(PAIR_KEYS) for pair in document["pairs"])
    return document


def verdicts(document):
    return {pair["name"]: pair["verdict"] for pair in document["pairs"]}


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
    """Whatever one of them was busy with, and whatever they are called by."""
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


# Several launches


def launches(rng, median, count, spread=0.01, **context):
    """Each launch has a median of its own, from which its repetitions hardly differ."""
    return [
        run_of(rng, context=context, n=10, scatter=1e-4, a=m)
        for m in median * rng.lognormal(0, spread, count)
    ]


def test_a_launch_is_one_value(compare, rng):
    old, new = launches(rng, 100, 10), launches(rng, 110, 10)
    document = as_data(compare, **in_turn(old, new))
    (pair,) = document["pairs"]
    assert document["unit"] == "launches" and pair["verdict"] == "slower"
    assert (pair["base_n"], pair["other_n"]) == (10, 10)
    logs = [
        np.log([np.median([e["real_time"] for e in run["benchmarks"]]) for run in side])
        for side in (old, new)
    ]
    assert pair["base_s"] == pytest.approx(np.exp(np.mean(logs[0])) * 1e-9)
    # The textbook's paired t test.
    expected = stats.ttest_rel(*logs)
    assert pair["p"] == pytest.approx(expected.pvalue)
    assert pair["ratio"] == pytest.approx(np.exp(np.mean(logs[1] - logs[0])))
    half = stats.sem(logs[1] - logs[0]) * stats.t.ppf(0.975, 9)
    assert pair["high"] == pytest.approx(pair["ratio"] * np.exp(half))


def test_what_the_hour_does_to_neighbouring_launches_cancels(compare, rng):
    hours = 100 * np.exp(0.05 * np.sin(np.arange(8)))
    old, new = (
        [run_of(rng, n=10, a=hour * factor) for hour in hours] for factor in (1, 1.01)
    )
    document = as_data(compare, **in_turn(old, new), options=["--threshold=0.1"])
    assert verdicts(document) == {"a": "slower"}


@pytest.mark.parametrize("blocks", [True, False])
def test_launches_that_did_not_take_turns_have_no_word(compare, rng, blocks):
    sides = in_turn(launches(rng, 100, 6), launches(rng, 130, 6))
    for launch in sides["new"]:
        date = launch["context"].pop("date")
        if blocks:
            launch["context"]["date"] = date.replace("T10", "T11")
    document = as_data(compare, **sides)
    (pair,) = document["pairs"]
    assert pair["verdict"] == "undecided" and document["exit_status"] == 3
    assert 1.2 < pair["low"] < pair["ratio"] < pair["high"] < 1.4
    assert ("take turns" if blocks else "not known") in pair["problem"]
    assert "alternate.py" in compare(**sides)[1]


def test_launches_of_the_same_second_have_no_known_order(compare, rng):
    sides = in_turn(launches(rng, 100, 6), launches(rng, 130, 6))
    for launch in [*sides["old"], *sides["new"]]:
        launch["context"]["date"] = "2026-12-01T10:00:00+00:00"
    (pair,) = as_data(compare, **sides)["pairs"]
    assert "within the same second" in pair["problem"]


def test_the_load_of_any_launch_is_said(compare, rng):
    old, new = launches(rng, 100, 3), launches(rng, 100, 3)
    new[1]["context"]["gatherbench.under_load"] = "others used 60 %"
    said = flat(compare(old=old, new=new)[1])
    assert "Under load, old: not known" in said
    for launch in old:
        launch["context"]["gatherbench.others_cpu"] = "0.010"
    assert "Under load, old: no" in flat(compare(old=old, new=new)[1])
    assert "Under load, new: 1 of 3 launches; the first: others used 60 %" in said
    assert "Under load" not in compare(old=old, new=old)[1]


def test_launches_that_differ_hide_what_one_launch_would_claim(compare, rng):
    old, new = launches(rng, 100, 8, 0.05), launches(rng, 100, 8, 0.05)
    (pair,) = as_data(compare, **in_turn(old, new))["pairs"]
    assert pair["verdict"] == "undecided"
    # One launch of each has much narrower an interval.
    (alone,) = as_data(compare, old[0], new[0])["pairs"]
    assert alone["high"] / alone["low"] < 1.002 < pair["high"] / pair["low"]


def test_few_launches_decide_nothing(compare, rng):
    sides = in_turn(launches(rng, 100, 3), launches(rng, 200, 3))
    status, out, _ = compare(**sides)
    assert status == 3 and "it takes 4 launches of each, in turn" in flat(out)


def test_a_row_that_a_launch_lacks_or_failed_in(compare, rng):
    old, new = launches(rng, 100, 6), launches(rng, 100, 6)
    old[2]["benchmarks"] += row("b", 5, rng)
    new[3]["benchmarks"] = [failed("a")]
    document = as_data(compare, old=old, new=new)
    assert document["pairs"] == [] and document["exit_status"] == 3
    assert document["problems"] == [
        "old: b: in 1 of 6 launches only",
        "new: a: failed: in 1 of 6 launches: fsync: No space left on device",
        "b: missing in new",
    ]


WHOLE_MS = {
    "undecided": ([46] * 20, [46] * 8 + [47] * 12),
    "turned": ([46] * 8 + [47] * 12, [46] * 20),
    "half a step": ([46] * 20, [46] * 9 + [47] * 11),
    "one and two": ([1] * 20, [1] * 9 + [2] * 11),
    "faster": ([46] * 20, [31] * 10 + [32] * 10),
}
"""Times that were noted in whole milliseconds; within one of them nothing can be told."""


@pytest.mark.parametrize("case", WHOLE_MS)
def test_whole_milliseconds_decide_nothing_within_one(compare, rng, case):
    word = "faster" if case == "faster" else "undecided"
    old, new = (list(rng.permutation(side).astype(float)) for side in WHOLE_MS[case])
    # Two single files have figures.
    files = [results(repetitions("a", side, "ms")) for side in (old, new)]
    document = as_data(compare, *files, options=["--fail-above=1.02"])
    assert verdicts(document) == {"a": "undecided"} and document["exit_status"] == 3
    # Rows of one run, in random order.
    names = [OP.format(strategy, 1) for strategy in ("write", "writev")]
    run = results(*(repetitions(n, side, "ms") for n, side in zip(names, (old, new))))
    document = as_data(compare, run, options=["--by=strategy", "--fail-above=1.02"])
    assert list(verdicts(document).values()) == [word] and document["exit_status"] == 0
    # Launches of five repetitions that took turns.
    sides = [
        [results(repetitions("a", list(rng.choice(side, 5)), "ms")) for _ in range(8)]
        for side in (old, new)
    ]
    document = as_data(compare, **in_turn(*sides), options=["--fail-above=1.02"])
    assert verdicts(document) == {"a": word}


# Within one run


def grid(rng, **factors):
    """Rows of two strategies and three counts; factors: of writev's time, by "count<N>"."""
    rows = []
    for count in (1, 4, 16):
        rows.append(row(OP.format("write", count), 100 * count, rng))
        factor = factors.get(f"count{count}", 1)
        rows.append(row(OP.format("writev", count), 100 * count * factor, rng))
    return results(*rows)


def test_along_a_key(compare, rng):
    document = as_data(
        compare, grid(rng, count1=1.3, count16=0.5), options=["--by=strategy"]
    )
    assert list(verdicts(document).values()) == ["slower", "same", "faster"]
    assert {pair["base_name"].split("/")[1] for pair in document["pairs"]} == (
        {"strategy:write"}
    )
    turned = as_data(
        compare,
        grid(rng, count1=1.3, count16=0.5),
        options=["--by=strategy", "--baseline=writev"],
    )
    assert list(verdicts(turned).values()) == ["faster", "same", "slower"]


def test_the_names_of_a_table_are_short(compare, rng):
    _, out, _ = compare(grid(rng), options=["--by=strategy"])
    assert (
        "All rows: op strategy:writev target:null sync:none size:512 real_time" in out
    )
    assert "Base: strategy:write\n" in out and "\ncount:16 " in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_long_names_are_cut_in_the_terminal_alone(compare, rng):
    name = "BM_" + "x" * 150
    sides = alternating(rng, {name: 100}, {name: 100})
    assert max(map(len, compare(**sides)[1].splitlines())) <= 120
    assert name in compare(**sides, options=["--format=markdown"])[1]


def test_a_group_without_the_baseline(compare, rng):
    run = grid(rng)
    gone = OP.format("write", 4)
    run["benchmarks"] = [e for e in run["benchmarks"] if e["name"] != gone]
    document = as_data(compare, run, options=["--by=strategy", "--baseline=write"])
    assert len(document["pairs"]) == 2 and document["exit_status"] == 3
    assert document["problems"] == [
        f"{OP.format('writev', 4)}: the baseline is missing"
    ]


def test_rows_without_a_partner(compare, rng):
    rows = [row(OP.format("write", count), 100, rng) for count in (1, 4)]
    status, out, _ = compare(results(*rows), options=["--by=strategy"])
    assert status == 3 and "- nothing was compared" in out
    assert "2 rows have no partner that differs in strategy alone" in out


@pytest.mark.parametrize(
    "option, message",
    [
        (["--by=colour"], "no row's name has the key 'colour'; there are: strategy,"),
        (["--by=strategy", "--baseline=x"], "no row has strategy:x; there are: write,"),
    ],
)
def test_nothing_along_that_key(compare, rng, option, message):
    status, out, err = compare(grid(rng), options=option)
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1


def test_a_key_that_some_rows_lack(compare, rng):
    plain = BLOG.format("pwrite")
    more = plain.replace("/file_bytes", "/preallocate:yes/file_bytes")
    run = results(row(more, 60, rng), row(plain, 100, rng))
    status, out, _ = compare(run, options=["--by=preallocate"])
    assert status == 0 and "Base: preallocate:none" in out and "% faster" in out


@pytest.mark.parametrize(
    "order", ["one after the other", "strictly in turn", "unknown"]
)
def test_an_order_that_is_not_of_chance_has_no_word(compare, rng, order):
    """Four times as long: the figures say so, and the word needs an order that chance decided."""
    run = grid(rng, count4=4)
    for i, entry in enumerate(run["benchmarks"]):
        if order == "strictly in turn":
            i = entry["repetition_index"] * 6 + i // 20
        entry["start_s"] = None if order == "unknown" else float(i)
    document = as_data(compare, run, options=["--by=strategy"])
    assert set(verdicts(document).values()) == {"undecided"}
    assert document["exit_status"] == 3
    pair = document["pairs"][1]
    assert 3.9 < pair["low"] < pair["high"] < 4.1
    why = "does not say" if order == "unknown" else "not left to chance"
    assert why in pair["problem"]
    assert "random order" in flat(compare(run, options=["--by=strategy"])[1])


def test_drift_is_taken_out_and_said(compare, rng):
    run = blog_run({"pwrite": 40, "pwritev": 40.8}, rng, scatter=0.01)
    for entry in run["benchmarks"]:
        entry["real_time"] *= 1 + entry["start_s"] / 5
    document = as_data(compare, run, options=["--by=strategy"])
    (pair,) = document["pairs"]
    assert pair["ratio"] == pytest.approx(1.02, abs=0.006)
    assert pair["verdict"] == "slower" and document["drift"]["run"]["removed"]
    assert "Drift between -" in compare(run, options=["--by=strategy"])[1]


# What cannot be compared


@pytest.mark.parametrize(
    "aspect, old, new",
    [
        ("emulation", {"emulated": "no"}, {"emulated": "qemu-user 7.2"}),
        ("filesystem", {"filesystem": "ext4"}, {"filesystem": "tmpfs"}),
        ("buffers", {"buffers": "distinct"}, {"buffers": "one, used again"}),
    ],
)
def test_refused_unless_asked(compare, rng, aspect, old, new):
    files = [run_of(rng, context=context, a=100) for context in (old, new)]
    status, out, _ = compare(*files)
    assert status == 3 and "not comparable, " in out and "nothing was compared" in out
    assert "Verdict" not in out and f"--across={aspect}" in out
    status, out, _ = compare(*files, options=[f"--across={aspect}"])
    assert status == 3 and "Compared across" in out and "FORCED" not in out
    status, out, _ = compare(*files, options=["--force"])
    assert status == 3 and out.startswith("FORCED, this comparison is not sound:")
    document = as_data(compare, *files, options=["--force"])
    assert len(document["forced"]) == 1 and document["pairs"]


def test_what_a_file_does_not_say_is_no_obstacle(compare, rng):
    known, unknown = {"emulated": "no", "filesystem": "ext4"}, {}
    files = [run_of(rng, context=context, a=100) for context in (known, unknown)]
    assert as_data(compare, *files)["pairs"]


def test_two_emulators_are_both_emulated(compare, rng):
    emulators = {"emulated": "qemu-user 7.2"}, {"emulated": "Rosetta 2"}
    files = [run_of(rng, context=context, a=100) for context in emulators]
    assert as_data(compare, *files)["pairs"]


def test_launches_on_two_file_systems_are_no_side(compare, rng):
    old = [
        *launches(rng, 100, 3, filesystem="ext4"),
        *launches(rng, 100, 3, filesystem="xfs"),
    ]
    new = launches(rng, 100, 6, filesystem="ext4")
    text = "different file systems among the {} launches: ext4 and xfs"
    assert text.format("old") in flat(compare(old=old, new=new)[1])
    other = launches(rng, 100, 3, filesystem="ext4")
    other += launches(rng, 100, 3, filesystem="xfs")
    said = flat(compare(old=old, new=other, options=["--across=filesystem"])[1])
    assert text.format("new") in said


def test_csv_says_what_is_forced_and_on_stderr_what_is_refused(compare, rng):
    files = [
        results(row("a", 100, rng), filesystem=filesystem)
        for filesystem in ("ext4", "tmpfs")
    ]
    status, out, errors = compare(*files, options=["--format=csv"])
    assert status == 3 and len(out.splitlines()) == 1
    assert re.fullmatch(r"compare.py: not comparable, .*ext4.*tmpfs.*\n", errors)
    _, out, _ = compare(*files, options=["--format=csv", "--force"])
    (forced,) = csv.DictReader(io.StringIO(out))
    assert forced["forced"] == "True"


def test_a_launch_that_is_given_twice_is_refused(compare, rng):
    """It would count as two, and two launches of each as ten."""
    one, two, *others = launches(rng, 100, 6)
    for old, new in (([one, two, one], others), ([one, two], [*others, two])):
        status, out, errors = compare(old=old, new=new)
        assert status == 2 and out == ""
        assert re.fullmatch(
            r"compare.py: \S+ and \S+ are the same launch: .*\n", errors
        )


def test_a_run_compared_with_itself_is_said(compare, rng):
    run = run_of(rng, a=100)
    status, out, _ = compare(run, run)
    assert status == 3 and re.search(r"\S+ is the same run as \S+\.", flat(out))
    assert "is the same run" not in flat(compare(run, run_of(rng, a=100))[1])


def test_all_pairs_of_a_table_are_one_family(compare, rng):
    """Whatever their keys are called."""
    name = "op/architecture:{}/strategy:{}/count:1/size:16/real_time"
    groups = [
        repetitions(name.format(i, strategy), list(rng.lognormal(0, 0.01, 10)))
        for i in range(20)
        for strategy in ("pwrite", "pwritev")
    ]
    document = as_data(compare, results(*groups), options=["--by=strategy"])
    assert all(pair["p"] is not None for pair in document["pairs"])
    least = min(document["pairs"], key=lambda pair: pair["p"])
    assert least["p_corrected"] == pytest.approx(min(1, 20 * least["p"]))


@pytest.mark.parametrize("key", ["buffers:one", "verify:yes", "cpu:1"])
def test_a_name_that_says_less_in_an_older_file_is_the_same_row(compare, rng, key):
    old = [OP.format("pwrite", count) for count in (4, 8)]
    new = [name.replace("/count", f"/{key}/count") for name in old]
    sides = alternating(rng, dict.fromkeys(old, 100), dict.fromkeys(new, 100))
    document = as_data(compare, **sides)
    assert verdicts(document) == dict.fromkeys(new, "same")
    assert document["exit_status"] == 0


def test_rows_that_only_the_newer_key_tells_apart_are_not_mixed(compare, rng):
    name = OP.format("pwrite", 4)
    one = name.replace("/count", "/buffers:one/count")
    both = {name: 100, one: 120}
    document = as_data(compare, **alternating(rng, both, both))
    assert verdicts(document) == {name: "same", one: "same"}
    # An older file's only row could be either.
    either = run_of(rng, **{one: 100, name.replace("/count", "/cpu:1/count"): 120})
    for sides in (run_of(rng, **{name: 100}), either), (
        either,
        run_of(rng, **{name: 100}),
    ):
        assert verdicts(as_data(compare, *sides)) == {}
    status, out, _ = compare(
        run_of(rng, **{OP.format("pwrite", 8): 100}), run_of(rng, **{one: 100})
    )
    assert status == 3 and "different workloads: count:8 against count:4" in flat(out)


@pytest.mark.parametrize(
    "key, other",
    [("file_bytes:100000000", "file_bytes:101000000"), ("count:4", "count:8")],
)
def test_different_work_is_refused(compare, rng, key, other):
    name = BLOG.format("pwrite")
    files = results(row(name, 100, rng)), results(
        row(name.replace(key, other), 120, rng)
    )
    status, out, _ = compare(*files)
    assert status == 3 and f"different workloads: {key} against {other}" in flat(out)
    assert "missing in" not in out
    document = as_data(compare, *files, options=["--force"])
    assert document["pairs"][0]["ratio"] > 1.1 and document["forced"]
    both = results(*([e for e in f["benchmarks"]] for f in files))
    by = f"--by={key.partition(':')[0]}"
    assert compare(both, options=[by])[0] == 3
    assert as_data(compare, both, options=[by, "--force"])["pairs"]


# Formats and options


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
