"""Writes a file so that nobody ever sees half of it: under a temporary name, renamed when complete."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from pathlib import Path


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write `data` to `path`, or leave what was there. Raises OSError when it cannot be written.

    What is no regular file, such as /dev/stdout, is written to as it is: it cannot be replaced.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as out:
            out.write(data)
        return
    target = Path(os.path.realpath(path))
    handle, temporary = tempfile.mkstemp(
        prefix=f".{target.name[:100]}.", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(target: Path) -> int:
    """The mode of the file that is replaced, or what a new file gets."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
