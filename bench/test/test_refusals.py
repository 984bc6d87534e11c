"""What the suite refuses to write to, as root and as somebody else: in one clear line, before anything is written."""

import os
import re
import shutil
import subprocess
from contextlib import ExitStack, contextmanager

import machine
import pytest
import scratch

from brief import BRIEF, ROWS, STRATEGIES, measured
from fault_table import fault
from mounts import image, make_image, tmpfs
from run_suite import LOAD_KEYS, SUITE, WRAPPER, read, repetitions, run
from users import STRANGER, become_stranger

USERS = {"root": 0, "nobody": STRANGER}


@pytest.fixture
def place():
    """A directory that every user may enter and nobody else writes to, with the program in it."""
    with scratch.folder("/tmp") as folder:
        folder.chmod(0o755)
        shutil.copy(SUITE[-1], folder / "gatherbench")
        yield folder


def run_as(user, place, *options):
    """Runs the program as a user, in his own group and no other."""
    how = {"program": [*WRAPPER, place / "gatherbench"]}
    if os.geteuid() != USERS[user]:
        machine.need(machine.second_user)
        how["preexec_fn"] = become_stranger
    return run(*BRIEF, *options, **how)


@contextmanager
def a_block_device(place):
    """The device of a mounted image: it goes away with its mount."""
    with image(place / "disk", make_image(place / "image", "ext4")):
        source = subprocess.run(
            ["findmnt", "-n", "-o", "SOURCE", place / "disk"],
            check=True,
            capture_output=True,
            text=True,
        )
        yield source.stdout.strip()


@contextmanager
def made(path, mode):
    path.mkdir()
    path.chmod(mode)
    try:
        yield path
    finally:
        path.chmod(0o700)


@contextmanager
def a_file(place):
    (place / "file").write_text("precious")
    yield place / "file"
    assert (place / "file").read_text() == "precious"


@contextmanager
def a_dangling_link(place):
    (place / "link").symlink_to("nowhere")
    yield place / "link"
    assert not os.path.lexists(place / "nowhere")


@contextmanager
def a_small_disk(place):
    with tmpfs(place / "disk", "size=50m,mode=1777") as folder:
        yield folder


@contextmanager
def nothing(place):
    yield place / "missing"


# What is given as a directory; what is said of it; and to whom.
REFUSED = {
    "block device": (a_block_device, "open directory {}: Not a directory", USERS),
    "file": (a_file, "open directory {}: Not a directory", USERS),
    "missing": (nothing, "open directory {}: No such file or directory", USERS),
    "link": (a_dangling_link, "open directory {}: No such file or directory", USERS),
    "too small": (
        a_small_disk,
        r"{}: 105.0 MB are needed and \d+.\d MB are free",
        USERS,
    ),
    "not writable": (
        lambda place: made(place / "folder", 0o555),
        "write to directory {}: Permission denied",
        ["nobody"],
    ),
    "not readable": (
        lambda place: made(place / "folder", 0o333),
        "open directory {}: Permission denied",
        ["nobody"],
    ),
    "not searchable": (
        lambda place: made(place / "folder", 0o666),
        "open directory {}: Permission denied",
        ["nobody"],
    ),
}


@pytest.mark.parametrize(
    "what, user", [(what, user) for what in REFUSED for user in REFUSED[what][2]]
)
def test_it_is_refused_in_one_line(what, user, place):
    given, line, _ = REFUSED[what]
    with given(place) as path, fault("refused directory", user):
        before = sorted(os.listdir(place))
        changed = os.stat(path).st_mtime_ns if os.path.exists(path) else None
        for options in ["--preset=blog"], [*ROWS["op"], "--window=70m"]:
            result = run_as(user, place, *options, f"--dir={path}")
            assert result.returncode == 1
            assert result.stdout == ""
            told = line.replace("105.0", "(105.0|77.1)").format(re.escape(str(path)))
            assert re.fullmatch(f"gatherbench: {told}\n", result.stderr), result.stderr
        assert sorted(os.listdir(place)) == before
        if changed:
            assert os.stat(path).st_mtime_ns == changed


@pytest.mark.parametrize("user", USERS)
def test_a_device_never_gets_results(user, place):
    with a_block_device(place) as device, fault("results on a device", user):
        result = run_as(
            user, place, *ROWS["op"], "--target=null", f"--benchmark_out={device}"
        )
    assert result.returncode == 1
    assert (
        result.stderr == f"gatherbench: write results to {device}: not a regular file\n"
    )


def test_root_and_others_measure_the_same(place):
    """Nothing needs root: the same rows, calls and context, and no word about it."""
    told = {}
    for user in USERS:
        with ExitStack() as stack:
            folder = stack.enter_context(made(place / user, 0o1777))
            options = [f"--strategy={STRATEGIES}", "--target=file,null,pipe,unix,tcp"]
            options += ["--sync=none,fsync", "--direct=yes,no", "--size=4096"]
            options += ["--window=1m", "--verify", f"--dir={folder}"]
            out = folder / "out.json"
            result = run_as(user, place, *options, f"--benchmark_out={out}")
            assert result.returncode == 0, result.stderr
            results = read(out)
            assert os.listdir(folder) == ["out.json"]
        context = results["context"]
        told[user] = {
            "names": measured(results),
            "calls": [row["calls"] for row in repetitions(results)],
            "kernel_calls": [row["kernel_calls"] for row in repetitions(results)],
            "context": set(context) - LOAD_KEYS,
            "stderr": result.stderr.replace(user, "USER"),
        }
    assert len(told["root"]["names"]) > 50
    assert told["root"] == told["nobody"]


@pytest.mark.parametrize(
    "way", ["truncate", "overwrite", "settle", "unlink", "rename", "dotnet"]
)
def test_a_way_of_creating_a_file_leaves_devices_alone(way, tmp_path):
    """Most of all where the tests run as root."""
    before = os.stat("/dev/null")
    result = run(
        "--scope=file", "--target=null", f"--create={way}", f"--dir={tmp_path}"
    )
    assert result.returncode == 3
    assert "this target has no blocks to create" in result.stderr
    after = os.stat("/dev/null")
    assert (after.st_ino, after.st_mode, after.st_rdev) == (
        before.st_ino,
        before.st_mode,
        before.st_rdev,
    )
