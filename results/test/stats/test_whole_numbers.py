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
    """Two single files never have a word; rows of a run and launches are in test_compare."""
    status, out, _ = compare(old, new, options=["--fail-above=1.02"])
    assert "1 undecided" in out and status == 3
    assert "would probably decide" not in out


def rows_of_one_run(*sides, unit="ms"):
    name = "op/strategy:{}/target:null/sync:none/count:4/size:512/real_time"
    rows = zip(("write", "writev"), sides)
    return results(*(repetitions(name.format(s), times, unit) for s, times in rows))


def test_the_reason_is_said(compare):
    run = rows_of_one_run([46.0] * 20, [46.0] * 8 + [47.0] * 12)
    out = compare(run, options=["--by=strategy", "--format=json"])[1]
    assert "the times are stored in steps of 1.000 ms" in out


def test_a_step_below_the_scatter_changes_nothing(compare, rng):
    """Whole nanoseconds of milliseconds."""
    times = [(base * rng.lognormal(0, 0.01, 30)).round() for base in (4.6e6, 4.8e6)]
    run = rows_of_one_run(*(list(map(float, one)) for one in times), unit="ns")
    assert "1 slower" in compare(run, options=["--by=strategy"])[1]


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
