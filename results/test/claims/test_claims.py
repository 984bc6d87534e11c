"""Public claims judged on runs in which they are true, false, or undecidable."""

import json

import pytest
from conftest import runner, write_files
from gatherstats.claims.claims import Finding, check_claims
from gatherstats.claims.claims_file import read_claims
from gatherstats.claims.terminal import summary
from gatherstats.data.reader import load
from made import failed, repetitions, results
from made_claims import NAME, PUBLISHED, pair, row, true_run

from commands import claims as script


@pytest.fixture
def claims(tmp_path, capsys):
    return runner(script.main, tmp_path, capsys)


@pytest.fixture
def check(tmp_path):
    """The findings of one claim with these checks on these rows, by target."""

    def make(groups, checks, keys=None, **more):
        claim = {"claim": "c", "source": "s", "keys": keys or {}, "checks": checks}
        (claims_path,) = write_files(tmp_path, "claims", [{"claims": [claim]}])
        (run_path,) = write_files(tmp_path, "run", [results(*groups)])
        (result,) = check_claims(load(run_path), read_claims(claims_path), **more)
        return result

    return make


def test_where_all_are_true_all_hold(claims, rng):
    status, out, err = claims(true_run(rng))
    assert (status, err) == (0, "")
    assert "8 claims: 8 hold." in out
    assert (
        out.count("=> holds on null, file and unix.") == 7
        and out.count("=> holds.") == 1
    )
    for source in PUBLISHED:
        assert f"Source: {source}" in out
    assert "coalesce / writev 0.60" in out and ", claimed 0.602" in out
    assert max(map(len, out.splitlines())) <= 100


def test_where_targets_differ_they_are_named(claims, rng):
    run = true_run(rng)
    for entry in run["benchmarks"]:
        if "coalesce/target:unix" in entry["name"] and "count:256" in entry["name"]:
            entry["real_time"] = 300.0 * rng.lognormal(0, 0.01)
    _, out, _ = claims(run)
    assert "=> differs: holds on null and file; does not hold on unix." in out
    assert "8 claims: 7 hold, 1 differ by target." in out


@pytest.mark.parametrize(
    "relation, copy, scatter, expected",
    [
        ("faster", 90, 0.01, Finding.HOLDS),
        ("faster", 110, 0.01, Finding.FAILS),
        ("faster", 100, 0.001, Finding.FAILS),
        ("faster", 100, 0.2, Finding.OPEN),
        ("slower", 110, 0.01, Finding.HOLDS),
        ("slower", 90, 0.01, Finding.FAILS),
        ("not faster", 110, 0.01, Finding.HOLDS),
        ("not faster", 100, 0.001, Finding.HOLDS),
        ("not faster", 90, 0.01, Finding.FAILS),
        ("not faster", 100, 0.2, Finding.OPEN),
    ],
)
def test_relations(check, rng, relation, copy, scatter, expected):
    rows = [
        row(rng, "writev", 100, scatter=scatter),
        row(rng, "coalesce", copy, scatter=scatter),
    ]
    result = check(rows, pair(relation))
    assert result.findings == {"file": expected}


@pytest.mark.parametrize(
    "copy, scatter, expected",
    [
        (200, 0.01, Finding.HOLDS),
        (240, 0.01, Finding.HOLDS),
        (170, 0.01, Finding.HOLDS),
        (260, 0.01, Finding.FAILS),
        (150, 0.01, Finding.FAILS),
        (245, 0.2, Finding.OPEN),
        (250, 0.2, Finding.OPEN),
    ],
)
def test_about(check, rng, copy, scatter, expected):
    rows = [
        row(rng, "writev", 100, scatter=scatter),
        row(rng, "coalesce", copy, scatter=scatter),
    ]
    result = check(rows, pair("about", ratio=2, within=0.25))
    assert result.findings == {"file": expected}


@pytest.mark.parametrize(
    "times, expected",
    [
        ({1: 100, 8: 170, 9: 230}, Finding.HOLDS),
        ({1: 100, 8: 170, 9: 180}, Finding.FAILS),
        ({1: 100, 8: 170, 9: 170}, Finding.FAILS),
    ],
)
def test_a_step(check, rng, times, expected):
    rows = [row(rng, "writev", t, count=c, scatter=0.002) for c, t in times.items()]
    step = {"row": {"count": "9"}, "against": {"count": "8"}, "start": {"count": "1"}}
    result = check(rows, [{**step, "relation": "step"}], {"strategy": "writev"})
    assert result.findings == {"file": expected}
    (one,) = result.by_target["file"]
    assert one.value == pytest.approx((times[9] - 180) / 170, abs=0.01)
    noisy = [row(rng, "writev", t, count=c, scatter=0.6) for c, t in times.items()]
    result = check(noisy, [{**step, "relation": "step"}], {"strategy": "writev"})
    assert result.findings == {"file": Finding.OPEN}


def test_a_claim_holds_only_if_all_of_it_does(check, rng):
    rows = [
        row(rng, s, t, size=z)
        for z in (8, 9)
        for s, t in (("writev", 100), ("coalesce", 90))
    ]
    rows += [row(rng, "writev", 90, size=7), row(rng, "coalesce", 100, size=7)]
    at = lambda size: {
        "row": {"strategy": "coalesce", "size": str(size)},
        "against": {"strategy": "writev", "size": str(size)},
        "relation": "faster",
    }
    assert check(rows, [at(8), at(9)]).findings == {"file": Finding.HOLDS}
    assert check(rows, [at(8), at(7)]).findings == {"file": Finding.FAILS}
    result = check(rows, [at(8), at(6)])
    assert result.findings == {"file": Finding.OPEN}
    assert (
        "the row strategy:coalesce size:6 is missing"
        in result.by_target["file"][1].problem
    )
    assert check(rows, [at(7), at(6)]).findings == {"file": Finding.FAILS}


def test_the_plainest_row_is_meant(check, rng):
    rows = [row(rng, "writev", 100), row(rng, "coalesce", 90)]
    other = NAME.replace("/count", "/direct:yes/count").format(
        "coalesce", "file", 4, 64
    )
    rows.insert(0, repetitions(other, [200.0 + i for i in range(20)]))
    assert check(rows, pair("faster")).findings == {"file": Finding.HOLDS}


def test_the_number_claimed_is_held_against_the_interval(check, rng):
    rows = [row(rng, "writev", 100), row(rng, "coalesce", 50)]
    (near,) = check(rows, pair("faster", ratio=0.503)).by_target["file"]
    (far,) = check(rows, pair("faster", ratio=0.9)).by_target["file"]
    assert near.is_as_claimed is True and far.is_as_claimed is False
    assert near.finding is far.finding is Finding.HOLDS
    (none,) = check(rows, pair("faster")).by_target["file"]
    assert none.is_as_claimed is None


def test_pairs_of_a_target_are_corrected_together(check, rng):
    # With 4 repetitions p is 1/35 at best: alone that is significant, beside another it is not.
    rows = [
        row(rng, s, t, size=z, n=4)
        for z in (8, 9)
        for s, t in (("writev", 100), ("coalesce", 50))
    ]
    at = lambda size: {
        "row": {"strategy": "coalesce", "size": str(size)},
        "against": {"strategy": "writev", "size": str(size)},
        "relation": "faster",
    }
    assert check(rows, [at(8)]).findings == {"file": Finding.HOLDS}
    assert check(rows, [at(8), at(9)]).findings == {"file": Finding.OPEN}


def test_a_run_without_the_rows(claims, rng):
    status, out, err = claims(results(row(rng, "write", 100, count=3)))
    assert status == 1 and "8 of 8 claims have no row in this run" in err
    assert out.count("=> cannot tell here: no row ") == 8
    assert "8 claims: 8 cannot be told." in out


def test_failed_rows_are_listed(claims, rng):
    run = true_run(rng)
    name = NAME.format("writev", "null", 1, 64)
    run["benchmarks"] = [b for b in run["benchmarks"] if b["name"] != name]
    run["benchmarks"].append(failed(name))
    status, out, err = claims(run)
    assert status == 1 and f"{name}: failed" in err
    assert (
        "the row scope:op sync:none count:1 size:64 strategy:writev failed"
        in " ".join(out.split())
    )


def test_json_is_one_strict_line(claims, rng):
    def reject(constant):
        raise AssertionError(constant)

    status, out, _ = claims(true_run(rng), options=["--format=json"])
    assert status == 0 and out.count("\n") == 1
    document = json.loads(out, parse_constant=reject)
    first = document["claims"][0]
    assert first["findings"] == {t: "holds" for t in ("null", "file", "unix")}
    assert first["checks"][0]["claimed"] == 0.6024
    assert (
        first["checks"][0]["low"]
        < first["checks"][0]["value"]
        < first["checks"][0]["high"]
    )
    _, out, _ = claims(results(row(rng, "write", 100)), options=["--format=json"])
    json.loads(out, parse_constant=reject)


def test_summary_without_rows_names_one(check, rng):
    assert summary(check([row(rng, "write", 1.0)], pair("faster"))) == (
        "=> cannot tell here: no row strategy:coalesce in this run."
    )
