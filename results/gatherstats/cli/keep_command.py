"""The command keep.py: keeps a results file for others, compressed, without the machine's name.

keep.py RUN.json -o results/measured/RUN.json.gz
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

from gatherstats.cli.inputs import load_all, require_other
from gatherstats.cli.options import add_output, save
from gatherstats.data.reader import read_json
from gatherstats.errors import UserError
from gatherstats.text.strict_json import dumps

DESCRIPTION = (
    "Compress a results file and take the names of the machine and of folders of its program out;"
    " the command line stays as it was given. What JSON has no number for becomes null."
)

EXIT_STATUS = (
    "0 it is written; 2 bad usage, unreadable input, or a file that cannot be written"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the file and where it goes."""
    parser.add_argument("file", metavar="RUN.json", help="a results file")
    add_output(parser, metavar="RUN.json.gz", help="where to write it", required=True)


def main(options: argparse.Namespace) -> int:
    """Write the compressed file and return the exit status."""
    require_other(options.output, [options.file])
    load_all([options.file])
    document = read_json(options.file)
    context = document.get("context", {})
    # Google Benchmark records both; neither matters for the figures.
    if "host_name" in context:
        context["host_name"] = "host"
    if "executable" in context:
        context["executable"] = Path(str(context["executable"])).name
    try:
        text = dumps(document, compact=True) + "\n"
    except RecursionError:
        raise UserError(f"{options.file}: nested too deeply") from None
    # No time in gzip's header: the same run gives the same file.
    save(options.output, gzip.compress(text.encode(), 9, mtime=0))
    return 0
