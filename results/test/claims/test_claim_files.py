"""Public claims about whole files, on some file systems and not on others."""

import json
import os
import subprocess

import pytest
from conftest import RESULTS, runner
from gatherstats.claims.claims_file import PUBLIC, read_claims
from gatherstats.data.names import parse_name
from made import repetitions, results
from made_claims import true_run

from commands import claims as script

ALL = [claim for path in PUBLIC for claim in read_claims(path)]
SOURCES = ["apache/uniffle#2210", "reviews.llvm.org/D115957", "oven-sh/bun#38216"]
SOURCES += ["skvadrik/re2c#333"]


@pytest.fixture
def claims(tmp_path, capsys):
    return runner(script.main, tmp_path, capsys)


def file_run(rng, preallocated=1.0, truncated=3.0, **context):
    """A run of the preset in which these are the ratios that are claimed or not."""
    rows = {
        "write{}/file_bytes:67108864/count:64/size:16384": 107,
        "coalesce{}/file_bytes:67108864/count:64/size:16384": 100,
        "write{}/file_bytes:67108864/count:16/size:65536": 109,
        "coalesce{}/file_bytes:67108864/count:16/size:65536": 100,
        "pwrite{}/file_bytes:67108864/count:1/size:65536": 100,
        "pwrite{}/preallocate:yes/file_bytes:67108864/count:1/size:65536": 100
        * preallocated,
        "pwrite{}/create:truncate/file_bytes:16384/count:1/size:16384": 100 * truncated,
        "pwrite{}/create:unlink/file_bytes:16384/count:1/size:16384": 100,
        "pwrite{}/create:overwrite/file_bytes:16384/count:1/size:16384": 20,
        "pwrite{}/create:settle/file_bytes:16384/count:1/size:16384": 1000,
    }
    groups = [
        repetitions(
            "file/strategy:" + name.format("/target:file/sync:none") + "/real_time",
            list(us * rng.lognormal(0, 0.005, 20)),
            "us",
        )
        for name, us in rows.items()
    ]
    return results(*groups, preset="claim_files", **context)


def findings(out):
    """What is said of each claim, by its first words."""
    return [line.split("=> ")[1] for line in out.splitlines() if "=> " in line]


def test_the_claims_are_there_and_their_sources_too(claims, rng):
    status, out, err = claims(file_run(rng, filesystem="ext4"))
    assert (status, err) == (0, "")
    assert all(f"Source: {source}" in out for source in SOURCES)
    assert findings(out) == [
        "holds.",
        "cannot tell here: it is about filesystem tmpfs, and this run has ext4.",
        "holds.",
        "cannot tell here: it is about filesystem xfs, and this run has ext4.",
        "holds.",
    ]


@pytest.mark.parametrize(
    "filesystem, held",
    [("ext4", [0, 2, 4]), ("tmpfs", [0, 1, 4]), ("xfs", [0, 3, 4]), (None, [0, 4])],
)
def test_a_claim_about_a_file_system_is_put_to_that_one_alone(
    filesystem, held, claims, rng
):
    context = {"filesystem": filesystem} if filesystem else {}
    preallocated = 1.3 if filesystem == "tmpfs" else 1.0
    status, out, _ = claims(file_run(rng, preallocated, **context))
    assert status == 0
    said = findings(out)
    assert [i for i, words in enumerate(said) if words == "holds."] == held
    others = [words for i, words in enumerate(said) if i not in held]
    assert all(words.startswith("cannot tell here: it is about") for words in others)


def test_what_is_not_so_does_not_hold(claims, rng):
    run = file_run(rng, preallocated=0.5, truncated=1.2, filesystem="ext4")
    said = findings(claims(run)[1])
    assert said[2] == said[4] == "does not hold."


def test_a_run_is_asked_about_its_own_scope(claims, rng):
    _, out, _ = claims(file_run(rng, filesystem="ext4"))
    assert "5 claims: " in out
    _, out, _ = claims(true_run(rng))
    assert "8 claims: " in out
    foreign = results(repetitions("BM_other", [1.0, 2.0]))
    status, _, err = claims(foreign)
    assert status == 1 and "no claim is about rows of its scope" in err


def test_a_program_learns_why_a_claim_is_not_about_a_run(claims, rng):
    _, out, _ = claims(file_run(rng, filesystem="xfs"), options=["--format=json"])
    told = json.loads(out)["claims"]
    assert (
        told[1]["where"] == {"filesystem": "tmpfs"}
        and "has xfs" in told[1]["elsewhere"]
    )
    assert told[0]["elsewhere"] == ""


@pytest.mark.skipif("GATHERBENCH" not in os.environ, reason="GATHERBENCH is not set")
def test_the_presets_measure_every_row_that_a_claim_needs(tmp_path):
    names = []
    for preset in ("claims", "claim_files"):
        listed = subprocess.run(
            [
                os.environ["GATHERBENCH"],
                f"--preset={preset}",
                "--benchmark_list_tests",
                f"--dir={tmp_path}",
            ],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        names += [parse_name(line) for line in listed.splitlines()]
    rows = [{"scope": name.scope, **name.keys} for name in names]
    for keys in (
        keys for claim in ALL for check in claim.checks for keys in check.rows
    ):
        assert any(keys.items() <= row.items() for row in rows), keys


def test_all_are_of_public_sources():
    assert len(PUBLIC) == len(list((RESULTS / "reference" / "claims").iterdir()))
    assert all(claim.source and claim.claim for claim in ALL)
