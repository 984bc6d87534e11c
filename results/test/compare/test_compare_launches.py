"""compare.py on several launches: each counts once, and they must have taken turns."""

import numpy as np
import pytest
from made import failed, repetitions, results
from made_launches import OP, as_data, flat, in_turn, launches, row, run_of, verdicts
from scipy import stats


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
