"""The command selfcheck.py: checks how small a difference this machine can detect.

selfcheck.py [--dir=DIR]        measures for two minutes and reports what it can detect
selfcheck.py --from=RUN.json    reports it for an existing run
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gatherstats.cli.inputs import load_all
from gatherstats.cli.options import add_output, number, save
from gatherstats.compare.selfcheck import check, preset_lines, report
from gatherstats.data.environment import SPOILED, UNDER_LOAD, spoiled, under_load
from gatherstats.data.rows import Run
from gatherstats.errors import UserError
from gatherstats.process.atomic_file import require_writable
from gatherstats.process.children import run_command
from gatherstats.process.interruption import signals_raise

SUITE = Path(__file__).resolve().parents[3] / "build" / "bench" / "gatherbench"

CALIBRATION = 3
"""Repetitions of the short run that measures the length of a repetition."""

ANALYSIS_S = 15.0
"""Seconds kept for the arithmetic."""

DESCRIPTION = (
    "Find the smallest difference that this machine can detect: compare one row's repetitions with"
    " each other, and with rows that write 1 %, 2 % and 5 % more bytes."
)

EXIT_STATUS = (
    "0 the comparison is reliable here; 1 it is not; 2 bad usage or no results; 128+signal when"
    " interrupted"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's options, or the file of one."""
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=120.0,
        help="how long to take in all (default: %(default)g)",
    )
    parser.add_argument("--dir", help="where files are made (default: the suite's)")
    parser.add_argument(
        "--program",
        dest="suite",
        default=str(SUITE),
        help="the suite (default: the one in build/)",
    )
    add_output(
        parser, "--keep", metavar="FILE.json", help="keep the measured results here"
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


def main(options: argparse.Namespace) -> int:
    """Measure, print the detectable differences, and return the exit status."""
    if options.run == "" or options.output == "":
        options.refuse("a file has an empty name")
    if options.run and options.output:
        options.refuse("-o keeps a new measurement, --from reads an existing one")
    run = load_all([options.run])[0] if options.run else _measure(options)
    result = check(run, np.random.default_rng(options.seed))
    print("\n".join(report(result)))
    for heading, text in ((UNDER_LOAD, under_load(run)), (SPOILED, spoiled(run))):
        if text:
            print(f"{heading}: {text}; measure again.")
    return 0 if result.is_believable else 1


def _seed(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 0 or more")
    return int(text)


def _seconds(text: str) -> float:
    value = number(text)
    if not 1 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 1 and 86400")
    return value


def _measure(options: argparse.Namespace) -> Run:
    """Run the suite for the given time."""
    try:
        with signals_raise(), tempfile.TemporaryDirectory() as folder:
            return _measure_in(Path(folder), options)
    except OSError as error:
        where = error.filename or "temporary files"
        raise UserError(f"{where}: {error.strerror}") from error


def _measure_in(folder: Path, options: argparse.Namespace) -> Run:
    if options.output:
        try:
            require_writable(options.output)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise UserError(f"{options.output}: {reason}") from error
    start = time.monotonic()
    _launch(options, CALIBRATION, folder / "calibration.json")
    each = (time.monotonic() - start) / CALIBRATION
    left = options.seconds - min(ANALYSIS_S, options.seconds / 2)
    repetitions = max(int(left / each - CALIBRATION), 1)
    print(f"{options.program}: {repetitions} repetitions of each row", file=sys.stderr)
    out = folder / "run.json"
    _launch(options, repetitions, out)
    run = load_all([str(out)])[0]
    if options.output:  # an interrupted run must not replace an older one
        save(options.output, out.read_bytes())
    return run


def _launch(options: argparse.Namespace, repetitions: int, out: Path) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as preset:
        preset.write("\n".join(preset_lines(repetitions)) + "\n")
        preset.flush()
        command = [options.suite, f"--preset-file={preset.name}"]
        command += [f"--dir={options.dir}"] if options.dir else []
        try:
            status = run_command([*command, f"--benchmark_out={out}"])
        except OSError as error:
            raise UserError(
                f"cannot start {options.suite}: {error.strerror}"
            ) from error
    if status != 0:
        raise UserError(f"{options.suite} gave exit status {status}")
