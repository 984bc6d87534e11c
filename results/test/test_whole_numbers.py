"""Times that are stored as whole numbers: no verdict is finer than they are."""

import pytest
from made import repetitions, results

NAME = "BM_Write/real_time"


def whole(*counts, unit="ms"):
    """A run of so many repetitions of each time."""
    times = [time for time, count in counts for _ in range(count)]
    return results(repetitions(NAME, times, unit))


OLD = whole((46, 20))


@pytest.mark.parametrize(
    "old, new",
    [
        (OLD, whole((46, 8), (47, 12))),
        (whole((46, 8), (47, 12)), OLD),
        (OLD, whole((46, 9), (47, 11))),
        (whole((1, 20)), whole((1, 9), (2, 11))),
        (whole((46, 50), (47, 10)), whole((46, 8), (47, 52))),
    ],
)
def test_a_difference_of_a_step_is_undecided(old, new, compare):
    status, out, _ = compare(old, new, options=["--fail-above=1.02"])
    assert "1 undecided" in out and status == 0
    assert "would probably decide" not in out


def test_the_reason_is_said(compare, show):
    new = whole((46, 8), (47, 12))
    out = compare(OLD, new, options=["--format=json"])[1]
    assert "the times are stored in steps of 1.000 ms" in out


def test_a_difference_of_many_steps_is_found(compare):
    status, out, _ = compare(OLD, whole((31, 10), (32, 10)))
    assert status == 0 and "1 faster" in out and "% faster" in out


def test_a_step_below_the_scatter_changes_nothing(compare, rng):
    """Whole nanoseconds of milliseconds."""
    times = [(base * rng.lognormal(0, 0.01, 30)).round() for base in (4.6e6, 4.8e6)]
    runs = [results(repetitions(NAME, list(map(float, one)))) for one in times]
    assert "1 slower" in compare(*runs)[1]


def test_a_time_of_zero_steps_is_no_time(compare):
    tiny = results(repetitions(NAME, [0.0, 1.0] * 10, "s"))
    assert compare(tiny, tiny)[0] == 3


def test_one_notation_in_an_interval_and_one_unit_in_a_column(compare, show):
    nano = repetitions("BM_a", [20.0 + i / 7 for i in range(20)], "ns")
    milli = repetitions("BM_b", [20.0 + i / 7 for i in range(20)], "ms")
    out = show(results(nano, milli))[1]
    ratios = out[out.index("times slower (") :].split(";")[0]
    assert ratios.count("e+0") == 3
    run = results(nano, milli)
    lines = compare(run, run)[1].splitlines()
    assert any("Old [ns]" in line for line in lines)
    assert not any(" ms" in line for line in lines)
    (row,) = (line for line in lines if line.startswith("BM_b"))
    assert "21357142.86" in row
