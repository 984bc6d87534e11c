#!/usr/bin/env python3
"""Is this machine good enough to be believed? Compares one row with itself and with slower ones.

selfcheck.py [--dir=DIR]        measures for two minutes and says what can be told apart here
selfcheck.py --from=RUN.json    says it of a run that is there
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name
SUITE = Path(__file__).resolve().parent.parent / "build" / "bench" / "gatherbench"

CALIBRATION = 3
"""Repetitions of the short run that tells how long a repetition takes."""

ANALYSIS_S = 15.0
"""Seconds kept for the arithmetic."""


class MeasureError(Exception):
    """The suite gave no results; the text is one line that says why."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print what can be told apart, and return the exit status."""
    needs.require(PROGRAM)
    import numpy as np

    from gatherstats.cli.options import UnreadableError, load_all
    from gatherstats.data.environment import UNDER_LOAD, under_load
    from gatherstats.process.interruption import Interrupted
    from gatherstats.compare.selfcheck import SelfCheckError, check, report

    options = _parse(arguments)
    try:
        run = load_all([options.run])[0] if options.run else _measure(options)
        result = check(run, np.random.default_rng(options.seed))
    except (UnreadableError, MeasureError, SelfCheckError) as error:
        return complain(PROGRAM, str(error))
    except OSError as error:
        where = error.filename or "temporary files"
        return complain(PROGRAM, f"{where}: {error.strerror}")
    except Interrupted as interrupted:
        return complain(PROGRAM, "interrupted", 128 + interrupted.number)
    print("\n".join(report(result)))
    busy = under_load(run)
    if busy:
        print(f"{UNDER_LOAD}: {busy}; measure again.")
    return 0 if result.is_believable else 1


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Tell how small a difference can be told on this machine: compare one row's"
        " repetitions with each other, and with rows that write 1 %, 2 % and 5 % more bytes.",
        epilog="Exit status: 0 the comparison can be believed here; 1 it cannot; 2 bad usage or no"
        " results; 128+signal when interrupted.",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=120.0,
        help="how long to take in all (default: %(default)g)",
    )
    parser.add_argument("--dir", help="where files are made (default: the suite's)")
    parser.add_argument(
        "--program", default=str(SUITE), help="the suite (default: the one in build/)"
    )
    parser.add_argument(
        "--keep", metavar="FILE.json", help="keep the measured results here"
    )
    parser.add_argument(
        "--from", dest="run", metavar="RUN.json", help="do not measure, use this run"
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=1,
        help="of the samples drawn (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    if options.run == "" or options.keep == "":
        parser.error("a file has an empty name")
    if options.run and options.keep:
        parser.error("--keep is for what is measured, --from for what is there")
    return options


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 1 and 86400")
    return value


def _measure(options: argparse.Namespace) -> object:
    """Run the suite for the time that there is."""
    from gatherstats.cli.options import load_all
    from gatherstats.process.atomic_file import require_writable, write_atomically
    from gatherstats.process.interruption import signals_raise

    with signals_raise(), tempfile.TemporaryDirectory() as folder:
        if options.keep:
            _try(require_writable, options.keep)
        start = time.monotonic()
        _launch(options, CALIBRATION, Path(folder) / "calibration.json")
        each = (time.monotonic() - start) / CALIBRATION
        left = options.seconds - min(ANALYSIS_S, options.seconds / 2)
        repetitions = max(int(left / each - CALIBRATION), 1)
        print(f"{PROGRAM}: {repetitions} repetitions of each row", file=sys.stderr)
        out = Path(folder) / "run.json"
        _launch(options, repetitions, out)
        run = load_all([str(out)])[0]
        if options.keep:  # an interrupted run is not worth an older one
            _try(write_atomically, options.keep, out.read_bytes())
        return run


def _try(write: Callable[..., None], path: str, *data: bytes) -> None:
    try:
        write(path, *data)
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror or error}") from error


def _launch(options: argparse.Namespace, repetitions: int, out: Path) -> None:
    from gatherstats.process.children import run_command
    from gatherstats.compare.selfcheck import preset_lines

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as preset:
        preset.write("\n".join(preset_lines(repetitions)) + "\n")
        preset.flush()
        command = [options.program, f"--preset-file={preset.name}"]
        command += [f"--dir={options.dir}"] if options.dir else []
        try:
            status = run_command([*command, f"--benchmark_out={out}"])
        except OSError as error:
            raise MeasureError(
                f"cannot start {options.program}: {error.strerror}"
            ) from error
    if status != 0:
        raise MeasureError(f"{options.program} gave exit status {status}")


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
