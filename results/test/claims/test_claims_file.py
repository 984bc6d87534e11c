"""Claims as data: the published ones, those of a user, and what cannot be read as one."""

import pytest
from conftest import RESULTS, runner, write_files
from gatherstats.claims.claims_file import PUBLIC, read_claims
from gatherstats.data.reader import load
from gatherstats.errors import UserError
from made_claims import PUBLISHED, pair, true_run

from commands import claims as script


@pytest.fixture
def claims(tmp_path, capsys):
    return runner(script.main, tmp_path, capsys)


def test_the_published_claims_are_all_there_as_data():
    path = RESULTS / "reference" / "claims" / "buffered_writes.json"
    assert path in PUBLIC
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
        ({"claims": [{**GOOD, "where": ["xfs"]}]}, "'where' is no object of texts"),
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


def test_the_data_of_the_claims_are_not_taken_for_results():
    for path in (RESULTS / "reference").glob("*.json"):
        load(path)
