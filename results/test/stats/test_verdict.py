"""The four verdicts, corrections, and undecidable pairs."""

import numpy as np
import pytest
from gatherstats.data.rows import Aggregates
from gatherstats.stats.effect import Effect, compare_repetitions, compare_summaries
from gatherstats.stats.launches import Launches, LaunchSet
from gatherstats.stats.medians import median_interval
from gatherstats.stats.rank_test import smallest_p
from gatherstats.stats.repetitions import Repetitions
from gatherstats.stats.verdict import (
    Outcome,
    benjamini_hochberg,
    holm,
    judge,
    repetitions_needed,
    uncorrected,
)
from gatherstats.stats.verdict_words import sentence
from made import in_one_run
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats


def normal(median, n=100, scatter=0.01):
    """Make times with exactly the quantiles of a normal distribution."""
    return median * (1 + scatter * stats.norm.ppf((np.arange(n) + 0.5) / n))


def shuffled(median, rng, n=100, scatter=0.01):
    # Slightly different values, so that two rows have no ties.
    return normal(median, n, scatter) * (1 + 1e-7 * rng.random(n))


def only(base, other, **options):
    (verdict,) = judge([in_one_run(base, other)], **options)
    return verdict


def effects_of(*pairs):
    return compare_repetitions([in_one_run(*pair) for pair in pairs])


@pytest.mark.parametrize(
    "other, outcome",
    [
        (0.95, Outcome.FASTER),
        (1.05, Outcome.SLOWER),
        (1.002, Outcome.SAME),
        (1.0095, Outcome.SLOWER),
    ],
)
def test_decided(rng, other, outcome):
    scatter = 0.01
    verdict = only(shuffled(1, rng, 100, scatter), shuffled(other, rng, 100, scatter))
    assert verdict.outcome is outcome
    assert verdict.effect.ratio == pytest.approx(other, rel=1e-3)
    assert verdict.effect.low < other < verdict.effect.high
    assert verdict.needed is None


def test_the_threshold_can_be_set(rng):
    base, other = shuffled(1, rng), shuffled(1.02, rng)
    assert only(base, other).outcome is Outcome.SLOWER
    assert only(base, other, threshold=0.05).outcome is Outcome.SAME


def test_undecided_says_how_many_would_do(rng):
    base, other = shuffled(1, rng, 10, 0.05), shuffled(1.03, rng, 10, 0.05)
    verdict = only(base, other)
    assert verdict.outcome is Outcome.UNDECIDED
    many = verdict.needed
    assert 10 < many < 1000
    bigger = only(shuffled(1, rng, many, 0.05), shuffled(1.03, rng, many, 0.05))
    assert bigger.outcome is Outcome.SLOWER


def test_too_few_repetitions_for_any_decision():
    (verdict,) = judge(
        [in_one_run(np.array([1.0, 1.1, 1.2]), np.array([5.0, 5.1, 5.2]))]
    )
    assert verdict.outcome is Outcome.UNDECIDED and not verdict.attainable
    text = sentence("B", "A", verdict, 0.01)
    assert "3 repetitions cannot decide it: p could be 0.1 at best" in text
    assert "it takes at least 4 of each" in text


def test_a_large_family_needs_more_repetitions(rng):
    pairs = [(normal(1, 4), 2 * normal(1, 4) + i * 1e-6) for i in range(3)]
    assert only(*pairs[0]).outcome is Outcome.SLOWER
    for verdict in judge([in_one_run(*pair) for pair in pairs]):
        assert verdict.outcome is Outcome.UNDECIDED and verdict.needed == 5


def test_ten_repetitions_reach_1e_5():
    assert smallest_p(10, 10) == pytest.approx(1.0825e-5, rel=1e-4)
    (effect,) = effects_of((np.arange(1.0, 11), np.arange(21.0, 31)))
    assert smallest_p(10, 10) <= effect.p < 1e-4


@pytest.mark.parametrize(
    "base, other, message",
    [
        ([1.0], [2.0, 2.1, 2.2], "a single value shows no spread"),
        ([0.0, 0.0, 0.0], [1.0, 1.1, 1.2], "a time of zero gives no ratio"),
        ([1.0, 1.1, 1.2], [0.0, 1.0, 1.0], "a time of zero gives no ratio"),
        ([2.0] * 10, [2.0] * 10, "no spread at all"),
        ([], [1.0, 2.0], "there is no repetition"),
    ],
)
def test_what_cannot_be_tested(base, other, message):
    verdict = only(np.array(base), np.array(other))
    assert verdict.outcome is Outcome.UNDECIDED
    text = sentence("B", "A", verdict, 0.01)
    assert message in text and "nan" not in text


@pytest.mark.parametrize("n", [10, 30, 100])
def test_a_coarse_clock_is_not_the_same(n):
    times = np.array([1.0] * (n - n // 10) + [2.0] * (n // 10))
    assert only(times, times).outcome is Outcome.UNDECIDED


def test_the_same_samples_twice_are_the_same():
    assert only(normal(1), normal(1)).outcome is Outcome.SAME


def test_a_row_with_two_modes_gets_a_wide_interval(rng):
    """The median lies in one mode or the other by chance, and the ranks do not show it."""
    modes = np.concatenate([normal(1, 50), normal(2, 50)])
    (effect,) = effects_of((modes, modes * (1 + 1e-6)))
    assert effect.low < 0.7 and effect.high > 1.5
    # Half of the one row lies in the lower mode, and four in ten of the other.
    other = np.concatenate([normal(1, 40), normal(2, 60)])
    verdict = only(modes, other)
    assert verdict.outcome is not Outcome.SAME
    assert verdict.effect.low < verdict.effect.ratio < verdict.effect.high


def test_a_few_disturbed_repetitions_do_not_widen_the_interval():
    base, other = normal(1, 10), normal(1.05, 10)
    (plain,) = effects_of((base, other))
    base[-2:] *= 3
    other[-2:] *= 3
    (disturbed,) = effects_of((base, other))
    assert disturbed.high / disturbed.low < 1.1 * plain.high / plain.low
    assert only(base, other).outcome is Outcome.SLOWER


def test_the_ratio_lies_in_its_interval(rng):
    for n in (4, 10, 40):
        base, other = rng.lognormal(0, 0.5, (300, n)), rng.lognormal(0, 0.1, (300, n))
        for effect in effects_of(*zip(base, other)):
            assert effect.low <= effect.ratio <= effect.high


def test_the_interval_holds_what_it_promises(rng):
    base = rng.lognormal(0, 0.3, (400, 20))
    other = 1.5 * rng.lognormal(0, 0.3, (400, 20))
    effects = effects_of(*zip(base, other))
    missed = sum(not e.low < 1.5 < e.high for e in effects)
    assert missed <= 0.07 * 400


@settings(deadline=None)
@given(st.floats(1e-9, 1e9), st.floats(1e-3, 1e3))
def test_the_unit_plays_no_part(unit, ratio):
    base, other = normal(1, 20), ratio * normal(1, 20, 0.02)
    (plain,) = effects_of((base, other))
    (scaled,) = effects_of((base * unit, other * unit))
    assert scaled.ratio == pytest.approx(plain.ratio)
    assert scaled.low == pytest.approx(plain.low)
    (turned,) = compare_repetitions([in_one_run(base, other)[::-1]])
    assert turned.ratio == pytest.approx(1 / plain.ratio)
    assert turned.high == pytest.approx(1 / plain.low, rel=1e-4)


def test_pairs_computed_together_are_as_if_alone(rng):
    sizes = [(5, 5), (10, 12), (5, 5), (40, 40), (1, 5)]
    pairs = [(rng.random(n) + 1, rng.random(m) + 1) for n, m in sizes]
    together = effects_of(*pairs)
    alone = [effects_of(pair)[0] for pair in pairs]
    assert [str(e) for e in together] == [str(e) for e in alone]


def test_welch_from_summaries():
    base, other = Aggregates(100, 47.92, 3.271), Aggregates(100, 48.51, 4.621)
    effect = compare_summaries(base, other)
    assert effect.p == pytest.approx(0.2984, abs=5e-4)
    assert effect.statistic == "means"


@pytest.mark.parametrize(
    "base, other, statistic, ratio, problem",
    [
        (Aggregates(9, 2.0), Aggregates(9, 3.0), "means", 1.5, "without a spread"),
        (Aggregates(median_s=2.0), Aggregates(median_s=1.0), "medians", 0.5, "an n"),
        (Aggregates(9, 2.0), Aggregates(median_s=1.0), "medians", None, "an n"),
        (Aggregates(9, 0.0, 0.1), Aggregates(9, 3.0, 0.1), "means", None, "zero"),
        (Aggregates(9, 2.0, 0.0), Aggregates(9, 3.0, 0.0), "means", 1.5, "no spread"),
        (Aggregates(2, 1.0, 400.0), Aggregates(2, 1.0, 9.0), "means", 1, "too much"),
    ],
)
def test_summaries_that_cannot_be_tested(base, other, statistic, ratio, problem):
    effect = compare_summaries(base, other)
    assert problem in effect.problem and effect.statistic == statistic
    assert np.isnan(effect.ratio) if ratio is None else effect.ratio == ratio


def test_welch_equals_scipy_on_samples(rng):
    base, other = normal(1, 30), normal(1.01, 20, 0.03)
    known = Aggregates(20, float(other.mean()), float(other.std(ddof=1)))
    (verdict,) = judge([(Repetitions(base), known)])
    expected = stats.ttest_ind(other, base, equal_var=False).pvalue
    assert verdict.effect.p == pytest.approx(expected)


def test_holm():
    assert holm(np.array([0.01, 0.04, 0.03])) == pytest.approx([0.03, 0.06, 0.06])
    assert holm(np.array([0.9, 0.8])) == pytest.approx([1, 1])
    assert holm(np.array([])).size == 0


def test_benjamini_hochberg():
    # The example of the paper's section 3.2 in short: four p values.
    p = np.array([0.01, 0.04, 0.03, 0.5])
    assert benjamini_hochberg(p) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_a_map_needs_fewer_repetitions_than_a_table(rng):
    # The more of a map is significant already, the less it takes for the next pair.
    pairs = [in_one_run(shuffled(1, rng, 20), shuffled(1.2, rng, 20)) for _ in range(9)]
    pairs.append(in_one_run(shuffled(1, rng, 20, 0.1), shuffled(1.05, rng, 20, 0.1)))
    table, map_ = judge(pairs)[-1], judge(pairs, correction=benjamini_hochberg)[-1]
    assert table.outcome is map_.outcome is Outcome.UNDECIDED
    (alone,) = judge(pairs[-1:])
    assert alone.needed == map_.needed < table.needed
    nothing = [pairs[-1]] * 10
    assert judge(nothing, correction=benjamini_hochberg)[0].needed == table.needed


@pytest.mark.parametrize(
    "shift, outcome", [(0.963, Outcome.FASTER), (1.038, Outcome.SLOWER)]
)
def test_the_family_decides(rng, shift, outcome):
    base, other = shuffled(1, rng, 30, 0.05), shuffled(shift, rng, 30, 0.05)
    assert only(base, other).outcome is outcome
    for verdict in judge([in_one_run(base, other)] * 20):
        # The interval leaves out 1, but one pair in twenty may do so by chance.
        assert verdict.effect.high < 1 or verdict.effect.low > 1
        assert verdict.outcome is Outcome.UNDECIDED


@pytest.mark.parametrize("ratio", [1.0, 1.002, 1.004])
def test_same_is_decided_as_often_as_promised_with_what_is_needed(ratio, rng):
    """With so many repetitions both ends lie within the threshold eight times in ten."""
    error, n = 0.01, 100
    reach = 1.959964 * error
    effect = Effect(
        "medians",
        ratio,
        ratio * np.exp(-reach),
        ratio * np.exp(reach),
        p=0.5,
        best_p=0,
        n=n,
    )
    needed = repetitions_needed(effect, 0.01, 1.0)
    smaller = error * np.sqrt(n / needed)
    middles = np.log(ratio) + smaller * rng.normal(size=20_000)
    inside = np.abs(middles) + 1.959964 * smaller <= np.log(1.01)
    assert np.mean(inside) == pytest.approx(0.8, abs=0.015)


@pytest.mark.parametrize("n", [4, 6, 8, 10, 20, 40])
def test_a_medians_interval_holds_between_two_modes(n, rng):
    """Four in ten lie in the lower mode: the true median is in the upper one, near its lower end."""
    lower = rng.random((2000, n)) < 0.4
    times = np.where(lower, 1.0, 1.3) * rng.lognormal(0, 0.01, (2000, n))
    middle, down, up = median_interval(np.sort(times, axis=1))
    # A sixth of the upper mode lies below it.
    true = np.log(1.3) + 0.01 * stats.norm.ppf(1 / 6)
    held = (middle - down <= true) & (true <= middle + up)
    assert np.mean(held) >= (0.93 if n >= 6 else 0.85)


def test_benjamini_and_hochberg_hold_for_pairs_that_share_rows(rng):
    """Maps of cells with three rows, all equal, or one of them different."""
    for differing in (0.0, 4.0):
        shares = []
        for _ in range(400):
            rows = rng.normal(size=(60, 3))
            rows[:30, 2] += differing
            first, second = [0, 0, 1], [1, 2, 2]
            z = (rows[:, first] - rows[:, second]) / np.sqrt(2)
            found = benjamini_hochberg(2 * stats.norm.sf(np.abs(z)).ravel()) < 0.05
            true = np.zeros((60, 3), dtype=bool)
            true[:30, 1:] = differing > 0
            false_alarms = np.count_nonzero(found & ~true.ravel())
            shares.append(false_alarms / max(1, np.count_nonzero(found)))
        assert np.mean(shares) <= 0.05 + 3 * np.std(shares) / 20


def test_a_pair_is_judged_alike_alone_and_among_others(rng):
    """Other rows, rows without moments and launches of other numbers do not change a verdict."""
    pairs = [in_one_run(*rng.lognormal(0, 0.01, (2, n)), seed=n) for n in (30, 31, 30)]
    pairs.append((Repetitions(rng.lognormal(0, 0.01, 30)), pairs[0][0]))
    together = judge(pairs, correction=uncorrected)
    alone = [judge([pair], correction=uncorrected)[0] for pair in pairs]
    assert str(together) == str(alone)


def test_an_unknown_order_has_figures_and_no_word(rng):
    (verdict,) = judge([tuple(map(Repetitions, (shuffled(1, rng), shuffled(2, rng))))])
    assert verdict.outcome is Outcome.UNDECIDED and "order" in verdict.effect.problem
    assert 1.9 < verdict.effect.low < 2 < verdict.effect.high < 2.1
    assert np.isnan(verdict.effect.p) and verdict.needed is None
    text = sentence("B", "A", verdict, 0.01)
    assert "95 % interval 1.99" in text and "p =" not in text


def test_launches_are_compared_in_pairs(rng):
    """Rows of the same launches: what a launch does to both cancels."""
    launches = LaunchSet(None, np.full(10, np.nan))
    hours = rng.lognormal(0, 0.05, 10)
    base, other = (
        Launches(
            factor * hours * rng.lognormal(0, 0.002, 10),
            None,
            0.0,
            launches,
            np.arange(10),
        )
        for factor in (1, 1.02)
    )
    (verdict,) = judge([(base, other)])
    assert verdict.outcome is Outcome.SLOWER and verdict.effect.n == 10
    expected = stats.ttest_rel(np.log(base.times_s), np.log(other.times_s))
    assert verdict.effect.p == pytest.approx(expected.pvalue)
    # Without one launch of one row its partner plays no part either.
    nine = Launches(other.times_s[1:], None, 0.0, launches, np.arange(1, 10))
    (verdict,) = judge([(base, nine)])
    assert verdict.effect.n == 9
    expected = stats.ttest_rel(np.log(base.times_s[1:]), np.log(nine.times_s))
    assert verdict.effect.p == pytest.approx(expected.pvalue)
