#!/usr/bin/env python3
"""Says whether public claims about gathering and copying hold on this machine.

claims.py RUN.json                      RUN.json is of --preset=claims
claims.py RUN.json --claims MINE.json   with claims of one's own besides
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gatherstats.cli import needs  # noqa: E402
from gatherstats.process.output import complain  # noqa: E402

PROGRAM = Path(__file__).name


def main(arguments: list[str] | None = None) -> int:
    """Print the findings and return the exit status."""
    needs.require(PROGRAM)
    options = _parse(arguments)
    from gatherstats.cli.options import load_usable
    from gatherstats.claims.claims import PUBLIC, ClaimsError, check_claims, read_claims
    from gatherstats.claims.terminal import as_json, terminal

    runs, status = load_usable(PROGRAM, [options.file])
    if not runs:
        return status
    (run,) = runs
    claims = []
    for path in [*PUBLIC, *options.claims]:
        try:
            claims += read_claims(path)
        except ClaimsError as error:
            return complain(PROGRAM, f"{path}: {error}")
    results = check_claims(run, claims, options.threshold / 100)
    if options.format == "json":
        print(as_json(run, results))
    else:
        print("\n".join(terminal(run, results)))
    failed = [f"{row.name}: failed: {row.error}" for row in run.rows if row.failed]
    for problem in [*run.problems, *failed]:
        status = complain(PROGRAM, f"{run.path}: {problem}", 1)
    lost = sum(not result.by_target for result in results)
    if lost:
        status = complain(
            PROGRAM,
            f"{run.path}: {lost} of {len(results)} claims have no row in this run"
            " (--preset=claims measures all)",
            1,
        )
    return status


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.claims import claims
    from gatherstats.cli.options import add_threshold

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Say of public claims about gathering and copying whether they hold here, from"
        " a run of --preset=claims (Google Benchmark's JSON).",
        epilog="Exit status: 0 every claim was checked, whatever came out; 1 rows are missing or"
        " failed; 2 bad usage or unreadable input.\n\n" + (claims.__doc__ or ""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="RUN.json", help="a results file")
    parser.add_argument(
        "--claims",
        action="append",
        default=[],
        metavar="FILE",
        help="check the claims of this file too; its form is described below",
    )
    parser.add_argument(
        "--format",
        choices=("terminal", "json"),
        default="terminal",
        help="how to print it (default: terminal); json is one line",
    )
    add_threshold(parser)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
