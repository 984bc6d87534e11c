"""The account of the gain, on constructed data where it is known, and its words."""

import re

import numpy as np
import pytest
from conftest import write_files
from gatherstats.blog.account import accounts, combine
from gatherstats.blog.account_words import account_lines
from gatherstats.data.reader import load
from gatherstats.stats.samples import measure
from made import BLOG, CALLS, failed
from made_account import ON_FILE_MS, ON_NULL_MS, account_run

NULL = BLOG.replace("target:file", "target:null")


@pytest.fixture
def account(tmp_path):
    def make(document):
        (path,) = write_files(tmp_path, "run", [document])
        return accounts(measure(load(path).rows)[0])

    return make


def only(found):
    (one,) = found.by_name.values()
    assert found.refused == {}
    return one


def test_the_parts_of_constructed_data(account, rng):
    one = only(account(account_run(rng, scatter=1e-6)))
    assert one.calls_saved == 4687
    values = [part.time_s * 1e3 for part in (one.gain, *one.parts)]
    assert values == pytest.approx([11, 0.4, -0.05, 10.65], abs=1e-3)
    assert one.call.time_s == pytest.approx(0.4e-3 / 4687, rel=1e-3)


@pytest.mark.parametrize("scatter", [0.001, 0.05, 0.5])
def test_the_parts_add_up_to_the_whole(account, rng, scatter):
    one = only(account(account_run(rng, scatter=scatter)))
    whole = sum(part.time_s for part in one.parts)
    assert whole == pytest.approx(one.gain.time_s, rel=1e-12, abs=1e-15)
    for part in (one.gain, one.call, *one.parts):
        assert part.low_s <= part.time_s <= part.high_s


def test_what_all_calls_share_cancels_out(account, rng):
    # Opening and closing take 5 ms of every row, on the file and on /dev/null.
    slow = [{k: v + 5 for k, v in row.items()} for row in (ON_FILE_MS, ON_NULL_MS)]
    one = only(account(account_run(rng, *slow, scatter=1e-6)))
    values = [part.time_s * 1e3 for part in (one.gain, *one.parts)]
    assert values == pytest.approx([11, 0.4, -0.05, 10.65], abs=1e-3)


def test_a_part_that_may_be_zero_says_so(account, rng):
    on_null = {"pwrite": 0.6, "pwritev": 0.2, "contiguous": 0.2}
    one = only(account(account_run(rng, on_null=on_null, n=30, scatter=0.02)))
    assert not one.vectors.is_clear and one.entry.is_clear
    _, vectors, rest = account_lines(one)
    assert vectors.endswith("), may be zero") and not rest.endswith("may be zero")


def test_a_gain_that_may_be_zero_has_no_shares(account, rng):
    on_file = {"pwrite": 42, "pwritev": 42, "contiguous": 42}
    one = only(account(account_run(rng, on_file=on_file, n=30)))
    lines = account_lines(one)
    assert re.match(
        r"Gain [\d.-]+ us \(-[\d.]+ to [\d.]+\), may be zero: 4687", lines[0]
    )
    assert not any("%" in line for line in lines)


def test_the_interval_covers_the_truth_as_often_as_it_says(rng):
    # The medians of lognormal times are their scales.
    scales = np.array([42.0, 31.0, 0.6, 0.25])
    factors = [1, -1, -1, 1]
    truth = float(np.dot(factors, scales))
    covered = 0
    for _ in range(1000):
        samples = [scale * rng.lognormal(0, 0.3, 30) for scale in scales]
        part = combine(list(zip(factors, samples)))
        covered += part.low_s <= truth <= part.high_s
    assert 0.93 <= covered / 1000 <= 0.98


def test_a_negative_factor_turns_the_interval_round(rng):
    sample = rng.lognormal(0, 1, 50)
    plus, minus = combine([(1, sample)]), combine([(-1, sample)])
    assert minus.low_s == pytest.approx(-plus.high_s)
    assert minus.high_s == pytest.approx(-plus.low_s)
    assert plus.high_s - plus.time_s > plus.time_s - plus.low_s


def test_any_other_loop_with_the_rows_has_an_account(account, rng):
    run = account_run(rng)
    for entry in run["benchmarks"]:
        for key in ("name", "run_name"):
            entry[key] = entry[key].replace("size:16000", "size:4096")
            entry[key] = entry[key].replace("pwrite", "write")
    assert only(account(run)).name.keys["strategy"] == "writev"


@pytest.mark.parametrize("lost", ["pwrite", "pwritev", "contiguous"])
def test_without_a_row_on_null_there_is_none(account, rng, lost, show):
    on_null = {k: v for k, v in ON_NULL_MS.items() if k != lost}
    run = account_run(rng, on_null=on_null)
    found = account(run)
    assert found.by_name == found.refused == {}
    _, out, _ = show(run)
    assert (
        "- where the gain comes from cannot be told: the rows on /dev/null are missing"
        in out
    )


def test_reasons_why_there_is_none(account, rng):
    def reason(document):
        found = account(document)
        assert found.by_name == {}
        return found.refused[BLOG.format("pwritev")]

    run = account_run(rng)
    name = NULL.format("contiguous")
    run["benchmarks"] = [b for b in run["benchmarks"] if b["name"] != name]
    run["benchmarks"].append(failed(name))
    assert reason(run) == f"{name} failed"
    assert "fewer than 4 repetitions" in reason(account_run(rng, n=3))
    other_calls = {**CALLS, "contiguous": 1600}
    assert "different numbers of calls" in reason(account_run(rng, calls=other_calls))
    same_calls = dict.fromkeys(CALLS, 6250)
    assert reason(account_run(rng, calls=same_calls)) == "gathering saves no call"
    run = account_run(rng)
    for entry in run["benchmarks"]:
        del entry["calls"]
    assert reason(run) == "the rows do not say how many calls they make"


def test_three_lines_under_the_blog_table(show, rng):
    status, out, err = show(account_run(rng, filesystem="ext4"))
    assert (status, err) == (0, "")
    lines = [line for line in out.splitlines() if line.startswith("- ")]
    gain, vectors, rest = lines[-3:]
    assert re.fullmatch(
        r"- Gain 1[01]\.\d\d ms \(.* to .*\): 4687 calls saved x 85\.\d ns = 0\.40 ms \(.*\), 4 %",
        gain,
    )
    assert re.fullmatch(
        r"- handing over vectors \(.*\): -0\.05 ms \(.*\), -0\.\d %", vectors
    )
    assert re.fullmatch(
        r"- the file system's work, which is the rest: 10\.\d\d ms \(.*\), 9\d %", rest
    )


def test_the_rows_on_null_have_no_table_and_no_sentence_of_their_own(show, rng):
    _, out, _ = show(account_run(rng))
    assert out.count("| Method ") == 1 and "target:null" not in out
    assert (
        out.count("Gathering 4 buffers") == 1 and out.count("The kernel counted") == 0
    )
    assert " ".join(out.split()).count("The kernel counted 6250") == 1


def test_rows_on_null_alone_are_shown(show, rng):
    run = account_run(rng)
    run["benchmarks"] = [b for b in run["benchmarks"] if "target:null" in b["name"]]
    _, out, _ = show(run)
    assert "| WriteGather " in out and "target:null" in out


def test_a_failed_row_on_null_makes_the_run_incomplete(show, rng):
    run = account_run(rng)
    name = NULL.format("pwrite")
    run["benchmarks"] = [b for b in run["benchmarks"] if b["name"] != name]
    status, out, err = show({**run, "benchmarks": [*run["benchmarks"], failed(name)]})
    assert status == 1 and f"{name}: failed" in err
    assert "cannot be told" in out


def test_a_row_that_only_null_has_is_missing_from_the_table(show, rng):
    on_file = {k: v for k, v in ON_FILE_MS.items() if k != "pwritev"}
    status, _, err = show(account_run(rng, on_file=on_file))
    assert status == 1 and "the row WriteGather is missing" in err


def test_the_whole_screen(show, rng):
    context = {"kernel": "Linux 6.18.44", "cpu": "Intel(R) Xeon(R) Processor"}
    context |= {"machine": "x86_64", "emulated": "no", "directory": "/tmp"}
    context |= {"filesystem": "ext4", "device": "/dev/vda", "mount_options": "rw," * 99}
    run = account_run(rng, {**ON_FILE_MS, "fallback": 42.2}, scatter=0.2, **context)
    _, out, _ = show(run, options=["--published"])
    lines = out.splitlines()
    assert len(lines) <= 60 and max(map(len, lines)) <= 100
