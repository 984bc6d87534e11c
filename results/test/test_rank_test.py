"""The rank test against scipy's permutation test, and its interval against the test itself."""

import numpy as np
import pytest
from gatherstats.stats.medians import weighted_medians
from gatherstats.stats.rank_test import CONSTRUCTION_LEVEL, rank_test, smallest_p
from scipy import stats


def one(*values):
    """What the test says of one pair, and of its weights if there are any: low, high, p."""
    result = rank_test(*(np.atleast_2d(value) for value in values))
    return float(result.low[0]), float(result.high[0]), float(result.p[0])


def sum_of_scores(base, other):
    """The statistic, written down once more: a quarter below and two fifths above are alike."""
    both = np.concatenate([base, other])
    lowest, highest = both.size // 4 + 1, both.size - 2 * both.size // 5
    scores = np.clip(np.arange(1, both.size + 1), lowest, highest)
    in_order = np.sort(both)
    return sum(scores[in_order == value].mean() for value in other)


def permuted(base, other):
    """The share of all ways to deal the values out that give as large a difference."""
    return stats.permutation_test(
        (base, other), sum_of_scores, permutation_type="independent"
    ).pvalue


@pytest.mark.parametrize("n, m", [(4, 4), (3, 5), (5, 4), (6, 6)])
def test_p_counts_all_permutations(n, m, rng):
    for _ in range(5):
        base, other = rng.random(n) + 1, 1.2 * (rng.random(m) + 1)
        assert one(base, other)[2] == pytest.approx(permuted(base, other))


@pytest.mark.parametrize("n, m", [(26, 26), (100, 30)])
def test_p_of_many_repetitions_is_close_to_dealing_out(n, m, rng):
    base, other = rng.normal(1, 0.02, n), rng.normal(1.01, 0.02, m)
    dealt = stats.permutation_test(
        (base, other), sum_of_scores, n_resamples=20_000, random_state=1
    )
    assert 0.001 < dealt.pvalue < 0.5
    assert one(base, other)[2] == pytest.approx(dealt.pvalue, abs=0.01)


def test_p_with_ties_is_close_to_counting():
    base, other = np.array([1.0, 1, 2, 2, 3, 3]), np.array([3.0, 3, 4, 4, 5, 5])
    assert one(base, other)[2] == pytest.approx(permuted(base, other), abs=0.01)
    assert one([2.0] * 5, [2.0] * 5)[2] == 1


@pytest.mark.parametrize("n, m", [(4, 4), (10, 10), (2, 100), (3, 40), (9, 30)])
def test_the_smallest_p_is_that_of_rows_without_overlap(n, m):
    apart = one(np.arange(1.0, n + 1), np.arange(1000.0, 1000 + m))[2]
    if n + m <= 50:
        assert apart == pytest.approx(smallest_p(n, m))
    assert smallest_p(n, m) == pytest.approx(smallest_p(m, n))


@pytest.mark.parametrize("n, m", [(5, 5), (10, 13), (25, 25), (40, 33)])
def test_the_interval_ends_where_the_test_begins_to_reject(n, m, rng):
    base, other = rng.lognormal(0, 0.1, n), 1.3 * rng.lognormal(0, 0.1, m)
    low, high, _ = one(base, other)
    assert low < high
    for end, inside in ((low, 1 + 1e-6), (high, 1 - 1e-6)):
        assert one(base, other / (end * inside))[2] >= 1 - CONSTRUCTION_LEVEL
        assert one(base, other / (end / inside))[2] < 1 - CONSTRUCTION_LEVEL


def test_ties_make_no_p_that_the_numbers_cannot_give():
    for base, other in (([1.0, 1, 1], [2.0, 2, 3]), ([1.0, 1, 1, 1], [2.0, 2, 2, 2])):
        n = len(base)
        assert one(base, other)[2] == pytest.approx(smallest_p(n, n))


def test_smallest_p_of_very_many_repetitions_is_a_number():
    assert 0 <= smallest_p(300, 5000) < 1e-12


def test_many_pairs_are_ranked_in_pieces(rng, monkeypatch):
    base, other = rng.lognormal(0, 0.1, (7, 40)), rng.lognormal(0, 0.1, (7, 40))
    whole = rank_test(base, other)
    monkeypatch.setattr("gatherstats.stats.rank_test.ROWS_PER_BLOCK", 170)
    pieces = rank_test(base, other)
    assert np.array_equal(whole.low, pieces.low) and np.array_equal(whole.p, pieces.p)


def test_too_few_repetitions_have_no_interval():
    low, high, p = one([1.0, 2, 3], [4.0, 5, 6])
    assert np.isnan(low) and np.isnan(high) and p == pytest.approx(0.1)


def test_outliers_have_no_weight(rng):
    base, other = rng.lognormal(0, 0.01, 40), 1.01 * rng.lognormal(0, 0.01, 40)
    disturbed = other.copy()
    disturbed[np.argsort(other)[-8:]] *= 100
    assert one(base, disturbed) == pytest.approx(one(base, other), rel=1e-3)


def weighted(rng, n=60, m=40):
    """Rows whose scatter is what their weights say, and those weights."""
    weights = np.exp(rng.normal(0, 0.7, n + m))
    times = np.exp(rng.normal(0, 0.01, n + m) / weights)
    return times[:n], 1.0025 * times[n:], weights[:n], weights[n:]


def test_p_with_weights_is_close_to_dealing_out(rng):
    base, other, *weights = weighted(rng)
    logs, weights = np.log(np.concatenate([base, other])), np.concatenate(weights)
    n, size = base.size, logs.size
    centres = [
        weighted_medians(logs[None, part], weights[None, part])[0]
        for part in (slice(None, n), slice(n, None))
    ]
    middle = (n * centres[0] + (size - n) * centres[1]) / size
    ranks = stats.rankdata((logs - middle) * weights)
    scores = np.clip(ranks, size // 4 + 1, size - 2 * size // 5)
    scores = (scores - scores.mean()) * weights
    dealt = np.array([rng.permutation(scores)[n:].sum() for _ in range(20_000)])
    distance = abs(scores[n:].sum() - scores.mean() * (size - n))
    expected = np.mean(np.abs(dealt - dealt.mean()) >= distance)
    assert 0.001 < expected < 0.5
    p = one(base, other, weights[:n], weights[n:])[2]
    assert p == pytest.approx(expected, abs=0.01)


def test_the_interval_with_weights_ends_where_the_test_begins_to_reject(rng):
    base, other, *weights = weighted(rng)
    low, high, _ = one(base, other, *weights)
    assert low < high
    for end, inside in ((low, 1 + 1e-6), (high, 1 - 1e-6)):
        assert one(base, other / (end * inside), *weights)[2] >= 1 - CONSTRUCTION_LEVEL
        assert one(base, other / (end / inside), *weights)[2] < 1 - CONSTRUCTION_LEVEL


def test_weights_make_the_interval_narrower_and_keep_its_promise(rng):
    pairs = [weighted(rng) for _ in range(400)]
    rows = [np.stack(part) for part in zip(*pairs)]
    with_weights, without = rank_test(*rows), rank_test(*rows[:2])
    widths = np.log(with_weights.high / with_weights.low)
    assert np.median(widths) < 0.8 * np.median(np.log(without.high / without.low))
    held = (with_weights.low < 1.0025) & (1.0025 < with_weights.high)
    assert 0.94 <= np.mean(held) < 1


def test_equal_weights_are_none(rng):
    base, other = rng.lognormal(0, 0.1, 40), rng.lognormal(0, 0.1, 30)
    equal = one(base, other, np.full(40, 2.0), np.full(30, 2.0))
    assert equal == pytest.approx(one(base, other))


def test_weighted_medians(rng):
    rows = rng.random((5, 8))
    assert weighted_medians(rows, np.ones((5, 8))) == pytest.approx(
        np.median(rows, axis=1)
    )
    assert weighted_medians(rows[:, :7], np.full((5, 7), 0.1)) == pytest.approx(
        np.median(rows[:, :7], axis=1)
    )
    values = np.array([[3.0, 1.0, 2.0]])
    assert weighted_medians(values, np.array([[5.0, 1.0, 1.0]])) == [3.0]
    assert weighted_medians(values, np.array([[2.0, 1.0, 1.0]])) == [2.5]
