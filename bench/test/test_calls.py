"""The calls that a row reports are those that the kernel saw."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from run_suite import SMALL, SUITE, read, repetitions, strace_works

STRATEGIES = [
    "write",
    "writev",
    "pwrite",
    "pwritev",
    "coalesce",
    "contiguous",
    "fallback",
]
# strace's names of the calls that each strategy makes.
CALLS = {
    "write": "write",
    "writev": "writev",
    "pwrite": "pwrite64",
    "pwritev": "pwritev",
}
CALLS |= {"coalesce": "pwrite64", "contiguous": "pwrite64", "fallback": "pwrite64"}


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_calls_are_those_that_strace_counts(strategy, tmp_path):
    out, trace = tmp_path / "out.json", tmp_path / "trace"
    work = tmp_path / "work"
    work.mkdir()
    subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=write,writev,pwrite64,pwritev,pwritev2"]
        + ["-o", trace, *SUITE, *SMALL, f"--strategy={strategy}", f"--dir={work}"]
        + ["--benchmark_repetitions=3", f"--benchmark_out={out}"],
        check=True,
        capture_output=True,
        timeout=60,
        # A leak check cannot run under strace, which traces already.
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
    )
    # Only calls on files in the work folder: the results and the screen are written too.
    seen = re.findall(
        rf"^\d+ +(\w+)\(\d+<{re.escape(str(work))}/[^>]*>", trace.read_text(), re.M
    )
    rows = repetitions(read(out))
    assert len(rows) == 3
    assert set(seen) == {CALLS[strategy]}
    tried = 1  # before the run, to see whether this directory takes it
    for row in rows:
        observed = 3 + ("folios" in row)  # one more that is not timed
        assert row["calls"] * observed == len(seen) - tried
        assert row["kernel_calls"] == row["calls"]
        assert "label" not in row


def test_the_blog_rows_make_the_calls_that_the_post_describes(tmp_path):
    out = tmp_path / "out.json"
    subprocess.run(
        [*SUITE, "--preset=blog", "--benchmark_repetitions=1", f"--dir={tmp_path}"]
        + [f"--benchmark_out={out}"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    results = read(out)
    expected = {"pwrite": 6250, "pwritev": 1563, "fallback": 6250, "contiguous": 1563}
    for strategy, calls in expected.items():
        row = repetitions(results, strategy)[0]  # the one on a file comes first
        assert row["calls"] == calls
        assert row["buffers"] == 6250
        if "kernel_calls" in row:
            assert row["kernel_calls"] == calls


REFERENCE = Path(__file__).resolve().parents[2] / "results" / "reference"


def calls_on_the_last_file(tmp_path, *options):
    """Names and arguments of the calls on the file of the last op, in order."""
    trace, work = tmp_path / "trace", tmp_path / "work"
    work.mkdir()
    names = (
        "openat,flock,ftruncate,fallocate,lseek,pwrite64,pwritev,unlink,unlinkat,close"
    )
    subprocess.run(
        ["strace", "-f", "-y", "-e", f"trace={names}", "-o", trace, *SUITE, *options]
        + ["--benchmark_repetitions=1", f"--dir={work}"],
        check=True,
        capture_output=True,
        timeout=120,
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
    )
    on_file = [line for line in trace.read_text().splitlines() if "file-" in line]
    calls = [re.match(r"\d+ +(\w+)\((.*)\) += ", line).groups() for line in on_file]
    begin = max(i for i, (name, _) in enumerate(calls) if name == "openat")
    return calls[begin:]


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize(
    "preset, row, method, preallocated",
    [
        ("blog", "strategy:pwrite/target:file", "Write", False),
        ("blog", "strategy:pwritev/target:file", "WriteGather", False),
        ("prealloc", "preallocate:yes", "Write", True),
    ],
)
def test_the_blogs_presets_make_the_published_programs_calls(
    preset, row, method, preallocated, tmp_path
):
    program = json.loads((REFERENCE / "calls" / "dotnet.json").read_text())
    made = calls_on_the_last_file(
        tmp_path, f"--preset={preset}", f"--benchmark_filter={row}"
    )
    opening, closing = program["open"], program["close"]
    if preallocated:
        after = [name for name, _ in opening].index(program["preallocate"]["after"])
        opening.insert(after + 1, program["preallocate"]["call"])
    write = program["write"][method]
    # The published loop leaves out what is no whole batch; ours writes it too, so that all rows write the same.
    left = (
        program["file_bytes"]
        - program["buffer_bytes"] * write["buffers"] * write["times"]
    )
    names = [name.replace("unlinkat", "unlink") for name, _ in made]
    expected = [name for name, _ in opening] + [write["call"]] * (
        write["times"] + (left > 0)
    )
    assert names == expected + [name for name, _ in closing]
    for (_, arguments), (_, wanted) in zip(made, opening):
        assert re.search(
            rf"\b{re.escape(wanted)}", arguments.replace("|O_NOFOLLOW", "")
        )
    for (_, arguments), (_, wanted) in zip(made[-len(closing) :], closing):
        assert wanted in arguments


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize(
    "options, makes, opens_with",
    [
        (["--sync=fdatasync"], "fdatasync", None),
        (["--sync=fsync"], "fsync", None),
        (["--sync=odsync"], None, "O_DSYNC"),
        (["--sync=osync"], None, "O_SYNC"),
        (["--direct=yes"], None, "O_DIRECT"),
        (["--sync=rwf_dsync", "--strategy=pwritev2"], "pwritev2", None),
    ],
)
def test_a_durability_is_what_it_says(options, makes, opens_with, tmp_path):
    """In the scope file, where every call can be told: one file, one sync at its end."""
    trace = tmp_path / "trace"
    work = tmp_path / "work"
    work.mkdir()
    result = subprocess.run(
        [
            "strace",
            "-f",
            "-y",
            "-e",
            "trace=openat,fsync,fdatasync,pwritev2",
            "-o",
            trace,
        ]
        + [*SUITE, "--scope=file", "--file-bytes=64k", "--strategy=pwritev", *options]
        + [f"--dir={work}", "--benchmark_min_time=1e-9", "--benchmark_repetitions=3"],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
    )
    if "refused" in result.stderr:
        pytest.skip("this file system or emulator does not take the flag")
    text = trace.read_text()
    in_work = rf"<{re.escape(str(work))}/[^>]*>"
    # The last three files are those of the repetitions; before them it is tried out whether syncs reach the device.
    files = re.findall(rf'openat\(\d+{in_work}, "(file-\d+)".*O_CREAT', text)[-3:]
    file_in_work = rf"<{re.escape(str(work))}/[^>]*/(?:{'|'.join(files)})>"
    synced = re.findall(rf"^\d+ +(fsync|fdatasync)\(\d+{file_in_work}", text, re.M)
    flagged = re.findall(rf"^\d+ +pwritev2\(\d+{file_in_work}.*RWF_DSYNC", text, re.M)
    opened = re.findall(
        rf"^\d+ +openat\(.*O_CREAT[|\w]*.* = \d+{file_in_work}", text, re.M
    )
    assert opened
    if makes == "pwritev2":
        assert flagged and not synced
    elif makes:
        assert synced == [makes] * 3
    else:
        assert not synced
        assert all(f"|{opens_with}" in line for line in opened)


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize("scope", ["op", "file"])
def test_writes_are_settled_before_the_next_repetition(scope, tmp_path):
    """The window is synced, or the directory in which a file was deleted."""
    trace, work = tmp_path / "trace", tmp_path / "work"
    work.mkdir()
    subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=fsync,pwrite64,unlinkat", "-o", trace]
        + [*SUITE, f"--scope={scope}", "--file-bytes=16k", "--window=16k"]
        + ["--strategy=pwrite", "--benchmark_min_time=1e-9"]
        + ["--benchmark_repetitions=5", f"--dir={work}"],
        check=True,
        capture_output=True,
        timeout=60,
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
    )
    calls = "".join(
        call[0]
        for call, path in re.findall(
            r"^\d+ +(\w+)\(\d+<([^>]*)>", trace.read_text(), re.M
        )
        if path.startswith(str(work))
    )
    # A repetition makes four write calls, deletes its file, and settles; in the end the directory goes.
    repetition, end = ("ppppf", "") if scope == "op" else ("ppppuf", "u")
    assert calls.endswith(5 * repetition + end)


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize(
    "laid, bytes", [("pages", 4096), ("pieces", 1000), ("once", 1 << 20)]
)
def test_a_window_is_laid_in_pieces_of_the_size_that_is_said(laid, bytes, tmp_path):
    trace, work, out = tmp_path / "trace", tmp_path / "work", tmp_path / "out.json"
    work.mkdir()
    subprocess.run(
        ["strace", "-f", "-e", "trace=pwrite64", "-o", trace, *SUITE, f"--laid={laid}"]
        + [
            "--strategy=writev",
            "--size=1000",
            "--window=1m",
            "--benchmark_repetitions=3",
        ]
        + ["--benchmark_min_time=1e-9", f"--dir={work}", f"--benchmark_out={out}"],
        check=True,
        capture_output=True,
        timeout=60,
        env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
    )
    lengths = list(map(int, re.findall(r", (\d+), \d+\) = ", trace.read_text())))
    if laid != "pages":  # the plan was tried in a small window of its own
        assert lengths.pop(0) == 512
    whole, rest = divmod(1 << 20, bytes)
    assert lengths == [bytes] * whole + [rest] * (rest > 0)
    assert read(out)["context"]["gatherbench.laid"] == laid
