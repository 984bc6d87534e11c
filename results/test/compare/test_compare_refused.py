"""compare.py on runs that are not comparable: other machines, other work, one launch given twice."""

import csv
import io
import re

import pytest
from made import BLOG, repetitions, results
from made_launches import (
    OP,
    alternating,
    as_data,
    flat,
    launches,
    row,
    run_of,
    verdicts,
)


@pytest.mark.parametrize(
    "aspect, old, new",
    [
        ("emulation", {"emulated": "no"}, {"emulated": "qemu-user 7.2"}),
        ("filesystem", {"filesystem": "ext4"}, {"filesystem": "tmpfs"}),
        ("buffers", {"buffers": "distinct"}, {"buffers": "one, used again"}),
    ],
)
def test_refused_unless_asked(compare, rng, aspect, old, new):
    files = [run_of(rng, context=context, a=100) for context in (old, new)]
    status, out, _ = compare(*files)
    assert status == 3 and "not comparable, " in out and "nothing was compared" in out
    assert "Verdict" not in out and f"--across={aspect}" in out
    status, out, _ = compare(*files, options=[f"--across={aspect}"])
    assert status == 3 and "Compared across" in out and "FORCED" not in out
    status, out, _ = compare(*files, options=["--force"])
    assert status == 3 and out.startswith("FORCED, this comparison is not sound:")
    document = as_data(compare, *files, options=["--force"])
    assert len(document["forced"]) == 1 and document["pairs"]


def test_what_a_file_does_not_say_is_no_obstacle(compare, rng):
    known, unknown = {"emulated": "no", "filesystem": "ext4"}, {}
    files = [run_of(rng, context=context, a=100) for context in (known, unknown)]
    assert as_data(compare, *files)["pairs"]


def test_two_emulators_are_both_emulated(compare, rng):
    emulators = {"emulated": "qemu-user 7.2"}, {"emulated": "Rosetta 2"}
    files = [run_of(rng, context=context, a=100) for context in emulators]
    assert as_data(compare, *files)["pairs"]


def test_launches_on_two_file_systems_are_no_side(compare, rng):
    old = [
        *launches(rng, 100, 3, filesystem="ext4"),
        *launches(rng, 100, 3, filesystem="xfs"),
    ]
    new = launches(rng, 100, 6, filesystem="ext4")
    text = "different file systems among the {} launches: ext4 and xfs"
    assert text.format("old") in flat(compare(old=old, new=new)[1])
    other = launches(rng, 100, 3, filesystem="ext4")
    other += launches(rng, 100, 3, filesystem="xfs")
    said = flat(compare(old=old, new=other, options=["--across=filesystem"])[1])
    assert text.format("new") in said


def test_csv_says_what_is_forced_and_on_stderr_what_is_refused(compare, rng):
    files = [
        results(row("a", 100, rng), filesystem=filesystem)
        for filesystem in ("ext4", "tmpfs")
    ]
    status, out, errors = compare(*files, options=["--format=csv"])
    assert status == 3 and len(out.splitlines()) == 1
    assert re.fullmatch(r"compare.py: not comparable, .*ext4.*tmpfs.*\n", errors)
    _, out, _ = compare(*files, options=["--format=csv", "--force"])
    (forced,) = csv.DictReader(io.StringIO(out))
    assert forced["forced"] == "True"


def test_a_launch_that_is_given_twice_is_refused(compare, rng):
    """It would count as two, and two launches of each as ten."""
    one, two, *others = launches(rng, 100, 6)
    for old, new in (([one, two, one], others), ([one, two], [*others, two])):
        status, out, errors = compare(old=old, new=new)
        assert status == 2 and out == ""
        assert re.fullmatch(
            r"compare.py: \S+ and \S+ are the same launch: .*\n", errors
        )


def test_a_run_compared_with_itself_is_said(compare, rng):
    run = run_of(rng, a=100)
    status, out, _ = compare(run, run)
    assert status == 3 and re.search(r"\S+ is the same run as \S+\.", flat(out))
    assert "is the same run" not in flat(compare(run, run_of(rng, a=100))[1])


def test_all_pairs_of_a_table_are_one_family(compare, rng):
    """Whatever their keys are called."""
    name = "op/architecture:{}/strategy:{}/count:1/size:16/real_time"
    groups = [
        repetitions(name.format(i, strategy), list(rng.lognormal(0, 0.01, 10)))
        for i in range(20)
        for strategy in ("pwrite", "pwritev")
    ]
    document = as_data(compare, results(*groups), options=["--by=strategy"])
    assert all(pair["p"] is not None for pair in document["pairs"])
    least = min(document["pairs"], key=lambda pair: pair["p"])
    assert least["p_corrected"] == pytest.approx(min(1, 20 * least["p"]))


@pytest.mark.parametrize("key", ["buffers:one", "verify:yes", "cpu:1"])
def test_a_name_that_says_less_in_an_older_file_is_the_same_row(compare, rng, key):
    old = [OP.format("pwrite", count) for count in (4, 8)]
    new = [name.replace("/count", f"/{key}/count") for name in old]
    sides = alternating(rng, dict.fromkeys(old, 100), dict.fromkeys(new, 100))
    document = as_data(compare, **sides)
    assert verdicts(document) == dict.fromkeys(new, "same")
    assert document["exit_status"] == 0


def test_rows_that_only_the_newer_key_tells_apart_are_not_mixed(compare, rng):
    name = OP.format("pwrite", 4)
    one = name.replace("/count", "/buffers:one/count")
    both = {name: 100, one: 120}
    document = as_data(compare, **alternating(rng, both, both))
    assert verdicts(document) == {name: "same", one: "same"}
    # An older file's only row could be either.
    either = run_of(rng, **{one: 100, name.replace("/count", "/cpu:1/count"): 120})
    for sides in (run_of(rng, **{name: 100}), either), (
        either,
        run_of(rng, **{name: 100}),
    ):
        assert verdicts(as_data(compare, *sides)) == {}
    status, out, _ = compare(
        run_of(rng, **{OP.format("pwrite", 8): 100}), run_of(rng, **{one: 100})
    )
    assert status == 3 and "different workloads: count:8 against count:4" in flat(out)


@pytest.mark.parametrize(
    "key, other",
    [("file_bytes:100000000", "file_bytes:101000000"), ("count:4", "count:8")],
)
def test_different_work_is_refused(compare, rng, key, other):
    name = BLOG.format("pwrite")
    files = results(row(name, 100, rng)), results(
        row(name.replace(key, other), 120, rng)
    )
    status, out, _ = compare(*files)
    assert status == 3 and f"different workloads: {key} against {other}" in flat(out)
    assert "missing in" not in out
    document = as_data(compare, *files, options=["--force"])
    assert document["pairs"][0]["ratio"] > 1.1 and document["forced"]
    both = results(*([e for e in f["benchmarks"]] for f in files))
    by = f"--by={key.partition(':')[0]}"
    assert compare(both, options=[by])[0] == 3
    assert as_data(compare, both, options=[by, "--force"])["pairs"]
