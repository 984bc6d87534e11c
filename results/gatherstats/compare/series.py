"""Runs two commands in turn, many launches of each, and keeps only complete results.

A folder holds one series: `alternate.json` has the commands and the seed, `a-01.json` and
`b-01.json` are the first pair of launches, and so on. A launch writes into a hidden folder, and its
file is renamed when complete: every file of that name is whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gatherstats.compare.comparison import INCOMPLETE
from gatherstats.data.reader import load, read_json
from gatherstats.errors import UserError
from gatherstats.process.atomic_file import write_atomically
from gatherstats.process.children import run_command
from gatherstats.process.interruption import signals_raise

SIDES = ("a", "b")
"""The two commands, by the first letter of their files."""

MANIFEST = "alternate.json"
"""The file that describes a folder's series."""

_UNFINISHED = ".unfinished-"

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Series:
    """Alternating launches of two commands.

    commands: by side, each as a list of arguments.
    seed: determines which command comes first in each pair.
    """

    folder: Path
    commands: dict[str, list[str]]
    launches: int
    seed: int

    def path(self, side: str, number: int) -> Path:
        """Return the results file of a launch; the first has number 1."""
        return self.folder / f"{side}-{number:02}.json"

    def paths(self, side: str) -> list[Path]:
        """List the files of all launches of a side."""
        return [self.path(side, number + 1) for number in range(self.launches)]

    def order(self) -> list[tuple[str, int]]:
        """List all launches, as side and number, in their order in time."""
        result = []
        for number in range(1, self.launches + 1):
            # A generator for each pair: a longer series starts with the same order.
            first = random.Random(f"{self.seed} {number}").randrange(2)
            result += [(SIDES[first], number), (SIDES[1 - first], number)]
        return result

    def missing(self) -> list[tuple[str, int]]:
        """List the missing launches."""
        return [launch for launch in self.order() if not self.path(*launch).exists()]


def open_series(
    folder: Path,
    commands: dict[str, list[str]],
    launches: int,
    seed: int | None,
    across: frozenset[str] = frozenset(),
) -> Series:
    """Start a series in `folder`, or continue the one that is there.

    seed: None for the folder's, or else a new one. across: the aspects "boot" and "build", if they
    may have changed since the series began.
    Raises UserError when the folder holds something else, or cannot be used.
    """
    manifest = folder / MANIFEST
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if manifest.exists():
            known = _read_manifest(manifest)
            _check_same(folder, known, commands, seed)
            _check_unchanged(folder, known, commands, across)
            return Series(folder, commands, launches, known["seed"])
        if any(folder.glob("[ab]-*.json")):
            raise UserError(f"{folder}: holds launches, but no {MANIFEST}")
        if seed is None:
            seed = random.SystemRandom().randrange(2**32)
        known = {"seed": seed, "commands": commands, **_circumstances(commands)}
        write_atomically(manifest, json.dumps(known, indent=1).encode())
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}") from error
    return Series(folder, commands, launches, seed)


def run_series(
    series: Series,
    report: Callable[[str], None],
    refused: Callable[[], bool],
) -> int:
    """Make the missing launches, and return the number of launches of each side.

    report: called with a line about each launch, with the time left. refused: called for the first
    pair; True ends the series, because two programs that must not be compared need no more
    launches.
    Raises UserError for a launch without results, or where another process makes them, and
    interruption.Interrupted.
    """
    with _locked(series.folder):
        return _run_missing(series, report, refused)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock the folder's manifest, against other processes that would make launches in it."""
    try:
        manifest = open(folder / MANIFEST)
    except OSError as error:
        raise UserError(f"{folder}: {error.strerror}") from error
    with manifest:
        try:
            fcntl.flock(manifest, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{folder}: another process is making its launches"
            ) from None
        except OSError:
            pass  # A file system without locks.
        yield


def _run_missing(
    series: Series,
    report: Callable[[str], None],
    refused: Callable[[], bool],
) -> int:
    for left_over in series.folder.glob(_UNFINISHED + "*"):
        shutil.rmtree(left_over, ignore_errors=True)
    missing = series.missing()
    total = 2 * series.launches
    if len(missing) < total:
        report(
            f"{total - len(missing)} of {total} launches are in {series.folder} already"
        )
    checked = False
    start = time.monotonic()
    with signals_raise():
        for i, (side, number) in enumerate(missing):
            done = total - len(missing) + i
            name = series.path(side, number).name
            report(
                f"launch {done + 1} of {total} ({name}){_time_left(start, i, missing)}"
            )
            try:
                _launch(series, side, number)
            except OSError as error:
                raise UserError(f"{series.folder}: {error.strerror}") from error
            if not checked and all(series.path(s, 1).exists() for s in SIDES):
                checked = True
                if refused():
                    return 1
    return series.launches


def _read_manifest(path: Path) -> dict:
    try:
        known = read_json(path)
    except UserError as error:
        raise UserError(f"{path}: {error}") from error
    if not isinstance(known, dict) or type(known.get("seed")) is not int:
        raise UserError(f"{path}: it does not describe a series of launches")
    return known


def _check_same(
    folder: Path, known: dict, commands: dict[str, list[str]], seed: int | None
) -> None:
    if known.get("commands") != commands:
        raise UserError(
            f"{folder}: holds launches of other commands; choose another folder with -o"
        )
    if seed is not None and seed != known["seed"]:
        raise UserError(f"{folder}: was started with --seed={known['seed']}")


def _circumstances(commands: dict[str, list[str]]) -> dict[str, object]:
    """Return the facts that must not change during a series: the boot and the programs.

    Facts that cannot be read are left out.
    """
    found: dict[str, object] = {"programs": {}}
    with contextlib.suppress(OSError):
        found["boot"] = _BOOT.read_text().strip()
    for word in {word for words in commands.values() for word in words}:
        path = shutil.which(word)
        if path:
            with contextlib.suppress(OSError), open(path, "rb") as program:
                digest = hashlib.file_digest(program, "sha256").hexdigest()
                found["programs"][word] = digest
    return found


def _check_unchanged(
    folder: Path, known: dict, commands: dict[str, list[str]], across: frozenset[str]
) -> None:
    now = _circumstances(commands)
    programs = known.get("programs")
    old = programs if isinstance(programs, dict) else {}
    rebuilt = [
        w for w, digest in now["programs"].items() if old.get(w, digest) != digest
    ]
    changes = {
        "boot": known.get("boot", now.get("boot")) != now.get("boot")
        and "the machine was started again",
        "build": rebuilt and f"{rebuilt[0]} is another program",
    }
    for aspect, change in changes.items():
        if change and aspect not in across:
            raise UserError(
                f"{folder}: not comparable, {change} since the series began; choose another folder"
                f" with -o (--across={aspect} goes on all the same)",
                INCOMPLETE,
            )


def _time_left(start: float, done: int, missing: list) -> str:
    if done == 0:
        return ""
    seconds = (time.monotonic() - start) / done * (len(missing) - done)
    if seconds < 100:
        return f", {seconds:.0f} s left"
    return f", {seconds / 60:.0f} min left"


def _launch(series: Series, side: str, number: int) -> None:
    """Run one command and move its results to their place."""
    target = series.path(side, number)
    with tempfile.TemporaryDirectory(prefix=_UNFINISHED, dir=series.folder) as private:
        part = Path(private) / target.name
        command = [
            *series.commands[side],
            f"--benchmark_out={part}",
            "--benchmark_out_format=json",
        ]
        with open(Path(private) / "stderr", "w+b") as errors:
            try:
                status = run_command(command, errors)
            except OSError as error:
                raise UserError(
                    f"cannot start {command[0]}: {error.strerror}"
                ) from error
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines()
        try:
            load(part)
        except UserError as error:
            reason = said[-1] if said and status != 0 else str(error)
            raise UserError(
                f"{target.name}: no results, exit status {status}: {reason}"
            ) from error
        # A failed row makes the status 1 and is in the file; a signal cuts the file short.
        if status not in (0, 1):
            raise UserError(
                f"{target.name}: exit status {status}: {said[-1] if said else 'no message'}"
            )
        part.rename(target)
