"""Google's own compare.py reads the suite's results unchanged. Skipped where it is not installed."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import RESULTS

COMPARE = Path("/usr/share/benchmark/compare.py")
RUN = RESULTS / "test" / "files" / "blog_quick.json"


@pytest.mark.skipif(not COMPARE.exists(), reason="Google's compare.py is not here")
def test_googles_comparison_reads_our_results(tmp_path):
    other = tmp_path / "other.json"
    other.write_text(RUN.read_text().replace('"real_time": 4', '"real_time": 5'))
    done = subprocess.run(
        [sys.executable, COMPARE, "--no-color", "benchmarks", RUN, other],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "strategy:pwritev/target:file" in done.stdout and "pvalue" in done.stdout


def test_ours_reads_the_same_files(compare):
    content = RUN.read_text()
    status, out, _ = compare(content, content)
    assert status == 3 and "Geometric mean of the ratios: 1.000" in out
    assert "4 pairs" in out
    status, out, _ = compare(content, options=["--by=strategy"])
    assert status in (0, 1) and "Base: strategy:pwrite" in out
