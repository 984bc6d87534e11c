"""What all tests share: the library's path, warnings as errors, and makers of results files."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

RESULTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(RESULTS), str(Path(__file__).resolve().parent)]

import blog_table  # noqa: E402


def pytest_configure(config: pytest.Config) -> None:
    # A warning of numpy's would stand on the user's screen.
    config.addinivalue_line("filterwarnings", "error")


@pytest.fixture
def show(tmp_path, capsys):
    """Run blog_table.py on the given file contents; returns (status, stdout, stderr)."""

    def run(*contents, options=()):
        paths = []
        for i, content in enumerate(contents):
            path = tmp_path / f"file{i}.json"
            if isinstance(content, bytes):
                path.write_bytes(content)
            elif isinstance(content, str):
                path.write_text(content)
            else:
                path.write_text(json.dumps(content))
            paths.append(str(path))
        status = blog_table.main([*options, *paths])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return status, captured.out, captured.err

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(20211009)
