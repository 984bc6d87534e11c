"""Drift is taken out, and nothing else: no row's own effect, no spread that is not there."""

import numpy as np
import pytest
from gatherstats.drift import (
    NEIGHBOURS,
    Drift,
    autocorrelation,
    is_in_random_order,
    median_of_neighbours,
    remove_drift,
)
from gatherstats.names import parse_name
from gatherstats.rows import Row
from gatherstats.sentences import drifts_text


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
    assert np.median(other) / np.median(base) == pytest.approx(1.03, abs=0.004)


def test_a_row_cannot_remove_its_own_effect():
    # One row after the other, a factor of two apart: all of it must stay.
    times = [np.linspace(1, 1.1, 50), 2 * np.linspace(1, 1.1, 50)]
    starts = [np.arange(50.0), 50 + np.arange(50.0)]
    (base, other), drift = remove_drift(make_rows(times, starts))
    assert drift.removed
    assert np.median(other) / np.median(base) == pytest.approx(2, rel=0.01)


def test_noise_alone_is_left_as_it_is(rng):
    times = rng.lognormal(0, 0.02, (2, 1000))
    starts = rng.permutation(2000).reshape(2, 1000).astype(float)
    (base, other), drift = remove_drift(make_rows(times, starts))
    assert not drift.removed
    assert np.array_equal(base, times[0]) and np.array_equal(other, times[1])


def test_few_repetitions_and_rows_without_a_start_are_left():
    few = make_rows([np.ones(5), np.ones(5)], [np.arange(5.0), np.arange(5.0)])
    assert remove_drift(few)[1] is None
    unknown = [Row(parse_name("a"), times_s=np.ones(50))]
    times, drift = remove_drift(unknown)
    assert drift is None and np.array_equal(times[0], np.ones(50))


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
