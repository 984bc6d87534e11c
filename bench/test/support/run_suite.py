"""Runs the benchmark for the tests and reads what it leaves."""

import json
import os
import resource
import shlex
import subprocess

import machine
import pytest

# In a cross build whose programs cannot run here, there is nothing to test: Meson's code for a skipped test.
if os.environ.get("GATHERBENCH_CANNOT_RUN"):
    print("SKIPPED: the programs cannot run on this machine")
    pytest.exit("the programs cannot run on this machine", returncode=77)

# In a cross build Meson names the emulator that the programs need.
WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
SUITE = [*WRAPPER, os.environ["GATHERBENCH"]]
FAULTY = [*WRAPPER, os.environ["GATHERBENCH_FAULTY"]]

# A small file of the blog's shape: 16 buffers of 16,000 bytes, so that a run takes no time.
SMALL = ["--scope=file", "--file-bytes=256000", "--count=4", "--size=16000"]

# Of the context: a run that is over within a clock's tick has none of them, and one on a busy machine all.
LOAD_KEYS = {
    f"gatherbench.{key}"
    for key in ("others_cpu", "stolen_cpu", "under_load", "spoiled")
}


def run(*options, program=SUITE, env=None, timeout=60, preexec_fn=None):
    """Runs the benchmark with options; returns the completed process with its texts."""
    # Google Benchmark's variables in the caller's environment would change what is run.
    clean = {k: v for k, v in os.environ.items() if not k.startswith("BENCHMARK_")}
    return subprocess.run(
        [*program, *map(str, options)],
        env=clean | (env or {}),
        capture_output=True,
        text=True,
        timeout=timeout,
        preexec_fn=preexec_fn,
    )


def has_sanitizer():
    """Whether the build has one: it needs terabytes of addresses, so memory cannot be limited."""

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    return run("--version", preexec_fn=limit).returncode != 0


def strace_works():
    """Whether strace is there and may trace here."""
    return machine.strace() is None


def read(path):
    """The results file, which must be valid JSON."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table_of(screen):
    """The table on the screen: its head and its rows, without what stands above it."""
    return screen.split("\n\n", 1)[1].splitlines()


def repetitions(results, strategy=None):
    """The single repetitions in a results file, of one strategy if given."""
    return [
        row
        for row in results["benchmarks"]
        if row["run_type"] == "iteration"
        and (strategy is None or f"strategy:{strategy}/" in row["name"])
    ]
