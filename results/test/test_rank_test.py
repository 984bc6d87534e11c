"""The rank test against scipy's permutation test, and its interval against the test itself."""

import numpy as np
import pytest
from gatherstats.rank_test import MADE_AT, rank_test, smallest_p
from scipy import stats


def one(base, other):
    """What the test says of one pair: low, high, p."""
    result = rank_test(np.atleast_2d(base), np.atleast_2d(other))
    return float(result.low[0]), float(result.high[0]), float(result.p[0])


def sum_of_scores(base, other):
    """The statistic, written down once more: ranks beyond the quartiles count as those."""
    ranks = stats.rankdata(np.concatenate([base, other]))
    beyond = ranks.size // 4
    return np.clip(ranks, beyond + 1, ranks.size - beyond)[len(base) :].sum()


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
    assert smallest_p(n, m) == smallest_p(m, n)


@pytest.mark.parametrize("n, m", [(5, 5), (10, 13), (25, 25), (40, 33)])
def test_the_interval_ends_where_the_test_begins_to_reject(n, m, rng):
    base, other = rng.lognormal(0, 0.1, n), 1.3 * rng.lognormal(0, 0.1, m)
    low, high, _ = one(base, other)
    assert low < high
    for end, inside in ((low, 1 + 1e-6), (high, 1 - 1e-6)):
        assert one(base, other / (end * inside))[2] >= 1 - MADE_AT
        assert one(base, other / (end / inside))[2] < 1 - MADE_AT


def test_too_few_repetitions_have_no_interval():
    low, high, p = one([1.0, 2, 3], [4.0, 5, 6])
    assert np.isnan(low) and np.isnan(high) and p == pytest.approx(0.1)


def test_outliers_have_no_weight(rng):
    base, other = rng.lognormal(0, 0.01, 40), 1.01 * rng.lognormal(0, 0.01, 40)
    disturbed = other.copy()
    disturbed[np.argsort(other)[-8:]] *= 100
    assert one(base, disturbed) == pytest.approx(one(base, other), rel=1e-3)
