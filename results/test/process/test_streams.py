"""Broken standard streams and odd locales: the output is whole, or the status is not 0."""

import errno
import fcntl
import json
import os
import pty
import signal
import stat
import struct
import subprocess
import sys
import termios

import numpy as np
import pytest
from commands import Command
from conftest import RESULTS
from gatherstats.process.atomic_file import require_writable, write_atomically
from made_maps import COALESCE, GATHER, by_size, grid_run
from users import STRANGER, needs_stranger

SCRIPTS = sorted(
    path.stem.removesuffix("_command")
    for path in RESULTS.glob("gatherstats/*/*_command.py")
)


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("größe")  # in UTF-8, whatever the locale
    times = by_size({"16": COALESCE, "512": GATHER})
    path = folder / "grid.json"
    path.write_text(json.dumps(grid_run(times, np.random.default_rng(1))))
    return path


def through_shell(redirection, script, *options, **environment):
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LC_", "LANG", "PYTHON"))
    }
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh"]
        + [sys.executable, Command(script).script, *options],
        env=kept | environment,
        capture_output=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    "redirection, reason",
    [(">/dev/full", b"No space left on device"), (">&-", b"Bad file descriptor")],
)
def test_an_output_that_cannot_be_written_is_told(redirection, reason, grid):
    done = through_shell(redirection, "compare", grid, "--by=strategy")
    assert done.returncode == 2
    assert done.stderr == b"compare.py: cannot write the output: %s\n" % reason


@pytest.mark.parametrize("script", SCRIPTS)
def test_help_that_cannot_be_written_is_told(script):
    done = through_shell(">/dev/full", script, "--help")
    assert done.returncode == 2
    assert done.stderr.decode() == (
        f"{script}.py: cannot write the output: No space left on device\n"
    )


def test_help_for_a_reader_that_stops_early_needs_no_word():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, Command("compare").script, "--help"],
        stdout=writer,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, b"")


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "2>&- <&-"])
def test_messages_need_no_reader_and_never_get_into_the_output(redirection, grid):
    missing = grid.parent / "missing.json"
    done = through_shell(redirection, "crossover", grid, missing, "--format=json")
    assert done.returncode == 2
    assert json.loads(done.stdout)
    assert through_shell(redirection, "crossover", "--bogus").returncode == 2


def test_a_report_is_whole_without_any_stream(grid, tmp_path):
    out = tmp_path / "report.html"
    done = through_shell(">&- 2>&- <&-", "report", grid, "-o", out)
    assert done.returncode == 0
    assert out.read_text().endswith("</html>\n")


def test_no_locale_changes_the_output(grid):
    outputs = set()
    for environment in ({}, {"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LANG": "none"}):
        done = through_shell("", "crossover", grid, **environment)
        assert done.returncode == 0
        outputs.add(done.stdout.decode())
    assert len(outputs) == 1


def test_a_stream_of_ascii_gets_ascii(grid):
    done = through_shell("", "crossover", grid, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii() and done.stdout


# Links and other things under the name of an output.


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text("precious")
    return path


@pytest.mark.parametrize("name", ["out", "out.partial"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "fifo", "directory"])
def test_nothing_but_a_file_is_replaced(kind, name, tmp_path, victim):
    planted = tmp_path / name
    if kind == "fifo":
        os.mkfifo(planted)
    elif kind == "directory":
        planted.mkdir()
    else:
        planted.symlink_to(victim if kind == "link" else tmp_path / "new")
    before = sorted(tmp_path.iterdir())
    for write in (lambda path: write_atomically(path, b"x"), require_writable):
        with pytest.raises(OSError):
            write(tmp_path / "out")
    assert victim.read_text() == "precious"
    assert sorted(tmp_path.iterdir()) == before


def test_a_hard_link_is_not_written_through(tmp_path, victim):
    os.link(victim, tmp_path / "out")
    write_atomically(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_text() == "new"
    os.link(victim, tmp_path / "out.partial")
    with pytest.raises(OSError, match="not a file of ours"):
        write_atomically(tmp_path / "out", b"newer")
    assert victim.read_text() == "precious"


def test_what_a_killed_script_left_is_taken_over(tmp_path):
    (tmp_path / "out.partial").write_text("half of something that was longer")
    write_atomically(tmp_path / "out", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out").read_text() == "new"


def test_what_fails_is_removed_while_nobody_else_can_have_it(tmp_path, monkeypatch):
    """Once its lock is free, the name may be another process's."""
    remove, locked = os.unlink, []

    def fail(handle):
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def look_and_remove(path):
        with open(path) as file, pytest.raises(BlockingIOError) as refused:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        locked.append(refused.type)
        remove(path)

    monkeypatch.setattr(os, "fsync", fail)
    monkeypatch.setattr(os, "unlink", look_and_remove)
    with pytest.raises(OSError, match="Input/output error"):
        write_atomically(tmp_path / "out", b"new")
    assert locked and [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("number", [errno.EINVAL, errno.EBADF, errno.ENOSYS])
def test_a_courtesy_that_is_refused_is_no_error(number, tmp_path, monkeypatch):
    """Mode and syncing are refused by mounts on which all the rest works."""

    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fchmod", refuse)
    monkeypatch.setattr(os, "fsync", refuse)
    write_atomically(tmp_path / "out", b"new")
    assert (tmp_path / "out").read_text() == "new"


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EDQUOT])
def test_data_that_may_be_lost_are_an_error(number, tmp_path, monkeypatch):
    def fail(handle):
        raise OSError(number, os.strerror(number))

    (tmp_path / "out").write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError) as raised:
        write_atomically(tmp_path / "out", b"new")
    assert raised.value.errno == number
    assert (tmp_path / "out").read_text() == "old"


@pytest.mark.parametrize("name", ["x" * 245, "x" * 255, "\u00e9" * 124 + "y"])
def test_a_name_may_be_as_long_as_the_system_allows(name, tmp_path):
    others = name[:-1] + "z"
    for file in (name, others):
        require_writable(tmp_path / file)
        write_atomically(tmp_path / file, file.encode())
    assert sorted(path.name for path in tmp_path.iterdir()) == [name, others]
    assert (tmp_path / name).read_bytes() == name.encode()


@needs_stranger
def test_what_a_stranger_left_is_not(tmp_path):
    (tmp_path / "out.partial").write_text("mine")
    os.chown(tmp_path / "out.partial", STRANGER, STRANGER)
    with pytest.raises(OSError, match="not a file of ours"):
        write_atomically(tmp_path / "out", b"new")
    assert (tmp_path / "out.partial").read_text() == "mine"


def test_anothers_file_is_refused_before_there_is_anything_to_write(
    tmp_path, victim, monkeypatch
):
    """In a directory like /tmp it could not be replaced."""
    monkeypatch.setattr(os, "geteuid", lambda: victim.stat().st_uid + 1)
    with pytest.raises(OSError, match="another user's file"):
        require_writable(victim)
    assert [*tmp_path.iterdir()] == [victim]


@pytest.mark.parametrize("mask", [0, 0o22, 0o77, 0o777], ids=oct)
def test_the_mode_is_the_old_files_or_the_users(mask, tmp_path):
    out = tmp_path / "out"
    before = os.umask(mask)
    try:
        write_atomically(out, b"1")
        assert stat.S_IMODE(out.stat().st_mode) == 0o666 & ~mask
        out.chmod(0o640)
        write_atomically(out, b"2")
        assert stat.S_IMODE(out.stat().st_mode) == 0o640
    finally:
        os.umask(before)


@pytest.mark.parametrize("columns, used", [(60, 80), (96, 96), (300, 120)])
def test_the_width_is_the_terminals_within_limits(columns, used):
    code = "from gatherstats.process.output import screen_width as w; print(w())"
    main, other = pty.openpty()
    size = struct.pack("HHHH", 24, columns, 0, 0)
    fcntl.ioctl(other, termios.TIOCSWINSZ, size)
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    subprocess.run(
        [sys.executable, "-c", code],
        cwd=RESULTS,
        env=environment,
        stdin=other,
        stdout=other,
        stderr=other,
        check=True,
    )
    os.close(other)
    assert os.read(main, 100).split() == [str(used).encode()]
    os.close(main)
