"""The promises of the verdicts: few false alarms, no wrong "same", more power than plain tests.

On simulated rows whose true ratio is known, and on repetitions of one row recorded in real runs of
the blog's loop, whose true ratio is 1 until one half of them is multiplied by a known factor.
"""

import functools
import json
import os

import numpy as np
import pytest
from conftest import RESULTS
from gatherstats.data.reader import load
from gatherstats.stats.drift import remove_drift
from gatherstats.stats.resampling import (
    draw,
    draw_as_measured,
    share,
    smallest_found,
    verdicts,
    without_drift,
)
from gatherstats.stats.verdict import ALPHA, THRESHOLD, Outcome, judge, uncorrected
from made import KINDS, in_one_run, interleaved
from recorded import RECORDED, as_one, found_by_plain_tests, found_slower, slower

COMPARISONS = int(os.environ.get("GATHERBENCH_COMPARISONS", "100"))
SIMULATED = 2 * COMPARISONS
LIMIT = ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / COMPARISONS)
"""ALPHA and three standard errors of a share of so many draws."""

DECIDED = (Outcome.FASTER, Outcome.SLOWER)


def simulated(kind, n, ratio, rng):
    """Verdicts on pairs with that true ratio, each a run of its own."""
    pairs = [
        tuple(remove_drift(interleaved(kind, n, rng, ratio))[0])
        for _ in range(SIMULATED)
    ]
    return judge(pairs, correction=uncorrected)


@pytest.mark.parametrize("n", [4, 10, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_false_alarms_on_simulated_rows(kind, n, rng):
    assert share(simulated(kind, n, 1.0, rng), *DECIDED) <= LIMIT


@pytest.mark.parametrize("ratio", [1.0101, 1 / 1.0101])
@pytest.mark.parametrize("n", [10, 40])
@pytest.mark.parametrize("kind", KINDS)
def test_same_is_not_said_of_what_differs(kind, n, ratio, rng):
    found = simulated(kind, n, ratio, rng)
    assert share(found, Outcome.SAME) <= LIMIT
    wrong = Outcome.FASTER if ratio > 1 else Outcome.SLOWER
    assert share(found, wrong) <= LIMIT


@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_the_true_ratio(kind, rng):
    found = simulated(kind, 20, 1.03, rng)
    held = [v.effect.low <= 1.03 <= v.effect.high for v in found]
    assert np.mean(held) >= 1 - LIMIT


@pytest.mark.parametrize("more", [1.5, 2, 3])
@pytest.mark.parametrize("n", [10, 40, 100])
def test_more_scatter_is_no_difference(n, more, rng):
    """And does not hide one. Of ten repetitions, one row of which scatters three times as much as the
    other, 7 in 100 equal pairs are called different: the test is exact for rows that are alike.
    """
    base = rng.lognormal(0, 0.005, (COMPARISONS, n))
    other = rng.lognormal(0, more * 0.005, (COMPARISONS, n))
    pairs = [in_one_run(*two, seed=k) for k, two in enumerate(zip(base, other))]
    assert share(verdicts(pairs, THRESHOLD), *DECIDED) <= 0.025 + LIMIT
    for slowdown in (0.0101, 1 / 1.0101 - 1):
        slowed = [(one, slower(two, slowdown)) for one, two in pairs]
        assert share(verdicts(slowed, THRESHOLD), Outcome.SAME) <= LIMIT


@pytest.fixture(params=RECORDED, ids=[path.stem for path in RECORDED])
def recorded(request):
    return request.param


@functools.cache
def drawn(path, n):
    rng, rows = np.random.default_rng(1), [as_one(load(path).rows)]
    return [draw_as_measured(rows, 0, 0, n, rng) for _ in range(COMPARISONS)]


@functools.cache
def draws(path, n):
    return [without_drift(one) for one in drawn(path, n)]


@pytest.mark.parametrize("n", [10, 30, 100])
def test_false_alarms_on_recorded_repetitions(recorded, n):
    assert share(verdicts(draws(recorded, n), THRESHOLD), *DECIDED) <= LIMIT


@pytest.mark.parametrize("n", [30, 100])
def test_same_is_not_said_of_recorded_repetitions_that_differ(recorded, n):
    for slowdown in (0.0101, 1 / 1.0101 - 1):
        slowed = [(base, slower(other, slowdown)) for base, other in draws(recorded, n)]
        assert share(verdicts(slowed, THRESHOLD), Outcome.SAME) <= LIMIT


@pytest.mark.parametrize("slowdown", [0.01, 0.02, 0.05])
def test_more_is_found_than_by_plain_tests(recorded, slowdown):
    ours = found_slower(draws(recorded, 100), slowdown)
    plain = found_by_plain_tests(drawn(recorded, 100), slowdown, ALPHA)
    assert ours >= max(plain) - 0.03


def test_two_per_cent_are_found_on_a_busy_machine():
    """Recorded at an hour when files took half as long again for seconds, and twice now and then."""
    rows = load(RESULTS / "test" / "files" / "recorded_busy.json").rows
    pairs = draw(rows, 0, 0, 100, 60, np.random.default_rng(1))
    assert found_slower(pairs, 0.02) >= 0.9


def test_one_and_two_per_cent_are_found_on_a_quiet_machine():
    pairs = draws(RESULTS / "test" / "files" / "recorded_quiet.json", 100)
    assert found_slower(pairs, 0.02) >= 0.95
    assert found_slower(pairs, 0.01) >= 0.8
    assert smallest_found(pairs) < 0.015


def test_more_bytes_are_found(recorded):
    """Rows that really wrote 2 % more, measured in the same run."""
    rows = load(recorded).rows
    sizes = [int(row.name.keys["file_bytes"]) for row in rows]
    other = sizes.index(102_000_000)
    n = rows[0].times_s.size // 2
    found = draw(rows, 0, other, n, 50, np.random.default_rng(1))
    ratios = [b.median_s / a.median_s for a, b in found]
    assert np.median(ratios) == pytest.approx(1.02, abs=0.015)


def test_the_recorded_files_tell_nothing_of_their_machine():
    for path in (RESULTS / "test" / "files").glob("*.json"):
        context = json.loads(path.read_text())["context"]
        assert context["host_name"] == "host" and context["executable"] == "gatherbench"
        assert "/" not in context.get("gatherbench.command", "").replace(
            "--dir=/tmp", ""
        )
