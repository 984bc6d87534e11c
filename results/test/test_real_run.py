"""A real run's file is read and shown. GATHERBENCH names the binary; without it this is skipped."""

import os
import subprocess

import pytest
from gatherstats.data.reader import load

STRATEGIES = ["pwrite", "pwritev", "fallback", "contiguous"]
CALLS = [6250, 1563, 6250, 1563]


@pytest.mark.skipif("GATHERBENCH" not in os.environ, reason="GATHERBENCH is not set")
def test_the_blog_preset(tmp_path, capsys):
    from commands import blog_table

    path = tmp_path / "run.json"
    options = ["--preset=blog", "--quick", f"--dir={tmp_path}"]
    subprocess.run(
        [os.environ["GATHERBENCH"], *options, f"--benchmark_out={path}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    run = load(path)
    assert run.problems == []
    on_file = [row for row in run.rows if row.name.keys["target"] == "file"]
    assert [row.name.keys["strategy"] for row in on_file] == STRATEGIES
    assert [str(row.name) for row in run.rows] == [row.name.text for row in run.rows]
    assert [row.counter("calls") for row in on_file] == CALLS
    for row in run.rows:
        assert row.counter("kernel_calls") in (None, row.counter("calls"))
        assert row.start_s is not None and row.times_s.size == row.expected
    assert blog_table.main([str(path)]) == 0
    out, err = capsys.readouterr()
    assert err == "" and "Gather, no pwritev" in out
