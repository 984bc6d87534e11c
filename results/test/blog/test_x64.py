"""The explanation of the published X64 rows follows the facts read in .NET's libraries, and marks inferences."""

import json

import numpy as np
from conftest import RESULTS
from gatherstats.blog import x64
from made import blog_run

README = (RESULTS / "reference" / "README.md").read_text()
FACTS = json.loads(x64.LIBRARIES.read_text())


def flat(text):
    return " ".join(text.split())


def test_seen_inferred_and_predicted_are_told_apart(show):
    medians = {"pwrite": 40.0, "pwritev": 30.0, "fallback": 40.0}
    run = blog_run(medians, np.random.default_rng(1))
    said = flat(show(run)[1])
    assert "what .NET 8 for x64 on macOS does (seen in its library 8.0.34" in said
    assert "what .NET 6 most likely did (inferred: made for macOS 10.14" in said
    assert "(seen in 10.0.12): there X64 should gain as Arm64 does, which" in said
    assert "nobody has tested" in said


def test_the_library_that_loops_is_the_one_without_the_call():
    """A library that imports pwritev, or none that was seen, must not be named as the loop."""
    loops = [one for one in FACTS["seen"] if not x64.gathers(one)]
    assert [one["dotnet"] for one in loops] == ["8.0.34"]
    assert FACTS["inferred"]["dotnet"] not in {one["dotnet"] for one in FACTS["seen"]}


def test_the_readme_has_the_same_facts():
    for one in FACTS["seen"]:
        row = f"| {one['architecture']} | {one['dotnet']} | {one['macos']} | {', '.join(f'`{call}`' for call in one['imports'])} |"
        assert row in README
    section = flat(README.split("## What the X64 puzzle")[1])
    assert f"**inferred** for .NET {FACTS['inferred']['dotnet']}" in section
    assert f"macOS {FACTS['inferred']['macos']}" in section
