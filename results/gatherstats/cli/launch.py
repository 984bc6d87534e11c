"""Starts a command: streams, signals, options, dependencies, errors and exit status.

A command NAME is a module NAME_command.py in one of the packages. It has

    DESCRIPTION              one paragraph for --help
    EXIT_STATUS              the meaning of its exit statuses, for --help
    DETAILS                  text that follows in --help as it stands (may be left out)
    add_arguments(parser)    its options
    main(options) -> int     its work; returns the exit status, or raises UserError

launch adds to the options `program`, the name for messages, and `refuse`, which takes a text and ends
the command as bad usage.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import textwrap
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from gatherstats.cli import dependencies
from gatherstats.errors import UserError
from gatherstats.process.interruption import Interrupted
from gatherstats.process.output import OutputError, complain, run_main

UNFORESEEN = 70
"""The exit status of an exception that nobody foresaw (EX_SOFTWARE of sysexits.h)."""

_PACKAGES = Path(__file__).parents[1]

_WIDTH = 79


def launch(name: str) -> int:
    """Run a command as a program and return its exit status, whatever happens."""
    return run_main(f"{name}.py", lambda: _survive(name, sys.argv[1:]))


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a command in this process and return its exit status.

    Raises SystemExit as argparse does, and exceptions that the command did not foresee.
    """
    program = f"{name}.py"
    try:
        dependencies.require()
        command = _find(name)
        return command.main(_parse(program, command, arguments))
    except UserError as error:
        return complain(program, str(error), error.status)
    except Interrupted as interrupted:
        return complain(program, "interrupted", 128 + interrupted.number)


def _survive(name: str, arguments: Sequence[str]) -> int:
    try:
        return run(name, arguments)
    except (OutputError, BrokenPipeError):
        raise
    except Exception as error:
        if sys.flags.dev_mode:
            traceback.print_exc()
        frame = traceback.extract_tb(error.__traceback__)[-1]
        text = " ".join(str(error).split())
        return complain(
            f"{name}.py",
            f"unforeseen {type(error).__name__} ({Path(frame.filename).name}:{frame.lineno}):"
            f" {text or 'without a message'}",
            UNFORESEEN,
        )


def _find(name: str) -> ModuleType:
    (path,) = _PACKAGES.glob(f"*/{name}_command.py")
    return importlib.import_module(f"gatherstats.{path.parent.name}.{path.stem}")


def _parse(
    program: str, command: ModuleType, arguments: Sequence[str]
) -> argparse.Namespace:
    statuses = (
        f"Exit status: {command.EXIT_STATUS}; {UNFORESEEN} a fault of this program."
    )
    details = getattr(command, "DETAILS", "")
    parser = argparse.ArgumentParser(
        prog=program,
        description=textwrap.fill(command.DESCRIPTION, _WIDTH),
        epilog="\n\n".join(filter(None, (textwrap.fill(statuses, _WIDTH), details))),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    parser.set_defaults(program=program, refuse=parser.error)
    return parser.parse_args(arguments)
