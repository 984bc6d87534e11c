"""Every call that can fail is made to fail, by strace: nothing is lost, left behind or hidden.

The table goes over all strategies, durabilities and scopes of --list, the other tests over every single call of a small
plan. GATHERBENCH_ALL_FAULTS=1 tries every error at every place instead of one.
"""

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fault_table import fault
from injection import ERRORS, OLD_RESULTS, WRITES, Injected, can_inject
from run_suite import SUITE, read, repetitions, run

pytestmark = pytest.mark.skipif(not can_inject(), reason="strace cannot inject here")

RESULTS = Path(__file__).resolve().parents[2] / "results"

ALL = bool(os.environ.get("GATHERBENCH_ALL_FAULTS"))
SHAPE = "--count=2 --size=4k"
SMALL = {"op": f"{SHAPE} --window=16k", "file": f"{SHAPE} --file-bytes=16k"}
# Of each kind of call the first and the last, with every error; these take turns where not all are tried.
ENDS_AND_ERRORS = list(itertools.product([0, -1], ERRORS))
turns = itertools.cycle(ENDS_AND_ERRORS)
# Of a row's kinds of calls every second fails where not all are tried, in the next row the others.
firsts = itertools.cycle([0, 1])
MANY = (
    12  # calls of a name in a run, of which every third fails where not all are tried
)


def listed(title):
    """The names that --list has under a title, without what this system lacks."""
    section = run("--list").stdout.split(f"{title} (")[1].split("\n\n")[0]
    entries = re.findall(r"^  (\w+) .*((?:\n    .*)*)", section, re.M)
    return [name for name, more in entries if "n/a here" not in more]


def inject(tmp_path, rows, call, number, error):
    """One run whose call of that name and number fails, checked; False if it met no fault."""
    injected = Injected(tmp_path, rows, [f"{call}:error={error}:when={number}"])
    hit = injected.hit()
    if hit is None:
        injected.check()
        return False
    if injected.place(hit) == "sanitizer":
        return True
    with fault(error, call):
        print(call, number, error, injected.place(hit), hit.path)
        injected.check()
    return True


def plans():
    """The rows of the tables, each beside one on /dev/null."""
    if not can_inject():
        return []
    names = itertools.product(*map(listed, ["Scopes", "Strategies", "Durabilities"]))
    return [
        pytest.param(scope, strategy, sync, id=f"{scope}-{strategy}-{sync}")
        for scope, strategy, sync in names
        if (strategy != "none" or sync == "none")
        and (sync != "rwf_dsync" or strategy == "pwritev2")
    ]


@pytest.mark.parametrize("scope, strategy, sync", plans())
def test_a_fault_is_an_error_of_its_row(scope, strategy, sync, tmp_path):
    """The first or the last of each kind of call that belongs to the row."""
    common = f"--scope={scope} --strategy={strategy} {SMALL[scope]}"
    allocate = "--preallocate=yes" if scope == "file" else ""
    fail_ends(
        tmp_path, [f"{common} --sync={sync} {allocate}", f"{common} --target=null"]
    )


def ways():
    return listed("Ways of creating a file") if can_inject() else []


@pytest.mark.parametrize("way", ways())
@pytest.mark.parametrize("sync", ["none", "fdatasync"])
def test_a_fault_while_a_file_is_saved_is_an_error_of_its_row(way, sync, tmp_path):
    """Nothing of ours stays, and the next run finds its old file again."""
    common = f"--scope=file --strategy=pwritev {SMALL['file']}"
    fail_ends(
        tmp_path,
        [
            f"{common} --create={way} --keep=yes --sync={sync}",
            f"{common} --target=null",
        ],
    )


@pytest.mark.parametrize("name", ["TERM", "KILL"])
def test_a_signal_between_write_and_rename_leaves_nothing(name, tmp_path):
    """Old and new file are both there then; what a killed run leaves goes with the next."""
    work = tmp_path / "work"
    work.mkdir()
    row = [
        "--scope=file",
        "--strategy=pwrite",
        "--create=rename",
        *SMALL["file"].split(),
    ]
    row += ["--benchmark_min_time=1e-9", "--benchmark_repetitions=9", f"--dir={work}"]
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat"]
    strace += ["-e", f"inject=renameat:signal=SIG{name}:when=30"]
    env = {"ASAN_OPTIONS": "detect_leaks=0"}  # it cannot run under a tracer
    killed = run(*row, program=[*strace, *SUITE], env=env)
    number = getattr(signal, f"SIG{name}")
    assert killed.returncode in (128 + number, -number)
    assert (name == "TERM") == (os.listdir(work) == [])
    assert run(*row).returncode == 0
    assert os.listdir(work) == []


def fail_ends(tmp_path, rows):
    whole = Injected(tmp_path, rows)
    whole.check()
    numbers = {}
    for call, number in whole.numbered():
        if whole.place(call) == "row" and call.path != "/dev/null":
            numbers.setdefault(call.name, []).append(number)
    assert "openat" in numbers and "close" in numbers
    first = next(firsts)
    for call, which in numbers.items() if ALL else [*numbers.items()][first::2]:
        for end, error in ENDS_AND_ERRORS if ALL else [next(turns)]:
            assert inject(tmp_path, rows, call, which[end], error)


# Plans that make every kind of call; between them also what runs before and after the rows.
EVERY_CALL = {
    "op": [
        "--scope=op --strategy=write --sync=fsync --target=file --verify",
        "--scope=op --strategy=pwritev2 --sync=fdatasync,rwf_dsync --target=file",
        "--scope=op --strategy=writev --target=null,pipe",
    ],
    "file": [
        "--scope=file --strategy=write --sync=fsync --target=file",
        "--scope=file --strategy=pwritev --sync=none --preallocate=yes --target=file",
        "--scope=file --strategy=pwrite --target=null",
    ],
}


def every_kind_of_call():
    """The names of the program's own calls in a run without faults."""
    if not can_inject():
        return []
    kinds = []
    for scope, rows in EVERY_CALL.items():
        with tempfile.TemporaryDirectory() as folder:
            injected = Injected(Path(folder), [f"{row} {SMALL[scope]}" for row in rows])
            names = dict.fromkeys(call.name for call, _ in injected.numbered())
            kinds += [pytest.param(scope, name, id=f"{scope}-{name}") for name in names]
    return kinds


@pytest.mark.parametrize("scope, call", every_kind_of_call())
def test_each_single_call_may_fail(scope, call, tmp_path):
    """The first one fails, then another, and so on until a run meets no fault: of many alike not all unless all are tried.

    Each plan of EVERY_CALL reads some fifty facts of the machine, one after the other, in the same way.
    """
    rows = [f"{row} {SMALL[scope]}" for row in EVERY_CALL[scope]]
    if call == "close":
        # strace leaves the file open, as the kernel never does, and a pipe's reader waits for its end.
        rows = [row.replace("null,pipe", "null") for row in rows]
    whole = Injected(tmp_path, rows)
    whole.check()
    ours = [number for own, number in whole.numbered() if own.name == call]
    step = 1 if ALL or len(ours) < MANY else 3
    for error in ERRORS if ALL else ["EIO"]:
        for number in itertools.count(ours[0], step):
            hit = inject(tmp_path, rows, call, number, error)
            # A shorter run reads fewer facts on the machine's load.
            if not hit and number > ours[-1]:
                break


@pytest.mark.parametrize("error", ERRORS)
def test_before_the_rows_every_error_is_named(error, tmp_path):
    """A directory that cannot be opened for want of space is not one with too little room."""
    whole = Injected(tmp_path, [FILE_ROW])
    for call, number in list(whole.numbered()):
        if whole.place(call) == "start":
            assert inject(tmp_path, [FILE_ROW], call.name, number, error)


def left_in(injected):
    return [path.name for path in injected.work.iterdir()]


FILE_ROW = f"--scope=file --strategy=pwrite --sync=none {SMALL['file']}"


@pytest.mark.parametrize("what", ["files", "the directory"])
def test_what_cannot_be_removed_is_told_and_the_next_run_removes_it(what, tmp_path):
    """The last calls of unlinkat: one in each of two repetitions, and the directory."""
    removed = [c.name for c, _ in Injected(tmp_path, [FILE_ROW]).numbered()]
    first = removed.count("unlinkat") - (2 if what == "files" else 0)
    injected = Injected(tmp_path, [FILE_ROW], [f"unlinkat:error=EIO:when={first}+"])
    with fault("EIO for good", "unlinkat"):
        assert injected.process.returncode == 1
        [name] = left_in(injected)
        left = f"{injected.work}/{name} is left; the next run there removes it"
        assert left in injected.process.stderr
        assert bool(injected.rows()[0]) == (what == "files")
        Injected(tmp_path, [FILE_ROW]).check()


def test_results_that_cannot_even_be_removed_are_told(tmp_path):
    faults = ["rename,renameat,renameat2,unlink:error=EACCES"]
    injected = Injected(tmp_path, [FILE_ROW], faults)
    partial = f"{injected.out}.partial"
    with fault("EACCES for good", "rename"):
        assert injected.process.returncode == 1
        for operation in ["rename", "unlink"]:
            assert (
                f"{operation} {partial}: Permission denied" in injected.process.stderr
            )
        assert injected.out.read_text() == OLD_RESULTS
        Injected(tmp_path, [FILE_ROW]).check()


def test_the_first_of_several_errors_is_the_one_to_tell(tmp_path):
    faults = ["pwrite64:error=EIO:when=2", "unlinkat:error=EROFS:when=2"]
    injected = Injected(tmp_path, [FILE_ROW], faults)
    with fault("EIO, then EROFS", "pwrite64"):
        [rows] = injected.rows()[0].values()
        assert rows[0]["error_message"].endswith("pwrite: Input/output error")
        assert left_in(injected) == []


FACTS = {
    "/proc/cpuinfo": "gatherbench.cpu",
    "/proc/self/status": "gatherbench.cpu_affinity",
    "/proc/self/mountinfo": "gatherbench.device",
    "/proc/thread-self/io": "kernel_calls",
    "/proc/meminfo": "dirty_bytes",
}


@pytest.mark.parametrize("path", FACTS)
def test_a_fact_that_cannot_be_read_is_left_out(path, tmp_path):
    injected = Injected(tmp_path, [FILE_ROW], ["openat:error=EACCES"], path)
    with fault("EACCES for good", "openat"):
        injected.check_success(None)
        results = read(injected.out)
        assert FACTS[path] not in results["context"]
        assert not any(FACTS[path] in row for row in repetitions(results))


@pytest.mark.parametrize("error", ["EINTR", "EAGAIN"])
@pytest.mark.parametrize("strategy", ["write", "writev", "pwritev2", "fallback"])
def test_a_storm_of_signals_costs_calls_and_nothing_else(strategy, error, tmp_path):
    row = FILE_ROW.replace("pwrite", strategy)
    whole = Injected(tmp_path, [row])
    writes = [
        (call.name, number)
        for call, number in whole.numbered()
        if call.name in WRITES and "/file-" in call.path
    ]
    timed = sum(int(one["calls"]) for one in repetitions(read(whole.out)))
    name, number = writes[-timed]  # those before try the row's call, and count
    storm = f"{name}:error={error}:when={number}..{number + 39}"
    injected = Injected(tmp_path, [row], [storm])
    with fault(f"{error}, 40 times", name):
        injected.check_success(None)
        first, second = repetitions(read(injected.out))
        assert first["calls"] - first["kernel_calls"] == 40
        assert "differ" in first["label"]
        assert second["calls"] == second["kernel_calls"]


@pytest.mark.parametrize("number", [1, 5], ids=["all", "one"])
def test_a_fault_in_a_thread_fails_the_row_of_all(number, tmp_path):
    """Each thread makes four calls; only the one that runs both repetitions makes a fifth."""
    rows = [f"{FILE_ROW} --threads=4", FILE_ROW.replace("pwrite", "pwritev")]
    injected = Injected(tmp_path, rows, [f"pwrite64:error=EIO:when={number}"])
    with fault("EIO", "pwrite64"):
        [failed], [good] = injected.rows()
        assert "strategy:pwrite/" in failed and "strategy:pwritev/" in good
        assert injected.process.returncode == 1
        assert left_in(injected) == []


@pytest.mark.parametrize(
    "script",
    ["compare.py --by=strategy", "crossover.py", "blog_table.py", "claims.py"]
    + ["report.py --output=/dev/stdout"],
    ids=lambda script: script.split(".")[0],
)
def test_no_script_shows_a_time_for_a_failed_row(script, tmp_path):
    row = f"--scope=op --strategy=pwrite,pwritev,coalesce {SMALL['op']}"
    injected = Injected(tmp_path, [row], ["pwritev:error=EDQUOT:when=2"])
    [name] = injected.rows()[0]
    assert "strategy:pwritev" in name
    program, *options = script.split()
    result = subprocess.run(
        [sys.executable, RESULTS / program, *options, injected.out],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode in (1, 3)
    shown = result.stdout + result.stderr
    with fault("EDQUOT", "pwritev"):
        assert f"{name}: failed: pwritev: Disk quota exceeded" in " ".join(
            shown.split()
        )
        for piece in re.split(r"\n|<tr|<li|<p", shown):
            if "pwritev" in piece:
                assert not re.search(r"\d\.\d", piece)
