"""Makes system calls of the benchmark fail, by strace, and tells what has to come of it.

A fault-free run of the same plan tells which calls there are. Of a run with a fault, strace's log tells which call it
hit: the file's path, and what had been called before, decide what is right.
"""

import errno
import os
import re
import subprocess
from collections import Counter
from dataclasses import dataclass

from run_suite import SUITE, WRAPPER, read, repetitions, strace_works

ERRORS = ["EINTR", "EAGAIN", "ENOSPC", "EIO", "EDQUOT", "EROFS", "ENOMEM"]

WRITES = ["write", "pwrite64", "writev", "pwritev", "pwritev2"]
# Calls that are made to fail. Other architectures lack some: strace takes the ? for that.
CALLS = [*WRITES, "fsync", "fdatasync", "fallocate", "close", "lseek", "pread64"]
CALLS += ["flock", "openat", "mkdirat", "unlinkat", "pipe2", "?open", "?unlink"]
CALLS += ["ftruncate", "?rename", "?renameat", "?renameat2"]

# How messages name the operation of which a call is a part.
OPERATIONS = {
    "openat": "open|create",
    "mkdirat": "create directory",
    "unlinkat": "unlink|remove",
    "pwrite64": "pwrite|write the window|write the old file|prepare to verify",
    "renameat": "rename",
    "ftruncate": "ftruncate",
    "pread64": "pread",
    "fallocate": "posix_fallocate|fallocate",
    "fsync": "fsync|fsync after the run",
    "pipe2": "pipe",
}

# What fsync says of bytes that are lost; other errors say that it is refused.
LOSSES = ["EIO", "ENOSPC", "EDQUOT"]

# After a signal these are repeated. An open, an unlink or a lock that it ended is an error; and what close(2) was called
# for is closed all the same.
REPEATED = [*WRITES, "pread64", "fsync", "fdatasync", "fallocate"]

# What is left of a failed row.
FAILED_KEYS = {"name", "run_name", "run_type", "family_index", "threads", "iterations"}
FAILED_KEYS |= {"per_family_instance_index", "repetitions", "repetition_index"}
FAILED_KEYS |= {"error_occurred", "error_message", "real_time", "cpu_time", "time_unit"}

# What is in the folder of a run before it and after it.
FILES = ["work", "out.json", "rows", "log"]
OLD_RESULTS = '{"benchmarks": [], "old": true}'


def can_inject():
    """Whether strace works here and traces the program itself, not an emulator."""
    return not WRAPPER and strace_works()


@dataclass
class Call:
    """A line of strace's log."""

    name: str
    path: str
    fd: int | None
    flags: str
    injected: bool


def parse(line):
    """A call, or None where the line is of something else."""
    match = re.match(r"\d+ +(\w+)\((.*)", line)
    if not match:
        return None
    name, rest = match.groups()
    fd = re.match(r"(\d+|AT_FDCWD)<(.*?)>(?:\(deleted\))?", rest)
    file = re.match(r'(?:\w+<.*?>(?:\(deleted\))?, )?"(.*?)"', rest)
    path = fd.group(2) if fd else ""
    if file and "write" not in name and name != "pread64":
        path = os.path.normpath(os.path.join(path, file.group(1)))
    number = int(fd.group(1)) if fd and fd.group(1).isdigit() else None
    return Call(name, path, number, rest, "(INJECTED)" in rest)


class Injected:
    """A run of some rows, in a directory of its own, with faults such as "fsync:error=EIO:when=2", in calls on one file
    only if `path` names one."""

    def __init__(self, folder, rows, faults=(), path=None):
        self.saves = any("--create=" in row for row in rows)
        self.work, self.out = folder / "work", folder / "out.json"
        self.work.mkdir(exist_ok=True)
        self.out.write_text(OLD_RESULTS)
        self.rows_file, log = folder / "rows", folder / "log"
        self.rows_file.write_text("\n".join(rows) + "\n")
        injections = [word for fault in faults for word in ("-e", f"inject={fault}")]
        injections += ["-P", path] if path else []
        self.process = subprocess.run(
            ["strace", "-f", "--seccomp-bpf", "-qq", "-y", "-s0", "-e", "signal=none"]
            + ["-e", "trace=" + ",".join(CALLS), *injections, "-o", log, *SUITE]
            + [f"--preset-file={self.rows_file}", f"--dir={self.work}"]
            + ["--benchmark_min_time=1e-9", "--benchmark_repetitions=2"]
            # In order: then a call's number is the same in every run.
            + ["--benchmark_enable_random_interleaving=false"]
            + [f"--benchmark_out={self.out}"],
            # A leak check cannot run under strace, which traces already.
            env=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.calls = [call for line in open(log) if (call := parse(line))]

    def first_own_call(self):
        """Where the program's own calls begin, after those of the loader and of sanitizers: it reads its options."""
        return next(
            i for i, call in enumerate(self.calls) if call.path == str(self.rows_file)
        )

    def numbered(self):
        """The program's own calls, each with its number among those of its name, as strace counts."""
        counts = Counter()
        for i, call in enumerate(self.calls):
            counts[call.name] += 1
            if i >= self.first_own_call():
                yield call, counts[call.name]

    def hit(self):
        """The call that the fault hit, or None."""
        return next((call for call in self.calls if call.injected), None)

    def place(self, call):
        """What a call belongs to, by what it is called on and what came before it."""
        work, partial = str(self.work), f"{self.out}.partial"
        before = self.calls[: self.calls.index(call)]
        opened = any(c.path == partial for c in before)
        written = any(
            c.path == partial and c.name in ("write", "fsync") for c in before
        )
        if call.fd in (1, 2) and call.name == "write":
            return "screen"
        if call.path in (partial, str(self.out)):
            return "results"
        if call.path == str(self.rows_file) and call.name == "openat":
            return "start"
        if self.is_of_a_fact(call):
            return "fact"
        if call.path == work and "O_TMPFILE" not in call.flags:
            read_facts = "O_PATH" in call.flags or opened and not written
            return "fact" if read_facts else "end" if written else "start"
        if call.path.startswith(work):
            return "end" if written else "row"
        if self.is_unused(call) or re.search("/cache/index", call.path):
            return "library"
        if re.match("pipe:", call.path) or call.name == "pipe2":
            return "row" if self.is_own_pipe(call) else "sanitizer"
        if re.match(r"/proc/self/fd/|/dev/null$", call.path):
            return "row"
        return "fact"

    def is_of_a_fact(self, call):
        """Whether it makes a pipe or a file only to look at it, or finds a directory's mount, or closes one of these."""
        maker = call
        if call.name == "close":
            # A pipe has two descriptors in brackets.
            mine = re.compile(rf"(?:= |\[|, ){call.fd}<")
            before = self.calls[: self.calls.index(call)]
            makers = [c for c in before if mine.search(c.flags) and c.name != "close"]
            maker = makers[-1] if makers else call
        return (
            (maker.name == "pipe2" and "O_NONBLOCK" in maker.flags)
            or ("O_TMPFILE" in maker.flags and "O_WRONLY" in maker.flags)
            or "O_PATH" in maker.flags
        )

    def is_own_pipe(self, call):
        """Sanitizers probe memory by writing it into a pipe, which is another than ours."""
        own = [
            c.flags for c in self.calls if c.name == "pipe2" and "CLOEXEC" in c.flags
        ]
        return call.flags in own or any(f"<{call.path}>" in flags for flags in own)

    def is_unused(self, call):
        """Google Benchmark's own results file is /dev/null, and nothing is written to it."""
        opened = [
            c for c in self.calls if c.path == "/dev/null" and "O_TRUNC" in c.flags
        ]
        fds = [re.search(r"= (\d+)<", c.flags) for c in opened]
        return (
            call in opened
            or call.path == "/dev/null"
            and call.fd in [int(fd.group(1)) for fd in fds if fd]
        )

    def is_timed(self, call):
        """Whether a call of a row is one of its strategy's, rather than of those that prepare the window."""
        windows = [
            c.flags
            for c in self.calls
            if "O_TMPFILE" in c.flags and not self.is_of_a_fact(c)
        ]
        return (
            self.place(call) == "row"
            and not any(re.search(rf"= {call.fd}<", flags) for flags in windows)
            and "prepare to verify" not in self.process.stderr
            and not self.is_of_an_old_file(call)
        )

    def is_of_an_old_file(self, call):
        """Whether a call writes the old file that a row with pwritev and fdatasync replaces, or waits for it."""
        return self.saves and (
            call.name == "pwrite64"
            or call.name == "fsync"
            and not self.follows_a_rename(call)
        )

    def follows_a_rename(self, call):
        """Whether a directory is synced so that the new name of a file in it is durable: that is measured."""
        before = self.calls[: self.calls.index(call)]
        return self.saves and before[-1].name == "renameat"

    def wrote_less(self):
        """Whether the loop that stands in for pwritev had written a part, said so, and then wrote the rest."""
        rows = repetitions(read(self.out), "fallback")
        return any(row.get("short_writes") for row in rows)

    # --- What has to come of a fault. ---

    def check(self):
        """Asserts what is right after the fault that this run met, or none."""
        call = self.hit()
        outcome = self.outcome(call) if call else self.check_success
        outcome(call)
        assert os.listdir(self.work) == []
        assert sorted(os.listdir(self.out.parent)) == sorted(FILES)

    def outcome(self, call):
        """Which of the checks below is the right one."""
        error, place = self.error(call), self.place(call)
        private = re.search(r"/\.gatherbench-\w+$", call.path)
        survived = (
            place == "fact"
            or (place == "library" and (call.name == "close" or "/size" in call.path))
            or (place == "results" and call.name == "flock")
            or (error == "EINTR" and call.name in REPEATED and place != "screen")
            or (error == "EAGAIN" and call.name in WRITES and self.is_timed(call))
            or (call.name in WRITES and self.is_timed(call) and self.wrote_less())
            # What was not removed is tried again; locks and a synced directory are done without.
            or (private and call.name in ("flock", "unlinkat"))
            or (private and call.name == "fsync" and not self.follows_a_rename(call))
            or (place == "row" and call.name == "flock")
            # A sync that is refused loses nothing, unless it is what is measured.
            or (
                call.name == "fsync"
                and error not in LOSSES
                and not (place == "row" and self.is_timed(call))
            )
        )
        if place == "results" and call.name == "flock" and error == "EAGAIN":
            return self.check_held
        if survived:
            return self.check_success
        return getattr(self, "check_" + place)

    def error(self, call):
        return re.search(r"= -1 (\w+) ", call.flags).group(1)

    def reason(self, call):
        return os.strerror(getattr(errno, self.error(call)))

    def rows(self):
        """The results' rows by name: failed ones and others. What has a time has it in all repetitions."""
        failed, good = {}, {}
        for row in read(self.out)["benchmarks"]:
            if "error_occurred" in row:
                failed.setdefault(row["name"], []).append(row)
            elif row["run_type"] == "iteration":
                good.setdefault(row["name"], []).append(row)
                assert row["real_time"] > 0
        assert all(len(rows) == 2 for rows in [*failed.values(), *good.values()])
        assert not set(failed) & {
            row["run_name"]
            for row in read(self.out)["benchmarks"]
            if "error_occurred" not in row
        }
        return failed, good

    def check_success(self, call):
        assert self.process.returncode == 0, self.process.stderr
        failed, good = self.rows()
        assert good and not failed
        assert "failed" not in self.process.stdout

    def check_row(self, call):
        """One row is an error that names plan, operation and reason; it has no time anywhere; the others go on."""
        assert self.process.returncode == 1
        failed, good = self.rows()
        [(name, rows)] = failed.items()
        assert ("target:null" in name) == (call.path == "/dev/null")
        assert good
        operations = OPERATIONS.get(call.name, call.name)
        message = rf"({operations})[\w ]*: {self.reason(call)}"
        told = rf"^gatherbench: {re.escape(name)}: {message}$"
        assert re.search(told, self.process.stderr, re.M)
        for row in rows:
            assert row["error_occurred"] is True
            assert re.fullmatch(message, row["error_message"])
            assert row["real_time"] == row["cpu_time"] == 0
            assert set(row) <= FAILED_KEYS
        screen = self.process.stdout.splitlines()
        [line] = [line for line in screen if re.search(r" failed$", line)]
        assert not re.search(r"\d\.\d", line)
        assert f"failed: {name}: {rows[0]['error_message']}" in screen

    def check_start(self, call):
        """Nothing was measured, and the old results are still there."""
        assert self.process.returncode in (1, 2)
        assert re.search(rf"^gatherbench: .*{self.reason(call)}", self.process.stderr)
        assert self.out.read_text() == OLD_RESULTS
        assert self.process.stdout == ""

    def check_library(self, call):
        """Google Benchmark ends the process itself where it cannot open a file that it wants."""
        assert self.process.returncode == 1
        assert "file" in self.process.stderr
        assert self.out.read_text() == OLD_RESULTS
        assert self.process.stdout == ""

    def check_results(self, call):
        """Results that could not be written are told of; the old ones are still there, or the new ones complete."""
        assert self.process.returncode == 1
        assert self.reason(call) in self.process.stderr
        if call.path == str(self.out):
            assert not self.rows()[0]
        else:
            assert self.out.read_text() == OLD_RESULTS

    def check_held(self, call):
        """What is locked is another run's, and stays."""
        assert self.process.returncode == 1
        assert "another run is writing it" in self.process.stderr
        assert self.out.read_text() == OLD_RESULTS
        os.unlink(f"{self.out}.partial")

    def check_screen(self, call):
        assert self.process.returncode == 1
        assert "standard output" in self.process.stderr
        assert not self.rows()[0]

    def check_end(self, call):
        """All rows are measured; what could not be cleared away is told of."""
        assert self.process.returncode == 1
        assert re.search(rf"^gatherbench: .*{self.reason(call)}", self.process.stderr)
        failed, good = self.rows()
        assert good and not failed
