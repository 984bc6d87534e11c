"""Writes a file atomically: under another name, renamed when complete.

As the suite does: FILE.partial beside it (or a shorter name, if that would be too long) belongs to
the process that locks it. The next write takes over the file of a process that was killed. Links
are not followed, and only regular files are replaced: in a directory like /tmp others can put
anything under a name.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import stat
from pathlib import Path

from gatherstats.process.interruption import signals_wait

_STREAMS = ("/dev", "/dev/fd", "/proc/self/fd")
"""Folders of /dev/stdout and the like; everybody who may write to them is trusted."""


_PARTIAL = ".partial"

_LONGEST_NAME = 255
"""Longest name of a file, in bytes (NAME_MAX)."""

_LOST = (errno.EIO, errno.ENOSPC, errno.EDQUOT)
"""Errors of fsync that mean lost data."""


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write `data` to `path`, or leave the file as it was. Raises OSError when it cannot be
    written.

    Files in _STREAMS, such as /dev/stdout, are written in place: they cannot be replaced.
    """
    if os.path.dirname(path) in _STREAMS:
        _write_stream(path, data)
        return
    with signals_wait():
        handle, partial = _open_partial(path)
        with os.fdopen(handle, "wb") as out:
            try:
                out.write(data)
                out.flush()
                with contextlib.suppress(OSError):
                    os.fchmod(handle, _mode(path))  # a courtesy; some mounts refuse it
                _sync(handle)
                os.replace(partial, path)
            except BaseException:
                # Still locked: without the lock it may be another process's.
                with contextlib.suppress(OSError):
                    os.unlink(partial)
                raise


def _sync(handle: int) -> None:
    """Sync; raise OSError only if data may be lost, for some file systems cannot sync at all."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno in _LOST:
            raise


def _partial_name(path: str | Path) -> str:
    """Return the name of the file beside `path`; it is never too long if `path` is not."""
    folder, name = os.path.split(os.fspath(path))
    encoded = os.fsencode(name)
    if len(encoded) + len(_PARTIAL) > _LONGEST_NAME:
        mark = hashlib.sha256(encoded).hexdigest()[:16]
        room = _LONGEST_NAME - len(_PARTIAL) - len(mark) - 1
        name = f"{os.fsdecode(encoded[:room])}-{mark}"
    return os.path.join(folder, name + _PARTIAL)


def require_writable(path: str | Path) -> None:
    """Raise the OSError that write_atomically would, before there is anything to write."""
    if os.path.dirname(path) not in _STREAMS:
        with signals_wait():
            handle, partial = _open_partial(path)
            os.unlink(partial)
            os.close(handle)


def _open_partial(path: str | Path) -> tuple[int, str]:
    """Open the file beside `path`, empty and locked; returns its descriptor and its name."""
    if os.path.lexists(path):
        _require(_is_regular(path), "not a regular file")
        # Another user's file in a directory like /tmp cannot be replaced; fail now, not at the end.
        may = os.geteuid() in (0, os.lstat(path).st_uid)
        _require(may, "it is another user's file")
    partial = _partial_name(path)
    # O_NONBLOCK: opening a FIFO would wait for its reader.
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(partial, flags, 0o600)
    try:
        status = os.fstat(handle)
        ours = status.st_uid == os.geteuid() and status.st_nlink == 1
        _require(_is_regular(handle) and ours, f"{partial} is not a file of ours")
        _lock(handle, partial)
        os.ftruncate(handle, 0)
    except BaseException:
        os.close(handle)
        raise
    return handle, partial


def _lock(handle: int, partial: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _require(False, f"another process is writing {partial}")
    except OSError:
        pass  # A file system without locks: concurrent writers go unnoticed.
    # Between open and lock another process may have renamed it to the file itself.
    there = os.path.lexists(partial) and os.path.samestat(
        os.fstat(handle), os.lstat(partial)
    )
    _require(there, f"another process has written {partial}")


def _write_stream(path: str | Path, data: bytes) -> None:
    _require(not stat.S_ISBLK(os.stat(path).st_mode), "a block device")
    with open(os.open(path, os.O_WRONLY | os.O_APPEND), "wb") as out:
        out.write(data)


def _is_regular(file: str | Path | int) -> bool:
    status = os.fstat(file) if isinstance(file, int) else os.lstat(file)
    return stat.S_ISREG(status.st_mode)


def _require(condition: bool, reason: str) -> None:
    if not condition:
        raise OSError(errno.EEXIST, reason)


def _mode(path: str | Path) -> int:
    """Return the mode of the replaced file, or the mode of a new file."""
    if os.path.lexists(path):
        return stat.S_IMODE(os.lstat(path).st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
