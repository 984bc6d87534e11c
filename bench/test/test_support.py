"""The tests' own support: what a machine lacks is a reason to skip, and nothing that a killed test left stays."""

import glob
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import machine
import pytest
import scratch

SUPPORT = Path(__file__).parent / "support"

# A system call that each probe cannot do without, or one on some paths.
DENIED = {
    "user_namespaces": "unshare",
    "network_namespaces": "unshare",
    "mounts": "mount",
    "loop_devices": " ".join(["openat", *glob.glob("/dev/loop*")]),
    "fuse": "openat /dev/fuse",
    "io_uring": "io_uring_setup",
    "loopback": "connect",
    "chroots": "chroot",
}


def run_probe(*arguments, under=()):
    return subprocess.run(
        [*under, sys.executable, SUPPORT / "machine.py", *map(str, arguments)],
        capture_output=True,
        text=True,
    )


@machine.needs(machine.strace)
@pytest.mark.parametrize("probe", DENIED)
def test_what_is_denied_is_a_reason_to_skip(probe):
    call, *paths = DENIED[probe].split()
    strace = ["strace", "-f", "-qq", "-o/dev/null", "-e", f"trace={call}"]
    strace += [
        "-e",
        f"inject={call}:error=EPERM",
        *(f"--trace-path={path}" for path in paths),
    ]
    result = run_probe(probe, under=strace)
    assert result.returncode == machine.SKIPPED, result.stderr
    assert result.stdout.startswith("SKIPPED: ")
    assert len(result.stdout.splitlines()) == 1


def test_a_program_of_no_architecture_is_a_reason_to_skip(tmp_path):
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF" + bytes(60))
    program.chmod(0o755)
    result = run_probe("runs", program)
    assert result.returncode == machine.SKIPPED
    assert "cannot execute" in result.stdout
    assert run_probe("runs", "true").returncode == 0


def test_a_machine_with_one_processor_is_told():
    one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
    result = run_probe("processors", under=one)
    assert result.returncode == machine.SKIPPED
    assert "only 1 of the 2 processors" in result.stdout


def test_what_a_killed_test_left_goes_with_the_next():
    script = "import scratch, time; print(scratch.enter(), flush=True); time.sleep(60)"
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(SUPPORT)},
    ) as process:
        folder = Path(process.stdout.readline().strip())
        (folder / "sub").mkdir()
        (folder / "sub" / "file").touch()
        scratch.sweep()
        assert (folder / "sub" / "file").exists()  # for that test goes on
        process.send_signal(signal.SIGKILL)
    assert folder.exists()
    scratch.sweep()
    assert not folder.exists()


@machine.needs(machine.loop_devices)
def test_a_mount_and_a_loop_device_that_were_left_go_too(tmp_path):
    image, mounted = tmp_path / "left" / "image", tmp_path / "left" / "on"
    mounted.mkdir(parents=True)
    with open(image, "wb") as file:
        file.truncate(1 << 20)
    losetup = ["losetup", "--find", "--show", image]
    device = subprocess.run(losetup, check=True, capture_output=True, text=True)
    mount = ["mount", "-t", "tmpfs", "gatherbench-test", mounted]
    if machine.tried(*mount) is None:
        assert scratch.mounts_below(image.parent) == [str(mounted)]
    assert [*scratch.loops_below(image.parent)] == [device.stdout.strip()]
    scratch.remove(image.parent)
    assert not image.parent.exists()
    end = time.monotonic() + 10  # a loop device goes when its last user does
    while [*scratch.loops_below(image.parent)] and time.monotonic() < end:
        time.sleep(0.01)
    assert not [*scratch.loops_below(image.parent)]
