"""In a directory that others may write to, nothing of theirs and nothing that they point to comes to harm."""

import contextlib
import itertools
import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest
import scratch

from run_suite import SMALL, SUITE, read, repetitions, strace_works
from users import STRANGER, become_stranger, needs_stranger

pytestmark = needs_stranger

QUICK = [*SMALL, "--quick"]
PRECIOUS = "precious\n"


@pytest.fixture
def place():
    """A directory like /tmp, with a victim beside it."""
    with scratch.folder("/tmp") as folder:
        folder.chmod(0o755)
        yield Place(folder)


class Place:
    def __init__(self, folder):
        self.tmp, self.victim = folder / "tmp", folder / "victim"
        self.tmp.mkdir()
        self.tmp.chmod(0o1777)
        self.victim.mkdir(mode=0o700)
        # Its name and mode are those of something that a killed run left.
        self.file = self.victim / "file-0"
        self.file.write_text(PRECIOUS)
        self.out = self.tmp / "out.json"

    def run(self, *options, program=SUITE):
        """Runs the suite in the directory; it must come to an end."""
        return subprocess.run(
            [*program, *options, f"--dir={self.tmp}", f"--benchmark_out={self.out}"],
            capture_output=True,
            text=True,
            timeout=60,
            # A leak check cannot run under strace, which traces already.
            env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
        )

    def assert_unharmed(self):
        assert self.file.read_text() == PRECIOUS
        assert [path.name for path in self.victim.iterdir()] == ["file-0"]


def as_stranger(act):
    """Calls a function in a process of the other user's."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            become_stranger()
            act()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@contextlib.contextmanager
def attacked_by(act):
    """The other user calls a function again and again, for as long as the block takes (and ten minutes at most)."""
    child = os.fork()
    if child == 0:
        try:
            become_stranger()
            end = time.monotonic() + 600
            while time.monotonic() < end:
                act()
        finally:
            os._exit(0)
    try:
        yield
        assert os.waitpid(child, os.WNOHANG) == (0, 0)  # it went on to the end
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def linked_directory(path):
    """A directory that looks like a run's, with links out of it."""

    def plant(place):
        path_ = place.tmp / path
        path_.mkdir(mode=0o700)
        for name in ("file-0", "window-1", "file-2"):
            path_.joinpath(name).symlink_to(place.file)

    return plant


PLANTS = {
    "a link to a file": lambda path, place: path.symlink_to(place.file),
    "a link to a new file": lambda path, place: path.symlink_to(place.victim / "new"),
    "a link to a directory": lambda path, place: path.symlink_to(place.victim),
    "a fifo": lambda path, place: os.mkfifo(path),
    "a directory": lambda path, place: path.mkdir(mode=0o700),
    "a directory with links": lambda path, place: linked_directory(path.name)(place),
    "a file": lambda path, place: path.write_text("mine"),
}
PARTIAL, STALE = "out.json.partial", ".gatherbench-0123456789abcdef"


def what_is(path):
    status = os.lstat(path)
    return status.st_ino, status.st_mode, status.st_uid, status.st_size


@pytest.mark.parametrize("kind", PLANTS)
@pytest.mark.parametrize("name", ["out.json", PARTIAL, STALE])
@pytest.mark.parametrize("scope", ["op", "file"])
def test_what_a_stranger_has_prepared_is_left_alone(scope, name, kind, place):
    planted = place.tmp / name
    as_stranger(lambda: PLANTS[kind](planted, place))
    before = what_is(planted)
    result = place.run(*QUICK, f"--scope={scope}", "--window=1m")
    place.assert_unharmed()
    if (name, kind) == ("out.json", "a file"):
        # It was asked for by name: it makes way, as every older results file does, and is not written into.
        assert result.returncode == 0
        assert what_is(planted)[0] != before[0]
        assert read(planted)["benchmarks"]
        return
    assert what_is(planted) == before
    if name == STALE:
        assert result.returncode == 0, result.stderr
        assert len(repetitions(read(place.out))) == 9
        assert sorted(path.name for path in place.tmp.iterdir()) == [STALE, "out.json"]
    else:
        assert result.returncode == 1
        assert len(result.stderr.splitlines()) == 1
        assert name in result.stderr
        assert [path.name for path in place.tmp.iterdir()] == [name]


@pytest.mark.parametrize("name", ["out.json", PARTIAL])
def test_a_hard_link_is_not_written_through(name, place):
    os.link(place.file, place.tmp / name)  # as a stranger could on older systems
    result = place.run(*QUICK)
    assert result.returncode == (0 if name == "out.json" else 1)
    place.assert_unharmed()


def test_a_stranger_cannot_take_the_place_of_anothers_results(place):
    """In a directory like /tmp only the owner may replace a file, which would show after the measurement only."""
    place.out.write_text(PRECIOUS)
    program = place.tmp / "program"
    shutil.copy(SUITE[-1], program)
    program.chmod(0o755)
    result = subprocess.run(
        [program, *QUICK, f"--dir={place.tmp}", f"--benchmark_out={place.out}"],
        preexec_fn=become_stranger,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 1
    assert result.stderr.splitlines() == [
        f"gatherbench: write results to {place.out}: it is another user's file"
    ]
    assert place.out.read_text() == PRECIOUS


def swap(place, paths, kinds):
    """A function that puts each thing in the place of the last one, in turn."""
    turns = itertools.cycle(itertools.product(paths, kinds))
    aside = itertools.count()

    def act():
        path, kind = next(turns)
        with contextlib.suppress(OSError):
            path.unlink()
        with contextlib.suppress(OSError):
            path.rename(f"{path}-{next(aside)}")
        with contextlib.suppress(OSError):
            PLANTS[kind](path, place)

    return act


@pytest.mark.parametrize("scope", ["op", "file"])
def test_a_stranger_who_keeps_swapping_does_no_harm(scope, place):
    paths = [place.tmp / name for name in (PARTIAL, STALE, "out.json")]
    with attacked_by(swap(place, paths, PLANTS)):
        for _ in range(5):
            result = place.run(*QUICK, f"--scope={scope}", "--window=1m")
            assert result.returncode in (0, 1), result.stderr
            place.assert_unharmed()


def swap_directory(place, path):
    """In the place of a run's directory one with hard links to the victim's file."""
    path.rename(place.tmp / f"aside-{path.name}")
    path.mkdir()
    for i in range(4):
        os.link(place.file, path / f"file-{i}")


def swap_partial(place, path):
    path.rename(place.tmp / f"aside-{path.name}")
    path.symlink_to(place.file)


@pytest.mark.skipif(not strace_works(), reason="strace cannot trace here")
@pytest.mark.parametrize(
    "pattern, attack",
    [(".gatherbench-*", swap_directory), (PARTIAL, swap_partial)],
    ids=["directory", "results"],
)
def test_the_owner_of_the_directory_does_no_harm(pattern, attack, place):
    """Who may rename everything there can put things of his own in the place of what a run has made."""
    os.chown(place.tmp, STRANGER, STRANGER)
    place.tmp.chmod(0o755)
    # Hard links to what one cannot write are mostly forbidden.
    place.victim.chmod(0o755)
    place.file.chmod(0o666)

    def act():
        for path in place.tmp.glob(pattern):
            with contextlib.suppress(OSError):
                if path.lstat().st_uid == 0:
                    attack(place, path)

    # Between making a thing and using it the run is held up, so that the stranger is always in time.
    slow = ["strace", "-f", "-o", "/dev/null", "-e", "trace=mkdirat,flock"]
    slow += ["-e", "inject=mkdirat,flock:delay_exit=100000", *SUITE]
    with attacked_by(act):
        assert place.run(*QUICK, program=slow).returncode in (0, 1)
    assert [*place.tmp.glob("aside-*")], "the attack did not succeed"
    place.assert_unharmed()


def open_files(process, folder):
    """The modes of the files below a folder that a process has open, those without a name among them."""
    modes = set()
    for fd in Path(f"/proc/{process.pid}/fd").iterdir():
        # The process closes and opens all the time: path and mode must be those of the same file.
        with contextlib.suppress(FileNotFoundError):
            held = os.open(fd, os.O_PATH | os.O_CLOEXEC)
            try:
                if os.readlink(f"/proc/self/fd/{held}").startswith(f"{folder}/"):
                    modes.add(oct(os.fstat(held).st_mode))
            finally:
                os.close(held)
    return modes


@pytest.mark.parametrize("user", ["root", "stranger"])
@pytest.mark.parametrize("mask", [0, 0o22, 0o77, 0o777], ids=oct)
@pytest.mark.parametrize("scope", ["op", "file"])
def test_files_are_their_users_alone(scope, mask, user, place):
    program = place.tmp / "program"
    shutil.copy(SUITE[-1], program)
    program.chmod(0o755)

    def prepare():
        os.umask(mask)
        if user == "stranger":
            become_stranger()

    folder = place.tmp / "work"
    folder.mkdir()
    folder.chmod(0o777)
    results = place.tmp / "results"
    results.mkdir()
    results.chmod(0o777)
    out = results / "out.json"
    process = subprocess.Popen(
        [
            program,
            # So many that they take far longer than looking does.
            f"--benchmark_repetitions={50 if scope == 'file' else 10}",
            f"--scope={scope}",
            "--file-bytes=10m",
            "--strategy=pwrite",
        ]
        + ["--window=1m", f"--dir={folder}", f"--benchmark_out={out}"],
        preexec_fn=prepare,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    seen, expected = set(), {oct(stat.S_IFREG | 0o600)}
    expected |= {oct(stat.S_IFDIR | 0o700)} if scope == "file" else set()
    while process.poll() is None:
        with contextlib.suppress(PermissionError, FileNotFoundError):
            seen |= open_files(process, folder)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0, said
    assert seen == expected
    assert stat.S_IMODE(out.stat().st_mode) == 0o644 & ~mask
    assert not [*folder.iterdir()]
    assert [path.name for path in results.iterdir()] == ["out.json"]
