"""A folder of its own for each test program, which goes with it; and what a killed one left goes with the next.

    python3 scratch.py COMMAND...     runs a command with such a folder as its TMPDIR

The folder's lock ends with the process that made it: a folder without one has been left.
"""

import atexit
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "gatherbench-test-"  # csrc/test/support/test.c names its folders so too


def lock(path, flags):
    """A descriptor that holds the lock of a folder which is still there, or None."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, flags)
        if os.path.samestat(os.fstat(fd), os.lstat(path)):
            return fd
    except OSError:
        pass
    os.close(fd)
    return None


def make(parent=None):
    """A new folder, and the descriptor that keeps it from being taken for a leftover."""
    while True:
        path = tempfile.mkdtemp(prefix=PREFIX, dir=parent)
        # Another test may sweep it away before it is locked.
        fd = lock(path, fcntl.LOCK_EX)
        if fd is not None:
            return Path(path), fd


@contextmanager
def folder(parent):
    """One for the block, in a place that others can reach too."""
    path, fd = make(parent)
    try:
        yield path
    finally:
        remove(path)
        os.close(fd)


def enter():
    """One for the whole process and those that it starts, as their TMPDIR."""
    sweep()
    path, fd = make()
    os.environ["TMPDIR"] = str(path)
    tempfile.tempdir = None
    owner = os.getpid()

    def leave():
        if os.getpid() == owner:  # and not a fork of it
            remove(path)
            os.close(fd)

    atexit.register(leave)
    return path


def mounts_below(path):
    """Mount points below a folder, the innermost first."""
    points = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = re.sub(r"\\(\d{3})", lambda m: chr(int(m[1], 8)), line.split()[4])
        if Path(path) in [Path(point), *Path(point).parents]:
            points.append(point)
    return points[::-1]


def loops_below(path):
    """Loop devices on files below a folder."""
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        with suppress(OSError):
            file = backing.read_text().strip().removesuffix(" (deleted)")
            if Path(path) in Path(file).parents:
                yield f"/dev/{backing.parts[3]}"


def remove(path):
    """Removes a folder with all that is in it, mounted on it and attached to it."""
    for point in mounts_below(path):
        subprocess.run(["umount", "--lazy", point], capture_output=True)
    for device in loops_below(path):
        subprocess.run(["losetup", "--detach", device], capture_output=True)

    def insist(function, name, _):
        with suppress(OSError):
            os.chmod(os.path.dirname(name), 0o700)
            function(name)

    shutil.rmtree(path, onerror=insist)


def sweep():
    """Removes what tests left that were killed or met their limit of time."""
    for parent in {tempfile.gettempdir(), "/tmp"}:
        for path in Path(parent).glob(f"{PREFIX}*"):
            with suppress(OSError):
                if path.lstat().st_uid != os.geteuid():
                    continue
                fd = lock(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if fd is not None:
                    remove(path)
                    os.close(fd)
    # A control group can be removed when it has no process.
    for pattern in (f"{PREFIX}*", f"*/{PREFIX}*"):
        for group in Path("/sys/fs/cgroup").glob(pattern):
            with suppress(OSError):
                group.rmdir()


def main(command):
    enter()
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
