"""Counters beside the time: percentiles, write and sync apart, bytes on the device."""

import numpy as np
import pytest
from commands import report
from conftest import write_files
from made import BLOG, repetitions, results

NAME = "op/strategy:{}/target:file/sync:fdatasync/count:4/size:16000/real_time"


@pytest.fixture
def page(tmp_path):
    """The report's text on a run."""

    def make(document):
        out = tmp_path / "report.html"
        assert (
            report.main([*write_files(tmp_path, "run", [document]), "-o", str(out)])
            == 0
        )
        return out.read_text()

    return make


@pytest.mark.parametrize(
    "operations, shown",
    [
        (29, ""),
        (99, ""),
        (100, "77.00 us"),
        (999, "77.00 us"),
        (1000, "77.00 us 99.00 us"),
    ],
)
def test_no_percentile_rests_on_fewer_operations_than_it_takes(operations, shown, page):
    counters = {"p50": 11e3, "p99": 77e3, "p99.9": 99e3, "max": 123e3}
    times = list(np.linspace(11.1e3, 12.3e3, 6))
    rows = repetitions(NAME.format("pwrite"), times, latency_ops=operations, **counters)
    text = page(results(rows))
    assert "11.00 us" in text and "123.0 us" in text
    for value in ("77.00 us", "99.00 us"):
        assert (value in text) == (value in shown)


def test_a_percentile_that_is_absent_is_no_reason_to_hide_the_rest(page):
    rows = repetitions(
        NAME.format("pwrite"), [1.1, 1.2, 1.3, 1.4], p50=11e3, max=123e3, latency_ops=12
    )
    text = page(results(rows))
    assert "11.00 us" in text and "123.0 us" in text


def synced_run():
    rows = [
        repetitions(
            NAME.format(strategy),
            [ns * (1 + i / 97) for i in range(8)],
            write_ns=ns * 0.25,
            sync_ns=ns * 0.75,
            device_bytes=96_000.0,
            bytes_per_second=[64_000e9 / (ns * (1 + i / 97)) for i in range(8)],
        )
        for strategy, ns in (("pwrite", 40_000.5), ("pwritev", 20_000.5))
    ]
    return results(*rows)


def test_write_and_sync_stand_apart_and_device_bytes_over_written(show, page):
    status, out, _ = show(synced_run())
    (row,) = (line for line in out.splitlines() if line.startswith("| pwritev"))
    assert status == 0 and [cell.strip() for cell in row.split("|")[-4:-1]] == [
        "5.000",
        "15.00",
        "1.50",
    ]
    assert "Write and sync: their medians" in " ".join(out.split())
    text = page(synced_run())
    assert "15.00 us" in text and "5.000 us" in text and "On the device" in text


def test_a_row_that_is_not_synced_has_no_such_columns(show):
    out = show(results(repetitions(NAME.format("pwrite"), [1.1, 1.2, 1.3, 1.4])))[1]
    assert "sync " not in out.split("\n\n")[1] and "device" not in out


def test_a_row_that_was_cut_short_says_so(show):
    entries = repetitions(BLOG.format("pwrite"), [1.1 + i / 10 for i in range(9)], "ms")
    for entry in entries:
        entry["repetitions"] = 50
    whole = repetitions(BLOG.format("pwritev"), [1.1 + i / 10 for i in range(9)], "ms")
    document = results(entries, whole, spoiled="cut short by SIGINT: 1 of 2 rows")
    status, out, err = show(document)
    assert status == 1 and "| 9 of 50 |" in out and "|       9 |" in out
    assert "Spoiled: cut short by SIGINT" in " ".join(out.split())
    assert "n of N: the row was cut short" in " ".join(out.split())
    assert "cut short, 9 of 50 repetitions are in the file" in err
