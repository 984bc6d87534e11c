"""What decides a run's figures is in its results and, where it spoils them, above the table: held against what else
tells it, and against environments made for the purpose."""

import ctypes
import glob
import os
import platform
import re
import resource
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from groups import control_group
from mounts import disk, image, make_image, need_mounts
from run_suite import SUITE, WRAPPER, has_sanitizer, read, run, strace_works
from users import become_stranger, needs_stranger

ROW = ["--target=null", "--strategy=write", "--benchmark_repetitions=2"]
SHORT = [*ROW, "--benchmark_min_time=0.001"]
ON_FILE = ["--strategy=pwrite", "--count=2", "--size=4k", "--window=64k"]

# Under a tracer a leak check fails.
NO_LEAK_CHECK = {"ASAN_OPTIONS": "detect_leaks=0"}

needs_native = pytest.mark.skipif(bool(WRAPPER), reason="the programs are emulated")


def measure(tmp_path, *options, **arguments):
    """The heading's lines, and the context without its prefix."""
    out = tmp_path / "out.json"
    result = run(*options, f"--benchmark_out={out}", **arguments)
    assert result.returncode == 0, result.stderr
    context = read(out)["context"]
    prefix = "gatherbench."
    facts = {k[len(prefix) :]: v for k, v in context.items() if k.startswith(prefix)}
    heading = result.stdout.split("\n\n")[0].splitlines()
    for sentence in facts.get("spoiled", "").splitlines():
        assert sentence in heading
    return heading, facts


def in_namespace(setup, *command):
    """A command in a mount namespace of its own, in which `setup` was run."""
    need_mounts()
    return ["unshare", "--mount", "sh", "-ec", setup + '; exec "$@"', "sh", *command]


# Emulation


@needs_native
def test_a_native_program_with_an_emulators_name_is_native(tmp_path):
    program = shutil.copy(SUITE[0], tmp_path / "qemu-bench")
    heading, facts = measure(tmp_path, *SHORT, program=[program])
    assert facts["emulated"] == "no"
    assert ", not emulated;" in heading[0]


def test_an_emulator_is_told_whatever_its_name(tmp_path):
    """On this very machine, too, where the machines' names do not differ."""
    emulator = (
        WRAPPER[0] if WRAPPER else shutil.which(f"qemu-{platform.machine()}-static")
    )
    if not emulator or has_sanitizer():
        pytest.skip("no emulator that could run this program")
    hidden = shutil.copy(emulator, tmp_path / ".buildkit_emulator")
    heading, facts = measure(tmp_path, *SHORT, program=[hidden, *SUITE[-1:]])
    assert facts["emulated"] == "yes, by .buildkit_emulator"
    assert "emulated by .buildkit_emulator;" in heading[0]


@needs_native
def test_a_program_that_its_loader_was_asked_to_run_is_native(tmp_path):
    loaders = glob.glob(f"/lib*/ld-linux-{platform.machine().replace('_', '-')}.so.*")
    if not loaders or has_sanitizer():
        pytest.skip("no loader that could run this program")
    _, facts = measure(tmp_path, *SHORT, program=[loaders[0], *SUITE])
    assert facts["emulated"] == "no"


def test_without_proc_nothing_is_claimed(tmp_path):
    if has_sanitizer():
        pytest.skip("a sanitizer needs /proc")
    program = in_namespace("mount -t tmpfs none /proc", *SUITE)
    heading, facts = measure(tmp_path, *SHORT, program=program)
    assert facts["emulated"] == "not known"
    assert "emulated or not: not known;" in heading[0]
    untold = "host_machine others_cpu stolen_cpu throttled under_load traced seccomp"
    assert not facts.keys() & {*untold.split(), "virtualization", "cpu_affinity"}


# Facts, against what else tells them


def first_line(path):
    try:
        return Path(path).read_text().splitlines()[0]
    except OSError:
        return None


def chosen(line):
    return line and re.sub(r".*\[(.*)\].*", r"\1", line)


def test_facts_are_those_of_the_system(tmp_path):
    _, facts = measure(tmp_path, *SHORT, f"--dir={tmp_path}")
    number = os.stat(tmp_path).st_dev
    device = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    queue = (
        device / ".." / "queue" if (device / "partition").exists() else device / "queue"
    )
    expected = {
        "processors": str(os.sysconf("SC_NPROCESSORS_ONLN")),
        "memory_bytes": str(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")),
        "transparent_hugepages": chosen(
            first_line("/sys/kernel/mm/transparent_hugepage/enabled")
        ),
    }
    if queue.exists():
        expected |= {
            "device_scheduler": chosen(first_line(queue / "scheduler")),
            "device_write_cache": first_line(queue / "write_cache"),
            "device_rotational": {"0": "no", "1": "yes"}[
                first_line(queue / "rotational")
            ],
        }
    if not WRAPPER:
        expected["page_bytes"] = str(os.sysconf("SC_PAGE_SIZE"))
        expected["libc"] = os.confstr("CS_GNU_LIBC_VERSION")
        expected["preload"] = os.environ.get("LD_PRELOAD", "no")
    for key, value in expected.items():
        assert facts.get(key) == value, key
    assert facts["compiler"].split()[0] in ("gcc", "clang")
    assert re.search("-O[0-3gs]", facts["compiler_flags"])


def test_the_mitigations_are_the_kernels(tmp_path):
    folder = Path("/sys/devices/system/cpu/vulnerabilities")
    if not folder.is_dir():
        pytest.skip("the kernel does not tell")
    heading, facts = measure(tmp_path, *SHORT)
    at_work = {
        path.name
        for path in folder.iterdir()
        if path.read_text().startswith("Mitigation: ")
    }
    named = re.findall(r"(?:^|; )(\w+): ", facts["mitigations"])
    assert set(named) == at_work
    assert "Not affected" not in facts["mitigations"]
    isolated = first_line(folder / "meltdown") == "Mitigation: PTI"
    assert ("page-table isolation" in heading[1]) == isolated


def test_a_memory_limit_is_told(tmp_path):
    limit = 512 << 20
    with control_group(
        "memory", {"memory.limit_in_bytes": str(limit)}, {"memory.max": str(limit)}
    ) as enter:
        heading, facts = measure(tmp_path, *SHORT, preexec_fn=enter)
    assert facts["memory_limit_bytes"] == str(limit)
    assert "memory limit 0.54 GB" in heading[1]


# What holds a run back or disturbs it


def test_a_processor_quota_is_told(tmp_path):
    quota = {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": "20000"}
    with control_group("cpu", quota, {"cpu.max": "20000 100000"}) as enter:
        heading, facts = measure(
            tmp_path, *ROW, "--benchmark_min_time=0.1", preexec_fn=enter
        )
    assert float(facts["throttled"]) > 0.3
    assert "throttled: a processor quota stopped the run" in facts["spoiled"]
    _, facts = measure(tmp_path, *SHORT)
    assert "throttled" not in facts.get("spoiled", "")


@needs_native
def test_stolen_time_is_told(tmp_path):
    """By a /proc/stat in which a hypervisor takes a third of the time while the run is under way."""
    stat, out = tmp_path / "stat", tmp_path / "out.json"
    stat.write_text("cpu  1000 0 1000 9000 0 0 0 0 0 0\n")
    program = in_namespace(f"mount --bind {stat} /proc/stat", *SUITE)
    options = [*ROW, "--benchmark_min_time=0.4", f"--benchmark_out={out}"]
    running = subprocess.Popen(
        [*program, *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    time.sleep(0.5)
    with open(stat, "r+") as file:  # the file that is mounted, not a new one
        file.write("cpu  1200 0 1000 9200 0 0 0 200 0 0\n")
    heading = running.communicate(timeout=60)[0].decode()
    context = read(out)["context"]
    assert float(context["gatherbench.stolen_cpu"]) == pytest.approx(1 / 3, abs=0.01)
    assert "the hypervisor took 33 % of the processors' time" in heading


def test_another_writer_on_the_disk_is_told(tmp_path):
    options = [*ON_FILE, "--sync=fdatasync", *ROW[2:], "--benchmark_min_time=0.1"]
    with disk("ext4", tmp_path) as folder:
        _, facts = measure(tmp_path, *options, f"--dir={folder}")
        # The loop device counts: its own bytes, and what the journal adds.
        alone = int(facts["others_device_bytes"])
        assert "others wrote" not in facts.get("spoiled", "")
        with open(folder / "noise", "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 8 << 20)
        noise = subprocess.Popen(
            [
                "sh",
                "-c",
                f"while :; do dd if=/dev/zero of={folder}/noise bs=256k count=32 oflag=direct conv=notrunc; done",
            ],
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _, facts = measure(tmp_path, *options, f"--dir={folder}")
        finally:
            os.killpg(noise.pid, 9)
            noise.wait()
    assert int(facts["others_device_bytes"]) > alone + (8 << 20)
    assert re.search(r"others wrote \d+ MB to the device", facts["spoiled"])


@needs_native
def test_a_tracer_is_told(tmp_path):
    if not strace_works():
        pytest.skip("strace is missing, or may not trace here")
    program = ["strace", "-f", "-qq", "-o", "/dev/null", *SUITE]
    _, facts = measure(tmp_path, *SHORT, program=program, env=NO_LEAK_CHECK)
    assert facts["traced"] == "strace"
    assert "traced by strace" in facts["spoiled"]
    _, facts = measure(tmp_path, *SHORT)
    assert facts["traced"] == "no"


def allow_everything_by_a_filter():
    """A seccomp filter of one instruction, BPF_RET | BPF_K with SECCOMP_RET_ALLOW."""
    libc = ctypes.CDLL(None, use_errno=True)
    instruction = ctypes.create_string_buffer(
        struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
    )
    program = struct.pack("HP", 1, ctypes.addressof(instruction))
    PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


def test_a_seccomp_filter_is_told(tmp_path):
    if "Seccomp:\t0" not in Path("/proc/self/status").read_text():
        pytest.skip("there is a filter already")
    try:
        _, facts = measure(tmp_path, *SHORT, preexec_fn=allow_everything_by_a_filter)
    except subprocess.SubprocessError:
        pytest.skip("no seccomp here")
    assert facts["seccomp"] == "filter"
    assert "seccomp filter: each system call is checked" in facts["spoiled"]


@needs_native
def test_a_preloaded_library_is_told(tmp_path):
    if has_sanitizer():
        pytest.skip("a sanitizer's library comes first")
    _, facts = measure(tmp_path, *SHORT, env={"LD_PRELOAD": "libm.so.6"})
    assert facts["preload"] == "libm.so.6"
    assert "preloaded: libm.so.6" in facts["spoiled"]


# Where each write waits, or no sync does


def test_a_synchronous_directory_is_told(tmp_path):
    with disk("ext4", tmp_path) as folder:
        inside = folder / "inside"
        inside.mkdir()
        options = [*ON_FILE, *SHORT[2:], "--sync=none", f"--dir={inside}"]
        heading, facts = measure(tmp_path, *options)
        assert facts["directory_flags"] == "none"
        assert "each write waits" not in facts.get("spoiled", "")
        subprocess.run(["chattr", "+S", inside], check=True)
        heading, facts = measure(tmp_path, *options)
    assert facts["directory_flags"] == "sync"
    assert "(chattr sync)" in heading[0]
    assert "has the attribute sync: each write waits for the device" in facts["spoiled"]


@pytest.mark.parametrize(
    "options, named, says",
    [
        ("sync", "(sync)", "is mounted with sync: each write waits for the device"),
        ("barrier=0", "(nobarrier)", "no sync empties the device's cache"),
        ("dirsync", "(dirsync)", None),
    ],
)
def test_mount_options_that_decide_are_named(options, named, says, tmp_path):
    with image(
        tmp_path / "disk", make_image(tmp_path / "image", "ext4"), options
    ) as folder:
        heading, facts = measure(
            tmp_path, *ON_FILE, *SHORT[2:], "--sync=none", f"--dir={folder}"
        )
    assert named in heading[0]
    assert (says in facts["spoiled"]) if says else ("mounted" not in str(facts))


# Streams

MANY_PIPES = """
import os, subprocess, sys
held = [os.pipe() for _ in range(1100)]
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


@needs_stranger
@needs_native
def test_small_pipes_are_told(tmp_path):
    """A user with more than 1,024 pipes gets small ones (pipe(7))."""

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
        become_stranger()

    options = ["--target=pipe", *SHORT[1:], "--benchmark_format=json"]
    program = [sys.executable, "-c", MANY_PIPES, *SUITE]
    result = run(*options, program=program, preexec_fn=limit)
    if "Permission denied" in result.stderr:
        pytest.skip("another user may not run the program")
    assert result.returncode == 0
    assert re.search(r"a pipe holds \d+ bytes here, usually 65536", result.stderr)
    _, facts = measure(tmp_path, "--target=pipe", *SHORT[1:])
    assert facts["pipe_capacity_bytes"] == "65536"
    assert "a pipe holds" not in facts.get("spoiled", "")
