"""Says which packages are missing, before anything imports them and fails with a traceback.

This file must not import numpy or scipy.
"""

from __future__ import annotations

import importlib
import sys

_DEBIAN_PACKAGES = {"numpy": "python3-numpy", "scipy": "python3-scipy"}

_FOR_PLOTS = {"matplotlib": "python3-matplotlib"}


def require(program: str) -> None:
    """Leave with exit status 2 and one line on stderr when numpy or scipy cannot be imported."""
    _require(program, _DEBIAN_PACKAGES)


def require_plots(program: str) -> None:
    """The same for matplotlib, which only pictures need."""
    _require(program, _FOR_PLOTS)


def _require(program: str, packages: dict[str, str]) -> None:
    missing = [name for name in packages if not _can_import(name)]
    if missing:
        print(
            f"{program}: {sys.executable or 'python3'} has no {' and no '.join(missing)};"
            f" on Debian install {' '.join(packages.values())} and use /usr/bin/python3",
            file=sys.stderr,
        )
        raise SystemExit(2)


def _can_import(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
