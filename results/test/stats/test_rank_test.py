"""The rank test against its definition by permutations, and its interval against the test."""

import itertools

import numpy as np
import pytest
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.drift import remove_drift
from gatherstats.stats.rank_test import (
    EXACT_MAX_N,
    REACH,
    SCORE_STEPS,
    rank_test,
    smallest_p,
)
from made import in_one_run, interleaved, drifting
from scipy import stats


def one(base, other):
    """Test one pair: low, high, p."""
    result = rank_test([(base, other)])
    return float(result.low[0]), float(result.high[0]), float(result.p[0])


def scores(logs, positions, timeline=()):
    """Compute the scores by their definition: neighbours weigh one over their distance."""
    result = np.zeros(len(logs))
    for i, (value, place) in enumerate(zip(logs, positions)):
        for other, there in [*zip(logs, positions), *timeline]:
            if 0 < abs(place - there) <= 50:
                result[i] += np.sign(value - other) / abs(place - there)
    return result


def parts(base, other):
    logs = np.concatenate([base.moments.logs, other.moments.logs])
    return logs, np.concatenate([base.moments.positions, other.moments.positions])


def permuted(found, n):
    """Return the share of all permutations of scores with at least this difference."""
    totals = [sum(chosen) for chosen in itertools.combinations(found, found.size - n)]
    distances = np.abs(np.array(totals) - found.mean() * (found.size - n))
    return np.mean(
        distances >= abs(found[n:].sum() - found.mean() * (found.size - n)) - 1e-9
    )


@pytest.mark.parametrize("n, m", [(4, 4), (3, 5), (5, 4), (6, 6)])
def test_p_counts_all_ways_to_deal_the_scores_out(n, m, rng):
    for seed in range(5):
        base, other = in_one_run(
            rng.random(n) + 1, 1.2 * (rng.random(m) + 1), seed=seed
        )
        whole = np.rint(scores(*parts(base, other)) * SCORE_STEPS)
        assert one(base, other)[2] == pytest.approx(permuted(whole, n))


def test_p_of_many_repetitions_is_close_to_dealing_out(rng):
    n, m = 40, 30
    base, other = in_one_run(rng.normal(1, 0.02, n), rng.normal(1.01, 0.02, m))
    found = scores(*parts(base, other))
    assert n + m > EXACT_MAX_N
    dealt = np.array([rng.permutation(found)[n:].sum() for _ in range(20_000)])
    distance = abs(found[n:].sum() - found.mean() * m)
    expected = np.mean(np.abs(dealt - dealt.mean()) >= distance)
    assert 0.001 < expected < 0.5
    assert one(base, other)[2] == pytest.approx(expected, abs=0.01)


def in_rounds(ratio, n, rng):
    """Make two rows that each run once a round, in random order."""
    first = rng.random(n) < 0.5
    rounds = np.arange(n)
    rows = [
        Row(
            parse_name(name),
            factor * rng.lognormal(0, 0.01, n),
            2.0 * rounds + np.where(first, place, 1 - place),
            counters={"round": rounds},
        )
        for place, (name, factor) in enumerate((("a", 1.0), ("b", ratio)))
    ]
    return remove_drift(rows)[0]


def test_in_rounds_the_two_of_each_round_are_swapped(rng):
    base, other = in_rounds(1.004, 8, rng)
    found = np.rint(scores(*parts(base, other)) * SCORE_STEPS)
    differences = found[8:] - found[:8]
    signs = np.array(list(itertools.product([-1, 1], repeat=8)))
    expected = np.mean(np.abs(signs @ differences) >= abs(differences.sum()))
    assert one(base, other)[2] == pytest.approx(expected)
    assert smallest_p(8, 8, True) == 2 / 2**8


@pytest.mark.parametrize("n", [8, 30])
def test_rounds_keep_their_promise_and_find_what_there_is(n, rng):
    result = rank_test([in_rounds(1.01, n, rng) for _ in range(600)])
    held = (result.low <= 1.01) & (1.01 <= result.high)
    assert 0.93 <= np.mean(held) <= 0.98
    equal = rank_test([in_rounds(1.0, n, rng) for _ in range(600)])
    assert np.mean(equal.p < 0.05) <= 0.075
    assert np.mean(result.p < 0.05) > (0.3 if n == 8 else 0.9)


def test_other_rows_tell_how_fast_the_machine_was(rng):
    """Their repetitions are compared with too, each divided by its own row's median."""
    wave = 1 + 0.2 * np.sin(np.arange(400) / 8)
    owner = rng.permutation(np.arange(400) % 10)
    times = wave * rng.lognormal(0, 0.002, 400) * (1 + owner)
    rows = [
        Row(parse_name(str(k)), times[owner == k], np.flatnonzero(owner == k) * 1.0)
        for k in range(10)
    ]
    alone = remove_drift(rows[:2])[0]
    among = remove_drift(rows)[0][:2]
    widths = [np.log(high / low) for low, high, _ in (one(*alone), one(*among))]
    assert widths[1] < 0.8 * widths[0]


def test_it_knows_no_labels(rng):
    """Rows that are exchanged have the same p, and the interval turned round."""
    base, other = interleaved(drifting, 30, rng, 1.01)
    rows = remove_drift([base, other])[0]
    low, high, p = one(*rows)
    turned = one(*rows[::-1])
    assert turned[2] == pytest.approx(p)
    assert turned[:2] == pytest.approx((1 / high, 1 / low), rel=1e-4)


@pytest.mark.parametrize("distance, counts", [(50, True), (51, False)])
def test_how_far_comparisons_reach(distance, counts):
    """Beyond that a comparison would count less than a fiftieth of one with a neighbour."""
    assert REACH == 50
    size = 60
    times = np.full((2, size), 1.0)
    times[0, 0] = 2.0
    starts = np.stack([np.arange(size), 1000.0 + np.arange(size)])
    starts[0, 1:] += 500 + size
    starts[1, :distance] = 1 + np.arange(distance)
    starts[1, distance:] += 1000
    rows = [Row(parse_name(n), t, s) for n, t, s in zip("ab", times, starts)]
    from gatherstats.stats.rank_test import _Scores

    found = _Scores([tuple(remove_drift(rows)[0])]).at(np.zeros(1))[0]
    last = size + distance - 1
    assert (found[last] < 0) == counts


@pytest.mark.parametrize("n, m", [(4, 4), (5, 5), (10, 13), (25, 25), (40, 33)])
def test_the_interval_ends_where_the_test_begins_to_reject(n, m, rng):
    base, other = in_one_run(rng.lognormal(0, 0.1, n), 1.3 * rng.lognormal(0, 0.1, m))
    low, high, _ = one(base, other)
    assert low < 1.3 < high or n < 10
    found = [
        np.abs(_normal(base, other.scaled(1 / ratio)))
        for ratio in (low * 1.001, low * 0.999, high * 0.999, high * 1.001)
    ]
    assert found[0] <= 1.96 <= found[1] and found[2] <= 1.96 <= found[3]


def _normal(base, other):
    n = base.size
    found = scores(*parts(base, other))
    size = found.size
    variance = found.var(ddof=1) * n * (size - n) / size
    return (found[n:].sum() - found.mean() * (size - n)) / np.sqrt(variance)


def test_too_few_repetitions_have_no_interval():
    low, high, p = one(*in_one_run([1.0, 2, 3], [4.0, 5, 6], seed=3))
    assert np.isnan(low) and np.isnan(high) and p >= 0.1


def test_smallest_p():
    assert smallest_p(4, 4) == pytest.approx(2 / 70)
    assert smallest_p(10, 10) == pytest.approx(1.0825e-5, rel=1e-4)
    assert smallest_p(3, 40) == pytest.approx(smallest_p(40, 3))
    assert 0 <= smallest_p(300, 5000) < 1e-12


@pytest.mark.parametrize("n", [6, 10, 15])
def test_rows_without_overlap_have_nearly_the_smallest_p(n, rng):
    pairs = [
        in_one_run(rng.random(n) + 1, rng.random(n) + 1000, seed=seed)
        for seed in range(50)
    ]
    p = rank_test(pairs).p
    assert np.min(p) >= smallest_p(n, n) * (1 - 1e-9)
    assert np.mean(p < 0.01) >= 0.9


def test_many_pairs_are_compared_in_pieces(rng, monkeypatch):
    pairs = [in_one_run(*rng.lognormal(0, 0.1, (2, 40)), seed=k) for k in range(7)]
    whole = rank_test(pairs)
    monkeypatch.setattr("gatherstats.stats.rank_test.BATCH_COMPARISONS", 17_000)
    pieces = rank_test(pairs)
    assert np.array_equal(whole.low, pieces.low) and np.array_equal(whole.p, pieces.p)


def test_outliers_have_no_weight(rng):
    base, other = rng.lognormal(0, 0.01, 40), 1.01 * rng.lognormal(0, 0.01, 40)
    disturbed = other.copy()
    disturbed[np.argsort(other)[-4:]] *= 100
    plain = one(*in_one_run(base, other))
    assert one(*in_one_run(base, disturbed)) == pytest.approx(plain, rel=2e-3)


def test_equal_values_are_no_difference():
    assert one(*in_one_run([2.0] * 5, [2.0] * 5))[2] == 1
    base, other = in_one_run([1.0] * 30 + [1.1] * 30, [1.0] * 30 + [1.1] * 30)
    assert one(base, other)[2] > 0.01


def test_the_normal_approximation_takes_over_without_a_jump(rng):
    """Equal rows have p below 0.05 as often just below EXACT_MAX_N as just above."""
    for n in (EXACT_MAX_N // 2, EXACT_MAX_N // 2 + 1):
        pairs = [in_one_run(*rng.random((2, n)), seed=k) for k in range(600)]
        assert np.mean(rank_test(pairs).p < 0.05) == pytest.approx(0.05, abs=0.03)
    assert stats.norm.ppf(0.975) == pytest.approx(1.96, abs=0.01)


def test_repetitions_out_of_each_others_reach_are_compared_through_other_rows(rng):
    """No two of one row, nor of both, lie within REACH of each other."""
    owner = np.full(2000, 2)
    owner[::100] = rng.permutation(np.arange(20) % 2)
    times = rng.lognormal(0, 0.01, 2000) * np.where(owner == 1, 1.05, 1)
    rows = [
        Row(parse_name(str(k)), times[owner == k], np.flatnonzero(owner == k) * 1.0)
        for k in range(3)
    ]
    low, high, p = one(*remove_drift(rows)[0][:2])
    assert 1.02 < low < 1.05 < high < 1.08 and p < 0.001
