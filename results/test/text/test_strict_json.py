"""Parsers without NaN read every JSON that a script writes: Python's strict one, Node's and Perl's."""

import gzip
import json
import math
import shutil
import subprocess

import pytest
from commands import Command
from conftest import RESULTS, write_files
from made import repetitions, results
from made_maps import COALESCE, GATHER, by_size, grid_run

READERS = {
    "node": ["-e", "JSON.parse(require('fs').readFileSync(0))"],
    "perl": ["-MJSON::PP", "-0777", "-ne", "JSON::PP->new->utf8->decode($_)"],
}


def refuse(constant):
    raise AssertionError(f"{constant} is not JSON")


@pytest.fixture
def documents(tmp_path, rng, capsys):
    """The scripts' output on runs with missing figures, by command line."""
    grid = grid_run(by_size({"16": COALESCE, "512": GATHER}), rng)
    for entry in grid["benchmarks"]:
        entry["short_writes"] = math.nan
        entry["others"] = math.inf
    name = "op/strategy:write/count:1/size:64/real_time"
    single = results(repetitions(name, [1.0]), spoiled="cut short")
    paths = write_files(tmp_path, "run", [grid, single])
    assert "NaN" in (tmp_path / "run0.json").read_text()
    written = {}
    for words in (
        ["compare", paths[0], "--by=strategy"],
        ["compare", paths[1], paths[1]],
        ["claims", paths[0]],
        ["crossover", paths[0]],
    ):
        Command(words[0]).main([*words[1:], "--format=json"])
        written[" ".join(words)] = capsys.readouterr().out.encode()
    Command("keep").main([paths[0], "-o", str(tmp_path / "kept.gz")])
    written["keep"] = gzip.decompress((tmp_path / "kept.gz").read_bytes())
    return written


def test_all_is_strict(documents):
    for text in documents.values():
        json.loads(text, parse_constant=refuse)
    for path in (RESULTS / "measured").glob("*.gz"):
        json.loads(gzip.decompress(path.read_bytes()), parse_constant=refuse)


@pytest.mark.parametrize("reader", READERS)
def test_others_read_it(reader, documents):
    program = shutil.which(reader)
    if program is None:
        pytest.skip(f"there is no {reader}")
    for name, text in documents.items():
        done = subprocess.run(
            [program, *READERS[reader]], input=text, capture_output=True
        )
        assert done.returncode == 0, (name, done.stderr)
    assert subprocess.run(
        [program, *READERS[reader]], input=b"[NaN]", capture_output=True
    ).returncode
