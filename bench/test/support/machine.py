"""What this machine lets a test do. Each probe tries it, and returns None or the reason why it cannot be done.

    @machine.needs(machine.loop_devices)          a test, or with pytestmark a module
    machine.need(machine.processors, 2)           within a test
    python3 machine.py runs PROGRAM [ARGUMENT]    for shell scripts: prints the reason and exits with 77
"""

import ctypes
import functools
import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77  # as for Automake and Meson
IO_URING_SETUP = 425  # the same on every architecture
STRANGER = 65534


def tried(*command):
    """None if a command succeeds; else what it said, or what prevented it."""
    try:
        result = subprocess.run(
            [*map(str, command)], capture_output=True, text=True, timeout=60
        )
    except OSError as error:
        return f"{command[0]}: {error.strerror}"
    except subprocess.TimeoutExpired:
        return f"{command[0]} does not end"
    if result.returncode == 0:
        return None
    said = (result.stderr.strip() or result.stdout.strip()).splitlines()
    return said[-1] if said else f"{command[0]}: status {result.returncode}"


def because(what, reason):
    """A reason with the thing that it is the reason for."""
    return reason and f"{what}: {reason}"


# --- The probes. ---


def runs(*command):
    """A program may be of an architecture that neither the kernel nor an emulator knows."""
    return because("this machine cannot execute it", tried(*command))


@functools.cache
def root():
    return None if os.geteuid() == 0 else "this takes root"


@functools.cache
def second_user():
    """Becoming a user who owns nothing; in a user namespace there may be only one."""
    if root():
        return "a second user takes root"
    return because("no second user", tried("setpriv", f"--reuid={STRANGER}", "true"))


@functools.cache
def user_namespaces():
    return because("no user namespaces", tried("unshare", "--user", "true"))


@functools.cache
def network_namespaces():
    return because("no network namespaces", tried("unshare", "--net", "true"))


@functools.cache
def mounts():
    """Mounting in a mount namespace, where nobody else sees it."""
    if root():
        return "mounting takes root"
    mount = ["mount", "-t", "tmpfs", "gatherbench-test", "/tmp"]
    return because("nothing can be mounted", tried("unshare", "--mount", *mount))


@functools.cache
def loop_devices():
    if root():
        return "a loop device takes root"
    with tempfile.NamedTemporaryFile(prefix="gatherbench-loop-") as image:
        image.truncate(1 << 20)
        device = ["losetup", "--find", "--show", image.name]
        reason = tried(
            "sh", "-c", 'device=$("$@") && losetup --detach "$device"', "sh", *device
        )
    return because("no loop devices", reason)


@functools.cache
def fuse():
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return f"no FUSE: /dev/fuse: {error.strerror}"
    return mounts()


def cpu_cgroup():
    """The folder in which a control group with a quota of processor time can be made, or None."""
    # The second one is version 1's.
    for top, controller in (("", "cgroup.controllers"), ("cpu", "cpu.cfs_quota_us")):
        folder = Path("/sys/fs/cgroup") / top
        if (folder / controller).exists():
            if top or "cpu" in (folder / "cgroup.subtree_control").read_text().split():
                return folder
    return None


@functools.cache
def cgroups():
    folder = cpu_cgroup()
    if folder is None:
        return "no control groups for processor time"
    probe = folder / f"gatherbench-test-{os.getpid()}"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        return f"no control groups: {error.strerror}"
    return None


@functools.cache
def perf():
    return because("no perf", tried("perf", "stat", "-e", "task-clock", "true"))


def processors(count=2):
    allowed = len(os.sched_getaffinity(0))
    if allowed >= count:
        return None
    return f"only {allowed} of the {count} processors that this needs"


@functools.cache
def io_uring():
    libc = ctypes.CDLL(None, use_errno=True)
    parameters = ctypes.create_string_buffer(120)  # struct io_uring_params
    fd = libc.syscall(IO_URING_SETUP, 1, parameters)
    if fd < 0:
        return f"no io_uring: {os.strerror(ctypes.get_errno())}"
    os.close(fd)
    return None


@functools.cache
def loopback():
    """TCP within the machine: the interface may be down, or there may be none."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=10).close()
    except OSError as error:
        return f"no loopback: {error.strerror or error}"
    return None


@functools.cache
def strace():
    if not shutil.which("strace"):
        return "strace is missing"
    return because("strace cannot trace here", tried("strace", "-o/dev/null", "true"))


def memory(megabytes):
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, amount = line.split()[:2]
        if name == "MemAvailable:" and int(amount) < megabytes << 10:
            return f"less than {megabytes} MB of memory are available"
    return None


@functools.cache
def chroots():
    """A Debian of its own: debootstrap, the packages that it takes, and a mount namespace for it."""
    if not shutil.which("debootstrap"):
        return "debootstrap is missing"
    if platform.freedesktop_os_release().get("ID") != "debian":
        return "not a Debian, so it is not known where to get one"
    return mounts() or because("no chroot", tried("chroot", "/", "true"))


# --- For tests. ---


def need(probe, *arguments):
    """Skips the test that runs if the probe gives a reason."""
    import pytest

    reason = probe(*arguments)
    if reason:
        pytest.skip(reason)


def needs(probe, *arguments):
    """The same as a mark."""
    import pytest

    reason = probe(*arguments)
    return pytest.mark.skipif(reason is not None, reason=reason or "")


def main(arguments):
    if not arguments or arguments[0] not in PROBES:
        print(f"usage: machine.py {'|'.join(PROBES)} [ARGUMENT ...]", file=sys.stderr)
        return 2
    reason = PROBES[arguments[0]](*arguments[1:])
    if reason is None:
        return 0
    print(f"SKIPPED: {reason}")
    return SKIPPED


PROBES = {"runs": runs}
PROBES |= {
    probe.__name__: probe
    for probe in (root, second_user, user_namespaces, network_namespaces, mounts)
    + (loop_devices, fuse, cgroups, perf, processors, io_uring, loopback, strace)
    + (chroots,)
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
