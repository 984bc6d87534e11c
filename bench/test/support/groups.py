"""Control groups for the tests, of either version, removed when their processes have ended."""

import os
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path("/sys/fs/cgroup")


@contextmanager
def control_group(controller, v1, v2):
    """A function that moves the calling process into a group with limits, given as a value by file for each version."""
    is_v1 = (ROOT / controller).is_dir()
    parent = ROOT / controller if is_v1 else ROOT
    group = parent / f"gatherbench-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error.strerror}")
    try:
        for name, value in (v1 if is_v1 else v2).items():
            try:
                (group / name).write_text(value)
            except OSError as error:
                pytest.skip(f"{name} cannot be set here: {error.strerror}")
        yield lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
    finally:
        deadline = time.monotonic() + 10
        while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.01)
        group.rmdir()
