"""Public claims: read as data, and judged on runs in which they are true, false, or not to be told."""

import json

import numpy as np
import pytest
from conftest import RESULTS, runner, write_files
from gatherstats.claims.claims import (
    PUBLIC,
    Finding,
    check_claims,
    read_claims,
)
from gatherstats.claims.terminal import summary
from gatherstats.data.reader import load
from gatherstats.errors import UserError
from made import failed, repetitions, results

from commands import claims as script

NAME = "op/strategy:{}/target:{}/sync:none/count:{}/size:{}/real_time"
SYNC = "op/strategy:pwrite/target:file/sync:osync/direct:yes/window:16384/count:{}/size:{}/real_time"
PUBLISHED = [
    "commonwarexyz/monorepo#4704",
    "commonwarexyz/monorepo#4704",
    "ocsigen/lwt#291",
    "crystal-lang/crystal#6078",
    "ceph/ceph#6307",
    "socketry/async#228, libevent/libevent#1537",
    "PostgreSQL pg_test_fsync",
    "dotnet/runtime#36951",
]


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


def row(rng, strategy, time, target="file", count=4, size=64, n=20, scatter=0.01):
    # With as large a scatter the seed must not decide: both rows get the same one.
    spread = (
        np.linspace(1 - 1.5 * scatter, 1 + 1.5 * scatter, n)
        if scatter >= 0.2
        else rng.lognormal(0, scatter, n)
    )
    times = list(time * spread)
    return repetitions(NAME.format(strategy, target, count, size), times)


def pair(relation, **more):
    keys = {"row": {"strategy": "coalesce"}, "against": {"strategy": "writev"}}
    return [{**keys, "relation": relation, **more}]


def true_run(rng, targets=("null", "file", "unix")):
    """A machine on which all published claims are true."""
    groups = []
    for target in targets:

        def add(count, size, write, writev, copy):
            for strategy, time in (
                ("write", write),
                ("writev", writev),
                ("coalesce", copy),
            ):
                groups.append(row(rng, strategy, time, target, count, size))

        add(256, 16, 900, 166, 100)
        add(256, 4096, 900, 88, 100)
        for size in (6, 16, 32, 64, 128):
            add(16, size, 300, 130, 100)
        add(16, 48, 300, 100, 100)
        for size in (256, 512):
            add(16, size, 300, 100, 130)
        for size in (5, 500):
            add(10, size, 300, 130, 100)
        for count, writev in ((1, 110), (8, 180), (9, 240)):
            add(count, 64, 100 * count, writev, 100)
    for count in (1, 2, 4, 8, 16):
        times = list(1000 * count * rng.lognormal(0, 0.01, 20))
        groups.append(repetitions(SYNC.format(count, 16384 // count), times))
    return results(*groups, preset="claims")


def test_the_published_claims_are_all_there_as_data():
    (path,) = PUBLIC
    assert [claim.source for claim in read_claims(path)] == PUBLISHED
    assert read_claims(path)[0].checks[0].ratio == pytest.approx(1 / 1.66, abs=1e-4)
    assert read_claims(path)[1].checks[0].ratio == pytest.approx(1 / 0.88, abs=1e-4)
    ladder = read_claims(path)[6].checks
    assert [(c.row["count"], c.row["size"], c.ratio) for c in ladder] == [
        ("2", "8192", 2),
        ("4", "4096", 4),
        ("8", "2048", 8),
        ("16", "1024", 16),
    ]


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


def test_a_user_adds_a_claim(claims, rng, tmp_path):
    mine = {"claim": "mine \x1b[1m", "source": "me", "checks": pair("slower")}
    mine["keys"] = {"count": "256", "size": "4096"}
    (path,) = write_files(tmp_path, "mine", [{"claims": [mine]}])
    status, out, _ = claims(true_run(rng), options=["--claims", path])
    assert (
        status == 0
        and "9. mine \\x1b[1m\n   Source: me\n" in out
        and "9 claims: 9 hold." in out
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


GOOD = {"claim": "c", "source": "s", "checks": pair("faster")}
STEP = {
    "row": {"count": "9"},
    "against": {"count": "8"},
    "start": {"count": "1"},
    "relation": "step",
}


@pytest.mark.parametrize(
    "content, message",
    [
        ("", "the file is empty"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", 'no list "claims"'),
        ({"claims": []}, 'no list "claims"'),
        ({"claims": [3]}, "claim 1 is no object"),
        ({"claims": [GOOD, {**GOOD, "source": ""}]}, "claim 2 has no text 'source'"),
        ({"claims": [{**GOOD, "checks": []}]}, 'claim 1 has no list "checks"'),
        ({"claims": [{**GOOD, "keys": {"count": 4}}]}, "'keys' is no object of texts"),
        ({"claims": [{**GOOD, "checks": [3]}]}, "claim 1, check 1 is no object"),
        (
            {"claims": [{**GOOD, "checks": pair("better")}]},
            "'better' is not among faster,",
        ),
        ({"claims": [{**GOOD, "checks": pair(["x"])}]}, "is not among faster,"),
        (
            {"claims": [{**GOOD, "checks": pair("about")}]},
            '"about" needs "ratio" and "within"',
        ),
        (
            {"claims": [{**GOOD, "checks": pair("faster", ratio="2")}]},
            "'ratio' is no number",
        ),
        (
            {"claims": [{**GOOD, "checks": pair("faster", ratio=0)}]},
            "'ratio' is not above zero",
        ),
        (
            {"claims": [{**GOOD, "checks": pair("step")}]},
            "'start' is no object of texts",
        ),
        (
            {"claims": [{**GOOD, "checks": [{**STEP, "row": {"count": "x"}}]}]},
            'needs a "count"',
        ),
        (
            {"claims": [{**GOOD, "checks": [{**STEP, "row": {"count": "8"}}]}]},
            "must fall",
        ),
    ],
)
def test_claims_that_cannot_be_read(claims, rng, tmp_path, content, message):
    (path,) = write_files(tmp_path, "mine", [content])
    with pytest.raises(UserError):
        read_claims(path)
    status, out, err = claims(true_run(rng, ["null"]), options=["--claims", path])
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err and path in err


@pytest.mark.parametrize(
    "relation, ratio, meant",
    [
        ("faster", 1.5, "slower"),
        ("slower", 0.5, "faster"),
        ("not faster", 0.5, "faster"),
        ("faster", 1, "the same"),
    ],
)
def test_a_relation_that_its_ratio_contradicts(
    claims, rng, tmp_path, relation, ratio, meant
):
    content = {"claims": [{**GOOD, "checks": pair(relation, ratio=ratio)}]}
    (path,) = write_files(tmp_path, "mine", [content])
    status, out, err = claims(true_run(rng, ["null"]), options=["--claims", path])
    assert (status, out) == (2, "")
    assert (
        f'claim 1, check 1: "{relation}" with a ratio of times of {ratio:g}, which is {meant}'
        in err
    )


def test_summary_without_rows_names_one(check, rng):
    assert summary(check([row(rng, "write", 1.0)], pair("faster"))) == (
        "=> cannot tell here: no row strategy:coalesce in this run."
    )


def test_the_data_of_the_claims_are_not_taken_for_results():
    for path in (RESULTS / "reference").glob("*.json"):
        load(path)
