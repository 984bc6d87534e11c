"""keep.py and pictures.py: a run for publication, and its pictures."""

import gzip
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import RESULTS, write_files
from gatherstats.data.reader import load
from made import repetitions, results
from made_account import account_run
from made_maps import COALESCE, GATHER, by_size, grid_run

from commands import keep
from commands import pictures

MEASURED = RESULTS / "measured"
TIMES = by_size({"16": COALESCE, "512": GATHER})


def kept(tmp_path, document):
    (path,) = write_files(tmp_path, "run", [document])
    out = tmp_path / "run.json.gz"
    assert keep.main([path, "-o", str(out)]) == 0
    return out


def test_a_kept_run_has_the_same_figures_and_no_name(tmp_path, rng):
    run = grid_run(TIMES, rng)
    run["context"] |= {
        "host_name": "secret",
        "executable": "/home/me/secret/gatherbench",
    }
    run["context"]["gatherbench.command"] = "gatherbench --dir=/tmp"
    out = kept(tmp_path, run)
    text = gzip.decompress(out.read_bytes()).decode()
    assert "secret" not in text and '"executable":"gatherbench"' in text
    assert "gatherbench --dir=/tmp" in text
    for before, after in zip(
        load(tmp_path / "run0.json").rows, load(out).rows, strict=True
    ):
        assert before.name == after.name and np.array_equal(
            before.times_s, after.times_s
        )
    assert out.read_bytes() == kept(tmp_path, run).read_bytes()
    assert keep.main([str(out), "-o", str(tmp_path / "again.json.gz")]) == 0
    assert (tmp_path / "again.json.gz").read_bytes() == out.read_bytes()


def test_what_cannot_be_kept(tmp_path, rng, capsys):
    bad, good = write_files(tmp_path, "run", ["", grid_run(TIMES, rng)])
    assert keep.main([bad, "-o", str(tmp_path / "x")]) == 2
    assert not (tmp_path / "x").exists()
    assert keep.main([good, "-o", str(tmp_path / "none" / "x")]) == 2
    assert capsys.readouterr().err.count("\n") == 2


def test_the_pictures(tmp_path, rng):
    for name, run in (("blog", account_run(rng)), ("grid", grid_run(TIMES, rng))):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    assert pictures.main([f"--from={tmp_path}", f"--into={tmp_path}"]) == 0
    found = {}
    for name in ("map", "account", "advice"):
        found[name] = (tmp_path / f"{name}.svg").read_text()
        assert ElementTree.fromstring(found[name].encode()).tag.endswith("svg")
        assert "<script" not in found[name]
    words = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", found["advice"]))
    assert words == (
        "On ext4 here: one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once."
        " Above: pwritev()."
    )
    assert "4687 calls saved x" in found["account"]


def test_without_the_runs_there_are_no_pictures(tmp_path, rng, capsys):
    assert pictures.main([f"--from={tmp_path}", f"--into={tmp_path}"]) == 2
    for name in ("blog", "grid"):
        (tmp_path / f"{name}.json").write_text(
            json.dumps(results(repetitions("BM_a", [1.0, 2.0])))
        )
    assert pictures.main([f"--from={tmp_path}", f"--into={tmp_path}"]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 2 and "there is no map, or no account" in err
    assert not list(tmp_path.glob("*.svg"))


@pytest.mark.skipif(not list(MEASURED.glob("*.gz")), reason="no run is kept here")
def test_the_kept_runs_are_small_and_name_nobody():
    files = list(MEASURED.glob("*.json.gz"))
    assert {f.name for f in files} >= {"blog.json.gz", "grid.json.gz", "ladder.json.gz"}
    assert sum(f.stat().st_size for f in MEASURED.iterdir()) < 1024 * 1024
    for path in files:
        run = load(path)
        assert run.problems == [] and not any(row.failed for row in run.rows)
        assert (
            run.context["host_name"] == "host"
            and run.context["executable"] == "gatherbench"
        )
        text = gzip.decompress(path.read_bytes()).decode()
        for word in re.findall(r"/(?:home|root|work|usr|Users|opt|srv)\b", text):
            raise AssertionError(word)
