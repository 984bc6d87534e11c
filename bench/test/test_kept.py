"""Results files and command lines of the first version still work: the files were made by it."""

import gzip
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from run_suite import run

RESULTS = Path(__file__).resolve().parents[2] / "results"
KEPT = RESULTS / "test" / "files"


def kept(name):
    return json.loads(gzip.decompress((KEPT / f"kept_{name}.json.gz").read_bytes()))


# The preset makes .NET's calls since then.
@pytest.mark.parametrize("name, besides", [("op", []), ("blog", ["--create=new"])])
def test_a_command_line_of_then_makes_the_same_rows(name, besides, tmp_path):
    document = kept(name)
    _, *words = shlex.split(document["context"]["gatherbench.command"])
    # Where it ran and what it wrote is not what it measured.
    words = [w for w in words if not w.startswith(("--dir=", "--benchmark_out="))]
    listed = run(*words, *besides, f"--dir={tmp_path}", "--benchmark_list_tests")
    assert listed.returncode == 0
    names = {row["run_name"] for row in document["benchmarks"]}
    # A name says since then that one buffer is used again.
    assert {n.replace("/buffers:one", "") for n in listed.stdout.split()} == names


@pytest.mark.parametrize(
    "name, script, shown",
    [
        ("blog", "blog_table.py", ["pwritev", "fallback"]),
        ("op", "compare.py --by=strategy", ["pwritev", "coalesce"]),
        ("op", "report.py --output=report.html", []),
    ],
    ids=["blog_table", "compare", "report"],
)
def test_a_results_file_of_then_is_read(name, script, shown, tmp_path):
    program, *options = script.split()
    result = subprocess.run(
        [sys.executable, RESULTS / program, *options, KEPT / f"kept_{name}.json.gz"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        timeout=60,
    )
    assert result.returncode in (0, 1, 3), result.stderr  # 1 and 3 are verdicts
    assert "Traceback" not in result.stderr
    for word in shown:
        assert word in result.stdout
    assert (
        options[0:1] != ["--output=report.html"] or (tmp_path / "report.html").exists()
    )
