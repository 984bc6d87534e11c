"""Explains why the published X64 rows showed no gain, by .NET's libraries.

The facts are data, in results/reference/libraries/dotnet_macos.json. A `seen` library was read; the one
under `inferred` was not.
"""

from __future__ import annotations

import functools
from pathlib import Path

from gatherstats.data.reader import read_json

LIBRARIES = Path(__file__).parents[2] / "reference" / "libraries" / "dotnet_macos.json"

GATHERING = "pwritev"
"""The call that gathers; a library can only make it if it imports it."""


@functools.cache
def libraries() -> dict:
    """Read the facts."""
    return read_json(str(LIBRARIES))


def gathers(library: dict) -> bool:
    """Whether a library that was read can turn a gather into one call."""
    return GATHERING in library["imports"]


def seen() -> str:
    """Say what the library without the gathering call does, and what we infer for the published one."""
    facts = libraries()
    loop = _of_x64(False)
    inferred = facts["inferred"]
    return (
        f".NET {_major(loop)} for {loop['architecture']} on macOS does (seen in its library"
        f" {loop['dotnet']}: it imports {' and '.join(loop['imports'])} alone), and what .NET"
        f" {inferred['dotnet']} most likely did (inferred: made for macOS {inferred['macos']}, where"
        f" {GATHERING} came with {facts['macos_with_pwritev']})"
    )


def prediction() -> str:
    """Predict in a sentence the result of a newer .NET."""
    whole = _of_x64(True)
    return (
        f"One made for macOS {_short(libraries()['macos_with_pwritev'])} or later calls {GATHERING} (seen in"
        f" {whole['dotnet']}): there X64 should gain as Arm64 does, which nobody has tested."
    )


def explanation() -> str:
    """Explain the published X64 rows in sentences that stand alone."""
    return (
        "In the published table gathering gained nothing on X64, and translation is most likely not the"
        f" reason: one write for each buffer is what {seen()}. {prediction()}"
    )


def _of_x64(gathering: bool) -> dict:
    return next(
        library
        for library in libraries()["seen"]
        if library["architecture"] == "x64" and gathers(library) is gathering
    )


def _major(library: dict) -> str:
    return library["dotnet"].split(".")[0]


def _short(version: str) -> str:
    return version.removesuffix(".0")
