"""Real file systems for the tests, small ones, mounted where nobody else sees them.

They are mounted in a mount namespace of the process that runs the tests, so that none outlives it, however it ends;
a loop device goes away with its mount.
"""

import ctypes
import errno
import functools
import os
import subprocess
import time
from contextlib import contextmanager

import machine
import pytest

CLONE_NEWNS = 0x00020000  # linux/sched.h

# Megabytes of an image: the least that mkfs takes, and room for a few files.
IMAGES = {"ext4": 32, "ext3": 32, "xfs": 300, "btrfs": 128}
MAKE = {
    "ext4": ["mkfs.ext4", "-q"],
    "ext3": ["mkfs.ext3", "-q"],
    "xfs": ["mkfs.xfs", "-q"],
    "btrfs": ["mkfs.btrfs", "-q"],
}


@functools.cache
def enter_namespace():
    """What is mounted from here on is seen by this process alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def need_mounts():
    machine.need(machine.mounts)
    enter_namespace()


def need_memory(megabytes):
    machine.need(machine.memory, megabytes)


def run_or_skip(*command):
    """Runs what only some machines allow; returns the completed process."""
    try:
        return subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=60
        )
    except FileNotFoundError:
        pytest.skip(f"{command[0]} is missing")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"{' '.join(map(str, command))}: {error.stderr.strip()}")


def unmount(folder):
    subprocess.run(["umount", "--lazy", folder], check=True)


@contextmanager
def mounted(folder, *arguments):
    """What mount(8) mounts with these arguments on a folder, which is made if need be."""
    need_mounts()
    folder.mkdir(exist_ok=True)
    run_or_skip("mount", *map(str, arguments), str(folder))
    try:
        yield folder
    finally:
        unmount(folder)


def tmpfs(folder, options="size=1m"):
    return mounted(folder, "-t", "tmpfs", "-o", options, "gatherbench-test")


def make_image(path, kind):
    """An empty file system in a sparse file."""
    need_mounts()
    with open(path, "wb") as file:
        file.truncate(IMAGES[kind] << 20)
    run_or_skip(*MAKE[kind], path)
    return path


def image(folder, path, options="rw"):
    machine.need(machine.loop_devices)
    return mounted(folder, "-o", f"loop,{options}", path)


@contextmanager
def disk(kind, tmp_path):
    """A small file system of a kind: a tmpfs, or an image on a loop device."""
    folder = tmp_path / "disk"
    if kind == "tmpfs":
        with tmpfs(folder, "size=16m"):
            yield folder
        return
    with image(folder, make_image(tmp_path / "image", kind)):
        yield folder


def device_statistics(folder):
    """What the kernel counted for the disk under a folder; of several, for the one that its mount names."""
    source = run_or_skip("findmnt", "-no", "SOURCE", "--target", folder).stdout.strip()
    try:
        with open(f"/sys/class/block/{os.path.basename(source)}/stat") as file:
            fields = list(map(int, file.read().split()))
    except FileNotFoundError:
        pytest.skip(f"/sys tells nothing of {source}")
    if len(fields) < 17:
        pytest.skip("this kernel does not count flushes")
    return {"bytes": 512 * fields[6], "flushes": fields[15]}


@contextmanager
def thin_disk(kind, tmp_path):
    """An image that has less room than its file system was told: what is not in it yet, cannot be written back."""
    need_memory(1024)  # for the tmpfs becomes full
    with tmpfs(tmp_path / "below", "size=400m") as below:
        path = make_image(below / "image", kind)
        with image(tmp_path / "disk", path) as folder:
            fill(below)
            yield folder


@contextmanager
def faulty_fs(tmp_path, *options):
    """The FUSE file system of faulty_fs.c, with its options, over a folder that is empty at first. What faults it gave
    stands in the file `faults` beside it."""
    program = os.environ.get("FAULTY_FS")
    if not program:
        pytest.skip("libfuse3 is missing")
    machine.need(machine.fuse)
    enter_namespace()
    backing, folder = tmp_path / "backing", tmp_path / "fuse"
    backing.mkdir(exist_ok=True)
    folder.mkdir(exist_ok=True)
    with open(tmp_path / "faults", "wb") as faults:
        process = subprocess.Popen(
            [program, f"--backing={backing}", *options, folder],
            stdout=faults,
            stderr=subprocess.PIPE,
            text=True,
        )
    try:
        deadline = time.monotonic() + 20
        while not os.path.ismount(folder):
            if process.poll() is not None:
                pytest.skip(process.stderr.read().strip())
            assert time.monotonic() < deadline, "faulty_fs mounts nothing"
            time.sleep(0.01)
        yield folder
    finally:
        if os.path.ismount(folder):
            unmount(folder)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    assert process.returncode == 0


def fill(folder):
    """Eats the room of a file system; returns the file that holds it."""
    path = folder / "somebody-elses"
    with open(path, "ab", buffering=0) as file:
        # Bounded, for somebody may give room back all the time.
        for size in (1 << 24, 1 << 20, 1 << 16, 1 << 12):
            try:
                for _ in range(1000):
                    os.posix_fallocate(file.fileno(), file.tell(), size)
                    file.seek(size, os.SEEK_CUR)
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return path
