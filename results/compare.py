#!/usr/bin/env python3
"""Compares benchmark results and gives a verdict for each pair of rows.

compare.py OLD.json NEW.json            two runs, row by row by name
compare.py RUN.json --by=strategy       one run, along one key of its rows' names
compare.py --old A1.json A2.json --new B1.json B2.json
                                        several launches of each: a launch is one value
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
    """Print a comparison and return the exit status."""
    needs.require(PROGRAM)
    from gatherstats.cli.options import UnreadableError, load_all, settings, show
    from gatherstats.compare.comparison import compare_runs, compare_within, given_twice
    from gatherstats.compare.matching import MatchError

    options = _parse(arguments)
    old = options.old or options.files[:1]
    new = options.new or options.files[1:]
    try:
        runs = load_all([*old, *new])
        if options.by:
            result = compare_within(
                runs[0], options.by, options.baseline, settings(options)
            )
        else:
            twice = given_twice(runs) if options.old else None
            if twice:
                raise MatchError(
                    f"{twice[0].path} and {twice[1].path} are the same launch: it would count as"
                    " two"
                )
            result = compare_runs(runs[: len(old)], runs[len(old) :], settings(options))
    except (UnreadableError, MatchError) as error:
        return complain(PROGRAM, str(error))
    return show(PROGRAM, result, options.format)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    from gatherstats.cli.options import EXIT_STATUS, add_comparison_options
    from gatherstats.compare.data import describe_keys

    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        usage=f"{PROGRAM} OLD.json NEW.json [OPTION ...]\n"
        f"       {PROGRAM} RUN.json --by=KEY [--baseline=VALUE] [OPTION ...]\n"
        f"       {PROGRAM} --old OLD.json ... --new NEW.json ... [OPTION ...]",
        description="Compare benchmark results (Google Benchmark's JSON) and give a verdict for"
        " each pair of rows: faster, slower, same or undecided.",
        epilog=EXIT_STATUS + "\n\n" + describe_keys(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", metavar="FILE.json", help="results files")
    parser.add_argument(
        "--old", nargs="+", default=[], metavar="FILE.json", help="launches of the old"
    )
    parser.add_argument(
        "--new", nargs="+", default=[], metavar="FILE.json", help="launches of the new"
    )
    parser.add_argument(
        "--by", metavar="KEY", help="compare rows of one run that differ in this key"
    )
    parser.add_argument(
        "--baseline",
        metavar="VALUE",
        help="the key's value that the others are compared with (default: the plainest)",
    )
    add_comparison_options(parser)
    options = parser.parse_args(arguments)
    if options.by == "":
        parser.error("--by is empty")
    if options.by and (len(options.files) != 1 or options.old or options.new):
        parser.error("--by takes one FILE.json")
    if options.baseline is not None and not options.by:
        parser.error("--baseline goes with --by")
    if bool(options.old) != bool(options.new) or (options.old and options.files):
        parser.error("--old and --new go together, without other files")
    if not options.by and not options.old and len(options.files) != 2:
        parser.error("give OLD.json and NEW.json, or RUN.json and --by=KEY")
    return options


if __name__ == "__main__":
    from gatherstats.process.output import run_main

    sys.exit(run_main(PROGRAM, main))
