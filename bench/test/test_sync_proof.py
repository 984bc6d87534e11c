"""A durability that does not reach the device is never shown as one that does: the device's own counts tell."""

import os
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from brief import measure, measured
from mounts import disk, faulty_fs, image, make_image, mounted, tmpfs
from run_suite import WRAPPER

OPTIONS = ["--count=2", "--size=4k", "--window=1M", "--strategy=pwrite"]
OPTIONS += ["--buffers=distinct"]
FSYNC = "sync:fsync"


def spoiled(results):
    return results["context"].get("gatherbench.spoiled", "")


def proof(results):
    return results["context"].get("gatherbench.sync_proof")


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
@pytest.mark.parametrize("scope", ["op", "file"])
def test_a_sync_that_reaches_the_device_is_proved(scope, kind, tmp_path):
    options = [*OPTIONS, f"--scope={scope}", "--file-bytes=64k"]
    options += ["--sync=none,fsync,fdatasync,odsync,osync"]
    with disk(kind, tmp_path) as folder:
        result, results = measure(folder, tmp_path / "out.json", *options)
    assert result.returncode == 0 and "refused" not in result.stderr
    assert proof(results) == "reached the device"
    assert len(measured(results)) == 5
    assert "flush" not in spoiled(results)


@pytest.mark.parametrize("options", [["--target=null"], ["--sync=none"]])
def test_rows_that_sync_nothing_need_no_proof(options, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    _, results = measure(folder, tmp_path / "out.json", *OPTIONS, *options)
    assert proof(results) is None


@contextmanager
def overlay(below, tmp_path, options):
    for name in "lower", "upper", "work":
        (below / name).mkdir()
    layers = f"lowerdir={below}/lower,upperdir={below}/upper,workdir={below}/work"
    with mounted(
        tmp_path / "over", "-t", "overlay", "-o", options + layers, "ov"
    ) as folder:
        yield folder


@pytest.mark.parametrize("options", ["", "volatile,"])
def test_a_volatile_overlay_is_no_place_to_sync_in(options, tmp_path):
    """The proof looks at the device below the overlay's upper directory."""
    out = tmp_path / "out.json"
    with disk("ext4", tmp_path) as below, overlay(below, tmp_path, options) as folder:
        result, results = measure(folder, out, *OPTIONS, "--sync=none,fsync")
        assert result.returncode == 0
        if not options:
            assert proof(results) == "reached the device"
            assert len(measured(results)) == 2
            return
        assert not any(FSYNC in name for name in measured(results))
        assert proof(results).startswith("did not reach the device: fsync, of 65536")
        refused = results["context"]["gatherbench.refused"]
        assert "fsync does not reach the device" in refused and "volatile" in refused
        assert refused in result.stderr
        out.unlink()
        result, _ = measure(folder, out, *OPTIONS, "--sync=fsync")
        assert result.returncode == 3 and "every row was refused" in result.stderr


def check_swallowed(library, swallowed, tmp_path):
    """Rows of these durabilities are refused under a preloaded library, and others are not."""
    out = tmp_path / "out.json"
    options = [*OPTIONS, "--sync=none,fsync,fdatasync,odsync"]
    with disk("ext4", tmp_path) as folder:
        # A sanitizer's own library must come first.
        env = {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0"}
        result, results = measure(folder, out, *options, env=env)
    assert result.returncode == 0
    assert {name.split("sync:")[1].split("/")[0] for name in measured(results)} == (
        {"none", "fsync", "fdatasync", "odsync"} - swallowed
    )
    assert f"LD_PRELOAD is {library}" in result.stderr
    assert "LD_PRELOAD" in proof(results)


@pytest.mark.skipif(bool(WRAPPER), reason="an emulator preloads nothing")
def test_a_library_that_swallows_syncs_is_found_out(tmp_path):
    check_swallowed(os.environ["SWALLOW_SYNCS"], {"fsync", "fdatasync"}, tmp_path)


@pytest.mark.skipif(bool(WRAPPER), reason="an emulator preloads nothing")
def test_eatmydata_is_found_out(tmp_path):
    for folder in "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib":
        if os.path.exists(f"{folder}/libeatmydata.so"):
            library = f"{folder}/libeatmydata.so"
            check_swallowed(library, {"fsync", "fdatasync", "odsync"}, tmp_path)
            return
    pytest.skip("eatmydata is missing")


def test_a_sync_without_a_flush_is_said(tmp_path):
    """It is measured, for the bytes do arrive; but a power cut may take them."""
    make_image(tmp_path / "image", "ext4")
    with image(tmp_path / "disk", tmp_path / "image", "barrier=0") as folder:
        result, results = measure(
            folder, tmp_path / "out.json", *OPTIONS, "--sync=fsync,odsync"
        )
    assert len(measured(results)) == 2
    assert proof(results).startswith("did not reach the device: ")
    (line,) = [line for line in spoiled(results).splitlines() if "odsync" in line]
    assert line.startswith("fsync, odsync: no flush")
    assert line in result.stdout


def test_memory_makes_nothing_durable(tmp_path):
    with tmpfs(tmp_path / "disk", "size=16m") as folder:
        result, results = measure(
            folder, tmp_path / "out.json", *OPTIONS, "--sync=none,odsync"
        )
    assert len(measured(results)) == 2
    assert proof(results) == "did not reach the device: the directory lies in memory"
    assert "lies in memory: nothing makes a file there durable" in spoiled(results)
    assert "lies in memory" in result.stdout


def test_without_a_device_it_is_not_known(tmp_path):
    with faulty_fs(tmp_path) as folder:
        result, results = measure(
            folder, tmp_path / "out.json", *OPTIONS, "--sync=fsync"
        )
    assert result.returncode == 0
    assert proof(results) == "not known: the file system names no block device"
    assert proof(results) in result.stdout


def test_without_sysfs_it_is_not_known(tmp_path):
    with disk("ext4", tmp_path) as folder, tmpfs(Path("/sys")):
        _, results = measure(folder, tmp_path / "out.json", *OPTIONS, "--sync=fsync")
    assert proof(results) == "not known: /sys does not show the device"
    assert len(measured(results)) == 1


@pytest.mark.parametrize(
    "options, packs", [("compress-force=zstd", True), ("rw", False)]
)
@pytest.mark.parametrize("scope", ["op", "file"])
def test_bytes_that_a_file_system_packs_are_said(scope, options, packs, tmp_path):
    """Equal batches become one on a file system that compresses: the device sees fewer bytes than were written."""
    make_image(tmp_path / "image", "btrfs")
    rows = [f"--scope={scope}", "--file-bytes=1M", "--window=1M", "--count=4"]
    rows += ["--size=16000", "--strategy=pwrite", "--sync=fsync", "--buffers=one"]
    with image(tmp_path / "disk", tmp_path / "image", options) as folder:
        result, results = measure(folder, tmp_path / "out.json", *rows)
    assert ("the file system packs the bytes" in spoiled(results)) == packs
    assert ("the file system packs the bytes" in result.stdout) == packs
    assert proof(results) == "reached the device"


def test_others_who_write_do_not_hide_a_sync_that_does_nothing(tmp_path):
    """The least of some tries counts, each no longer than the sync itself."""
    out = tmp_path / "out.json"
    ended = threading.Event()

    def write():
        with open(below / "other", "wb", buffering=0) as file:
            while not ended.wait(0.002):
                file.seek(0)
                file.write(os.urandom(1 << 18))
                os.fsync(file.fileno())

    with disk("ext4", tmp_path) as below:
        with overlay(below, tmp_path, "volatile,") as folder:
            other = threading.Thread(target=write)
            other.start()
            try:
                _, results = measure(folder, out, *OPTIONS, "--sync=none,fsync")
            finally:
                ended.set()
                other.join()
    assert not any(FSYNC in name for name in measured(results))
