"""The common part of all tests: the library's path, warnings as errors, and makers of results files."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
from pathlib import Path

import hypothesis.configuration
import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(RESULTS), str(RESULTS / "test" / "support")]
# At the end: files there have the names of some here.
sys.path.append(str(RESULTS.parent / "bench" / "test" / "support"))

import scratch  # noqa: E402
import skipped  # noqa: E402
from commands import blog_table, compare as compare_command  # noqa: E402
from gatherstats.crossover.map import make_maps  # noqa: E402
from gatherstats.data.reader import load  # noqa: E402
from gatherstats.stats.samples import measure  # noqa: E402

scratch.enter()


# Hypothesis' database goes to a temporary folder, not into the tree.
MEMORY = tempfile.TemporaryDirectory()
hypothesis.configuration.set_hypothesis_home_dir(MEMORY.name)

pytest_collection_modifyitems = skipped.pytest_collection_modifyitems
pytest_runtest_setup = skipped.pytest_runtest_setup
pytest_sessionfinish = skipped.pytest_sessionfinish


def pytest_configure(config: pytest.Config) -> None:
    # A warning of numpy's would stand on the user's screen.
    config.addinivalue_line("filterwarnings", "error")


@pytest.fixture
def show(tmp_path, capsys):
    """Run blog_table.py on the given file contents; returns (status, stdout, stderr)."""
    return runner(blog_table.main, tmp_path, capsys)


@pytest.fixture
def compare(tmp_path, capsys):
    """Run compare.py likewise; contents given as old and new are launches."""
    return runner(compare_command.main, tmp_path, capsys)


@pytest.fixture
def maps_of(tmp_path):
    """Make the crossover maps of a file's content; returns (run, maps)."""

    def make(document, threshold=0.01):
        (path,) = write_files(tmp_path, "grid", [document])
        run = load(path)
        return run, make_maps(run, measure(run.rows)[0], threshold)

    return make


def runner(main, folder, capsys):
    def run(*contents, options=(), **sides):
        arguments = [*options, *names(folder, "file", contents)]
        for side, launches in sides.items():
            arguments += [f"--{side}", *names(folder, side, launches)]
        with contextlib.chdir(folder):
            status = main(arguments)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return run


def names(folder, stem, contents):
    """Write the files and return their bare names: the length of the folder's name must not matter."""
    return [Path(path).name for path in write_files(folder, stem, contents)]


def write_files(folder, stem, contents):
    """Write a file for each content (an object for JSON, text or bytes); returns their paths."""
    paths = []
    for i, content in enumerate(contents):
        path = folder / f"{stem}{i}.json"
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(
                content if isinstance(content, str) else json.dumps(content)
            )
        paths.append(str(path))
    return paths


@pytest.fixture
def rng():
    return np.random.default_rng(20211009)
