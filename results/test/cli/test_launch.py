"""Start and end of a command with a broken dependency: one line and a distinct status."""

import os
import subprocess
import sys

import pytest
from commands import RESULTS, Command
from conftest import write_files
from made import repetitions, results
from made_maps import COALESCE, GATHER, by_size, grid_run

COMMANDS = sorted(
    path.stem.removesuffix("_command")
    for path in (RESULTS / "gatherstats").glob("*/*_command.py")
)


def broken(folder, package, content):
    """An environment in which a package can be found and does not work."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").write_text(content)
    return {**os.environ, "PYTHONPATH": str(folder)}


def run(name, *arguments, env=None, options=()):
    return subprocess.run(
        [sys.executable, *options, Command(name).script, *map(str, arguments)],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_broken_scipy_is_one_line(name, tmp_path):
    done = run(name, "--help", env=broken(tmp_path, "scipy", "__version__ = '1'\n"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "has a broken scipy (" in done.stderr
    assert "python3-scipy" in done.stderr


def test_a_scipy_that_raises_anything_is_one_line(tmp_path):
    environment = broken(
        tmp_path, "scipy", "raise ValueError('numpy\\nchanged size')\n"
    )
    done = run("compare", env=environment)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "a broken scipy (ValueError: numpy changed size)" in done.stderr


def test_a_cairosvg_without_its_library_is_one_line(tmp_path, rng):
    content = "raise OSError('no library called \"cairo\" was found')"
    environment = broken(tmp_path / "m", "cairosvg", content)
    grid = grid_run(by_size({"16": COALESCE, "512": GATHER}), rng)
    (path,) = write_files(tmp_path, "grid", [grid])
    done = run("crossover", path, "--format=png", "-o", tmp_path / "x", env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "a broken cairosvg (OSError: no library" in done.stderr


def test_an_exception_that_nobody_foresaw_has_a_status_of_its_own(tmp_path, rng):
    """A numpy that works until it is used."""
    sabotage = tmp_path / "sitecustomize.py"
    sabotage.write_text(
        "import numpy\ndef median(*a, **k): raise KeyError('what\\nnow')\nnumpy.median = median\n"
    )
    files = write_files(tmp_path, "run", [results(repetitions("BM", [1.0, 2.0] * 5))])
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = run("compare", files[0], files[0], env=environment)
    assert (done.returncode, done.stderr.count("\n")) == (70, 1)
    assert done.stderr.startswith(
        "compare.py: unforeseen KeyError (sitecustomize.py:2)"
    )
    with_traceback = run(
        "compare", files[0], files[0], env=environment, options=["-X", "dev"]
    )
    assert with_traceback.returncode == 70 and "Traceback" in with_traceback.stderr


def test_the_help_says_that_status(capsys):
    for name in COMMANDS:
        with pytest.raises(SystemExit) as raised:
            Command(name).main(["--help"])
        assert raised.value.code == 0
        out = " ".join(capsys.readouterr().out.split())
        assert "Exit status: 0 " in out and "; 70 a fault of this program." in out


def test_old_spellings_of_outputs_still_work(tmp_path, rng, capsys):
    times = by_size({"16": COALESCE, "512": GATHER})
    (path,) = write_files(tmp_path, "grid", [grid_run(times, rng)])
    for name, old in (("blog_table", "--out"), ("crossover", "--svg")):
        form = ["--format=svg"] if old == "--svg" else []
        a, b = tmp_path / f"{name}.a", tmp_path / f"{name}.b"
        Command(name).main([path, f"{old}={a}"])
        Command(name).main([path, "-o", str(b), *form])
        assert a.read_bytes() == b.read_bytes() != b""
    printed = capsys.readouterr().out
    for options in (["--by=strategy"], ["--by=strategy", "--format=json"]):
        Command("compare").main([path, *options, "-o", str(tmp_path / "c")])
        printed = capsys.readouterr().out
        assert (tmp_path / "c").read_text() == printed != ""
