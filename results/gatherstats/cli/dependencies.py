"""Reports missing or broken packages before an import of them fails.

This file must not import numpy or scipy.
"""

from __future__ import annotations

import importlib
import sys

from gatherstats.errors import UserError

_PACKAGES = {"numpy": "python3-numpy", "scipy.stats": "python3-scipy"}
"""Modules that every command imports, and their Debian packages."""

_FOR_PNG = {"cairosvg": "python3-cairosvg"}


def require() -> None:
    """Raise UserError when numpy or scipy cannot be imported."""
    _require(_PACKAGES)


def require_png() -> None:
    """Raise UserError when cairosvg cannot be imported, which only PNG needs."""
    _require(_FOR_PNG)


def _require(packages: dict[str, str]) -> None:
    missing, broken = [], []
    for module in packages:
        name = module.partition(".")[0]
        problem = _import_problem(module)
        if problem is None:
            continue
        if isinstance(problem, ModuleNotFoundError) and problem.name == name:
            missing.append(f"no {name}")
        else:
            text = " ".join(str(problem).split()) or "without a message"
            broken.append(f"a broken {name} ({type(problem).__name__}: {text})")
    if missing or broken:
        raise UserError(
            f"{sys.executable or 'python3'} has {' and '.join(missing + broken)};"
            f" on Debian install {' '.join(packages.values())} and use /usr/bin/python3"
        )


def _import_problem(module: str) -> Exception | None:
    """Import a module; returns the exception. A broken package may raise anything."""
    try:
        importlib.import_module(module)
    except Exception as error:
        return error
    return None
