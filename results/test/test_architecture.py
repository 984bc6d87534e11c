"""The packages of gatherstats: what each says, and what it may import."""

import ast
import importlib
import re
from graphlib import TopologicalSorter

import pytest
from conftest import RESULTS

ROOT = RESULTS / "gatherstats"
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))
SHARED = {"errors"}
RENDERERS = {"terminal", "markdown", "data", "page", "picture"}
"""Modules that give a topic one form; a form of another topic is made of the same parts as they are."""


def docstring(package):
    return importlib.import_module(f"gatherstats.{package}").__doc__


def allowed(package):
    said = re.search(r"^May import: (.+)$", docstring(package), re.M)[1]
    return set() if said == "nothing" else set(said.split(", "))


def imports(package):
    """What a package imports of others: the name's parts after gatherstats, and where."""
    for path in sorted((ROOT / package).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno} imports relatively"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                root, *parts = name.split(".")
                if root == "gatherstats" and parts[0] != package:
                    yield parts, f"{path.name}:{node.lineno}"


def test_packages_and_at_most_three_files():
    here = [path for path in ROOT.iterdir() if path.name != "__pycache__"]
    files = [path for path in here if not path.is_dir()]
    assert len(files) <= 3
    assert sorted(path.name for path in here if path.is_dir()) == PACKAGES


@pytest.mark.parametrize("package", PACKAGES)
def test_each_says_what_lives_there(package):
    assert re.match(r"[A-Z].{20,}\n\nMay import: ", docstring(package), re.S)
    assert allowed(package) <= set(PACKAGES) - {package}


@pytest.mark.parametrize("package", PACKAGES)
def test_each_imports_only_what_it_may(package):
    may = allowed(package) | SHARED
    assert not {line: parts for parts, line in imports(package) if parts[0] not in may}


@pytest.mark.parametrize("package", PACKAGES)
def test_none_imports_the_renderers_of_another(package):
    found = {line: ".".join(p) for p, line in imports(package) if p[1] in RENDERERS}
    assert not found


def test_renderers_exist():
    assert RENDERERS == {p.stem for p in ROOT.glob("*/*.py") if p.stem in RENDERERS}


def test_there_is_no_circle():
    floors = TopologicalSorter({name: allowed(name) for name in PACKAGES})
    assert set(floors.static_order()) == set(PACKAGES)


def test_what_all_may_import_imports_nothing():
    for name in SHARED:
        assert "gatherstats" not in (ROOT / f"{name}.py").read_text()
