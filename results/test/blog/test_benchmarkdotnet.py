"""The table's figures are BenchmarkDotNet 0.13.1's: its check values, and outliers."""

import numpy as np
import pytest
from gatherstats.blog.benchmarkdotnet import half_interval, summarise_times, upper_fence

POWERS = np.array([1.0, 2, 4, 8, 16, 32, 64])


def test_quartiles_and_fence():
    assert np.quantile(POWERS, [0.25, 0.75]) == pytest.approx([3, 24])
    assert upper_fence(POWERS) == 55.5


def test_standard_deviation_with_and_without_the_outlier():
    assert np.std(POWERS, ddof=1) == pytest.approx(22.9378, abs=5e-5)
    summary = summarise_times(POWERS)
    assert (summary.n, summary.removed) == (6, 1)
    assert summary.stddev_s == pytest.approx(11.8617, abs=5e-5)
    assert summary.mean_s == pytest.approx(10.5)
    assert summary.median_s == 6


def test_low_outliers_stay():
    assert summarise_times(np.array([0.001, 10, 10.1, 10.2, 10.3])).n == 5


def test_a_value_on_the_fence_stays():
    assert summarise_times(np.array([1, 2, 4, 8, 16, 32, 55.5])).removed == 0


def test_interval_of_one_to_thirty():
    summary = summarise_times(np.arange(1.0, 31))
    low, high = summary.mean_s - summary.error_s, summary.mean_s + summary.error_s
    assert (low, high) == pytest.approx((9.618329, 21.38167), abs=5e-6)


@pytest.mark.parametrize(
    "error, stddev, n",
    [(1.109, 3.271, 100), (1.567, 4.621, 100), (0.950, 2.772, 98), (1.304, 3.844, 100)],
)
def test_errors_of_the_published_table(error, stddev, n):
    assert half_interval(stddev, n) == pytest.approx(error, abs=6e-4)


def test_one_repetition_has_no_spread():
    summary = summarise_times(np.array([5.0]))
    assert summary.mean_s == summary.median_s == 5
    assert summary.stddev_s is None and summary.error_s is None
