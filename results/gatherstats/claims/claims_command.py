"""The command claims.py: checks public claims about gathering and copying on this machine.

claims.py RUN.json                      RUN.json is of --preset=claims or --preset=claim_files
claims.py RUN.json --claims MINE.json   with claims of one's own besides
"""

from __future__ import annotations

import argparse

from gatherstats.claims import claims_file
from gatherstats.claims.claims import check_claims
from gatherstats.claims.claims_file import PUBLIC, read_claims
from gatherstats.claims.data import as_json
from gatherstats.claims.terminal import terminal
from gatherstats.cli.inputs import load_usable, require_other
from gatherstats.cli.options import (
    add_format,
    add_output,
    add_threshold,
    print_and_save,
)
from gatherstats.errors import UserError
from gatherstats.process.output import complain

DESCRIPTION = (
    "Check public claims about gathering and copying against a run of"
    " --preset=claims or --preset=claim_files (Google Benchmark's JSON)."
)

EXIT_STATUS = (
    "0 every claim was checked, whatever the findings; 1 rows are missing or failed; 2 bad usage,"
    " unreadable input, or an output that cannot be written"
)

DETAILS = claims_file.__doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the run and further claims."""
    parser.add_argument("file", metavar="RUN.json", help="a results file")
    parser.add_argument(
        "--claims",
        action="append",
        default=[],
        metavar="FILE",
        help="check the claims of this file too; its form is described below",
    )
    add_format(parser, ("terminal", "json"), "; json is one line")
    add_output(parser)
    add_threshold(parser)


def main(options: argparse.Namespace) -> int:
    """Print the findings and return the exit status."""
    require_other(options.output, [options.file, *options.claims])
    runs, status = load_usable(options.program, [options.file])
    if not runs:
        return status
    (run,) = runs
    claims = []
    for path in [*PUBLIC, *options.claims]:
        try:
            claims += read_claims(path)
        except UserError as error:
            raise UserError(f"{path}: {error}") from error
    scopes = {row.name.scope for row in run.rows}
    asked = [claim for claim in claims if claim.scopes <= scopes]
    if claims and not asked:
        raise UserError(f"{options.file}: no claim is about rows of its scope", 1)
    results = check_claims(run, asked, options.threshold / 100)
    as_asked = (
        [as_json(run, results)] if options.format == "json" else terminal(run, results)
    )
    print_and_save(as_asked, options.output)
    failed = [f"{row.name}: failed: {row.error}" for row in run.rows if row.failed]
    for problem in [*run.problems, *failed]:
        status = complain(options.program, f"{run.path}: {problem}", 1)
    lost = sum(not one.by_target and not one.elsewhere for one in results)
    if lost:
        status = complain(
            options.program,
            f"{run.path}: {lost} of {len(results)} claims have no row in this run"
            " (--preset=claims and --preset=claim_files measure all)",
            1,
        )
    return status
