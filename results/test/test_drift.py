"""Drift is taken out, and nothing else: no row's own effect, no spread that is not there."""

import numpy as np
import pytest
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.drift import (
    NEIGHBOURS,
    Drift,
    autocorrelation,
    is_in_random_order,
    median_of_neighbours,
    remove_drift,
)
from gatherstats.stats.verdict_words import drifts_text


def make_rows(times, starts):
    return [
        Row(parse_name(str(i)), times_s=t, start_s=s)
        for i, (t, s) in enumerate(zip(times, starts))
    ]


def test_a_slow_wave_goes_and_the_difference_stays(rng):
    starts = rng.permutation(400).reshape(2, 200).astype(float)
    wave = 1 + 0.2 * np.sin(starts / 40)
    noise = rng.lognormal(0, 0.005, (2, 200))
    times = np.array([[1.0], [1.03]]) * wave * noise
    (base, other), drift = remove_drift(make_rows(times, starts))
    assert drift.removed and drift.low < 0.9 and drift.high > 1.1
    assert drift.scatter_before > 0.1 and drift.scatter_after < 0.03
    assert other.median_s / base.median_s == pytest.approx(1.03, abs=0.004)


def test_a_row_cannot_remove_its_own_effect():
    # One row after the other, a factor of two apart: all of it must stay.
    times = [np.linspace(1, 1.1, 50), 2 * np.linspace(1, 1.1, 50)]
    starts = [np.arange(50.0), 50 + np.arange(50.0)]
    (base, other), drift = remove_drift(make_rows(times, starts))
    assert drift.removed
    assert other.median_s / base.median_s == pytest.approx(2, rel=0.01)


def test_noise_alone_is_left_as_it_is(rng):
    times = rng.lognormal(0, 0.02, (2, 1000))
    starts = rng.permutation(2000).reshape(2, 1000).astype(float)
    (base, other), drift = remove_drift(make_rows(times, starts))
    assert not drift.removed
    assert np.array_equal(base.times_s, times[0])
    assert np.array_equal(other.times_s, times[1])


def in_time(values):
    """One row with these times, a second apart."""
    return make_rows([np.asarray(values)], [np.arange(float(len(values)))])


def test_the_nearest_tell_more_than_the_ten_around(rng):
    # Each deviation is most of the one before: the median of ten neighbours cannot follow.
    deviations = np.zeros(2000)
    for i in range(1, deviations.size):
        deviations[i] = 0.8 * deviations[i - 1] + rng.normal(0, 0.01)
    (clean,), drift = remove_drift(in_time(np.exp(deviations)))
    left = np.std(np.log(clean.times_s))
    around = np.std(deviations - median_of_neighbours(deviations))
    assert drift.removed and left < 0.9 * around
    # No more can be known from both sides than leaves this (an autoregression's interpolation).
    assert left > 0.01 / np.sqrt(1 + 0.8**2)


def test_what_is_taken_out_of_a_repetition_does_not_come_from_itself(rng):
    times = np.exp(np.cumsum(rng.normal(0, 0.01, 300)))
    times[150] *= 2
    (clean,), _ = remove_drift(in_time(times))
    times[150] *= 2
    (again,), _ = remove_drift(in_time(times))
    taken_out = times[150] / again.times_s[150]
    assert taken_out == pytest.approx(times[150] / 2 / clean.times_s[150], rel=1e-9)


def test_the_middle_of_all_stays_where_it_is(rng):
    """However often the rows' medians and the drift are found from each other."""
    deviations = np.zeros(2000)
    for i in range(1, deviations.size):
        deviations[i] = 0.8 * deviations[i - 1] + rng.exponential(0.01)
    (clean,), drift = remove_drift(in_time(np.exp(deviations)))
    assert drift.removed
    shift = np.median(np.log(clean.times_s)) - np.median(deviations)
    assert abs(shift) < 0.05 * np.std(deviations)


def test_a_disturbed_stretch_counts_less(rng):
    noise = rng.normal(0, 0.002, 400)
    noise[100:200] *= 10
    wave = 0.1 * np.sin(np.arange(400) / 50)
    (clean,), _ = remove_drift(in_time(np.exp(wave + noise)))
    disturbed, steady = clean.weights[110:190], clean.weights[210:]
    assert np.median(disturbed) < 0.5 * np.median(steady)
    assert np.median(steady) == pytest.approx(1, abs=0.2)
    assert steady.max() < 2
    # The weighted median is that of the steady stretches.
    assert clean.median_s == pytest.approx(np.median(clean.times_s), rel=1e-3)


def test_few_repetitions_of_a_row_count_the_same(rng):
    times = np.exp(np.cumsum(rng.normal(0, 0.01, 60)))
    starts = np.arange(60.0)
    row = rng.permutation(np.repeat([True, False], [25, 35]))
    few, many = remove_drift(
        make_rows([times[row], times[~row]], [starts[row], starts[~row]])
    )[0]
    assert few.weights is None and many.weights is not None


def test_few_repetitions_and_rows_without_a_start_are_left():
    few = make_rows([np.ones(5), np.ones(5)], [np.arange(5.0), np.arange(5.0)])
    assert remove_drift(few)[1] is None
    unknown = [Row(parse_name("a"), times_s=np.ones(50))]
    (left,), drift = remove_drift(unknown)
    assert drift is None and np.array_equal(left.times_s, np.ones(50))


def test_the_neighbours_leave_out_the_value_itself():
    values = np.arange(15.0)
    values[7] = 1000
    medians = median_of_neighbours(values)
    assert medians[7] == 7
    assert medians[0] == np.median(np.delete(values[: NEIGHBOURS + 1], 0))
    assert medians[14] == np.median(values[15 - NEIGHBOURS - 1 : 14])


def test_many_launches_are_one_line():
    drifts = {
        "1": Drift(0.875, 1.1, 0.1, 0.01),
        "2": Drift(0.95, 1.2, 0.1, 0.01),
        "3": Drift(0.99, 1.01, 0.01, 0.02),
    }
    assert drifts_text(drifts) == [
        "Drift within the 3 launches: between -12.5 % and +20.0 %; removed in 2."
    ]


def test_a_fixed_order_is_seen():
    times = [np.ones(5), np.ones(5)]
    assert not is_in_random_order(make_rows(times, [np.arange(5.0), 5 + np.arange(5)]))
    mixed = [np.array([0.0, 2, 4, 5, 9]), np.array([1.0, 3, 6, 7, 8])]
    assert is_in_random_order(make_rows(times, mixed))
    assert is_in_random_order([Row(parse_name("a"), times_s=np.ones(3))] * 2)


def test_autocorrelation():
    assert autocorrelation(np.array([1.0, -1] * 20)) == pytest.approx(-1)
    assert autocorrelation(np.arange(20.0)) == pytest.approx(1)
    assert autocorrelation(np.ones(20)) == 0
