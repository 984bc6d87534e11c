"""Drift is taken out, and nothing else: no row's own effect, no spread that is not there."""

import numpy as np
import pytest
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.drift import (
    NEIGHBOURS,
    autocorrelation,
    median_of_neighbours,
    remove_drift,
)


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


def test_no_drift_is_said_of_runs_without_any(rng):
    said = 0
    for _ in range(400):
        times = rng.lognormal(0, 0.02, (2, 50))
        starts = rng.permutation(100).reshape(2, 50).astype(float)
        said += remove_drift(make_rows(times, starts))[1].removed
    assert said <= 0.03 * 400


@pytest.mark.parametrize("disturbed, is_seen", [(4, False), (7, True)])
def test_a_few_disturbed_neighbours_tell_nothing_and_most_do(disturbed, is_seen):
    values = np.zeros(40)
    values[20 : 20 + disturbed] = 1
    level = median_of_neighbours(values)
    # The one in the middle of the longer disturbance has six others around it.
    assert level[20 + disturbed // 2] == (1 if is_seen else 0)
    # A stretch of the machine hides no more than its own repetitions.
    assert not level[:15].any() and not level[32:].any()


def test_a_row_that_ran_while_all_was_slow_has_the_median_of_the_rest(rng):
    """Its own median says that it was never slow; what the others' say is known only afterwards."""
    slow = np.r_[np.ones(100), np.zeros(300)].astype(bool)
    owner = np.where(slow, np.arange(400) % 5, np.arange(400) % 4)
    times = rng.lognormal(0, 0.002, 400) * np.where(slow, 1.3, 1)
    rows = make_rows(
        [times[owner == k] for k in range(5)],
        [np.flatnonzero(owner == k).astype(float) for k in range(5)],
    )
    clean, drift = remove_drift(rows)
    assert drift.removed
    assert clean[0].median_s == pytest.approx(1, abs=0.01)


def in_time(values):
    """One row with these times, a second apart."""
    return make_rows([np.asarray(values)], [np.arange(float(len(values)))])


def test_what_is_taken_out_of_a_repetition_does_not_come_from_itself(rng):
    times = np.exp(np.cumsum(rng.normal(0, 0.01, 300)))
    times[150] *= 2
    (clean,), _ = remove_drift(in_time(times))
    times[150] *= 2
    (again,), _ = remove_drift(in_time(times))
    taken_out = times[150] / again.times_s[150]
    assert taken_out == pytest.approx(times[150] / 2 / clean.times_s[150], rel=1e-9)


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


def test_autocorrelation():
    assert autocorrelation(np.array([1.0, -1] * 20)) == pytest.approx(-1)
    assert autocorrelation(np.arange(20.0)) == pytest.approx(1)
    assert autocorrelation(np.ones(20)) == 0
