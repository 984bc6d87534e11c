"""What else the machine did is in the results, and where it was much, the run says so."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from run_suite import SUITE, read, run

ROW = ["--strategy=write", "--target=null", "--benchmark_min_time=0.1"]
BUSY = "import time\nend = time.monotonic() + 60\nwhile time.monotonic() < end: pass"


def all_processors_are_ours():
    quota = Path("/sys/fs/cgroup/cpu.max")
    limited = quota.exists() and not quota.read_text().startswith("max")
    return not limited and len(os.sched_getaffinity(0)) == os.cpu_count()


@pytest.fixture
def load():
    """A process for each processor that only computes, for a minute at most."""
    if not all_processors_are_ours():
        pytest.skip("this container may not keep all processors busy")
    others = [
        subprocess.Popen([sys.executable, "-c", BUSY])
        for _ in range(os.cpu_count() or 1)
    ]
    yield
    for other in others:
        other.kill()
        other.wait()


def test_a_run_under_load_says_so(load, tmp_path):
    out = tmp_path / "out.json"
    # A row of no work: what is used of the processors is then used by others.
    options = [*ROW, "--benchmark_repetitions=10", f"--benchmark_out={out}"]
    result = run(*options)
    context = read(out)["context"]
    assert "under load: others used" in result.stdout
    assert context["gatherbench.under_load"] in result.stdout
    assert context["gatherbench.spoiled"] in result.stdout.splitlines()
    assert float(context["gatherbench.others_cpu"]) >= 0.25
    formatted = run(*options, "--benchmark_format=json")
    assert "under load: others used" in formatted.stderr


def test_the_load_is_in_the_results(tmp_path):
    out = tmp_path / "out.json"
    result = run(*ROW, "--benchmark_repetitions=3", f"--benchmark_out={out}")
    assert result.returncode == 0
    share = float(read(out)["context"]["gatherbench.others_cpu"])
    assert 0 <= share <= 1
    assert ("under load" in result.stdout) == (share >= 0.25)


def test_own_work_is_no_load(tmp_path):
    """A run that keeps every processor busy itself: what it uses is not the others'."""
    out, processors = tmp_path / "out.json", os.cpu_count() or 1
    options = [*ROW, "--benchmark_repetitions=10", f"--threads={processors}"]
    start = time.monotonic()
    busy = subprocess.Popen(
        [*SUITE, *options, f"--benchmark_out={out}"], stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(busy.pid, 0)
    busy.returncode = os.waitstatus_to_exitcode(status)
    own = (used.ru_utime + used.ru_stime) / processors / (time.monotonic() - start)
    assert busy.returncode == 0 and own > 0
    others = float(read(out)["context"]["gatherbench.others_cpu"])
    assert others <= 1 - own + 0.1
