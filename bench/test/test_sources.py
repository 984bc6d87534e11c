"""No source file is longer than one can keep in mind, and C++ stays as thin as its library allows."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MOST_LINES = {".py": 400, ".c": 450, ".h": 450, ".cc": 450}
MOST_CPP = 1250
"""Lines of C++ altogether: whatever need not call Google Benchmark is C."""

SOURCES = {
    path: path.read_text()
    for folder in ("csrc", "bench", "results")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in MOST_LINES
}


def lines(path):
    return len(SOURCES[path].splitlines())


def headers_of_c():
    """The names of headers that C reads, directly or through others."""
    names, new = set(), [text for path, text in SOURCES.items() if path.suffix == ".c"]
    while new:
        found = {name for text in new for name in re.findall(r'#include "(.+)"', text)}
        new = [text for path, text in SOURCES.items() if path.name in found - names]
        names |= found
    return names


def test_no_file_is_too_long():
    assert set(MOST_LINES) == {path.suffix for path in SOURCES}
    too_long = {p: lines(p) for p in SOURCES if lines(p) > MOST_LINES[p.suffix]}
    assert not too_long


def test_cpp_is_thin():
    of_c = headers_of_c()
    cpp = [
        path
        for path in SOURCES
        if path.suffix == ".cc" or path.suffix == ".h" and path.name not in of_c
    ]
    assert {"main.cc", "register.h"} <= {path.name for path in cpp}
    assert not {"gather.h", "options.h"} & {path.name for path in cpp}
    assert sum(map(lines, cpp)) < MOST_CPP
