"""crossover.py: the map on a screen, as JSON and as a picture, and its exit status."""

import json
import os
import pty
import re
import struct
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from conftest import RESULTS, runner, write_files
from gatherstats.crossover import picture
from gatherstats.drawing.svg import light_rules
from made import failed, repetitions, results
from made_maps import (
    COALESCE,
    GATHER_OR_COALESCE,
    LEVEL,
    NAME,
    TYPICAL,
    by_size,
    grid_rows,
    grid_run,
)

from commands import crossover as script


SCRIPT = str(RESULTS / "crossover.py")


ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def crossover(tmp_path, capsys):
    return runner(script.main, tmp_path, capsys)


def test_a_picture_does_not_replace_a_results_file(tmp_path, capsys):
    path = tmp_path / "run.json"
    path.write_text("{}")
    for option in ("--svg", "--png"):
        assert script.main([str(path), option, str(path)]) == 2
        assert "one of the files that are read" in capsys.readouterr().err
    assert path.read_text() == "{}"


def test_the_grid_on_a_screen(crossover, rng):
    status, out, err = crossover(grid_run(TYPICAL, rng))
    assert (status, err) == (0, "")
    assert "\x1b" not in out and max(map(len, out.splitlines())) <= 100
    assert re.search(r"^bytes +1 +2 +4 +16 +buffers$", out, re.M)
    assert re.search(r"^ +16 +S 17% +C 23% +C 23% +C 23%$", out, re.M)
    assert re.search(r"^16384 +S 17% +G 23% +G 23% +G 23%$", out, re.M)
    assert (
        "S separate (pwrite), G gather (pwritev), C copy, then write once (coalesce)"
        in out
    )


def test_ties_and_gaps_on_a_screen(crossover, rng):
    winners = {"16": LEVEL, "64": GATHER_OR_COALESCE, "256": (100, None, None)}
    times = by_size(winners, counts=(2, 4))
    times["1024", 2] = COALESCE
    _, out, _ = crossover(grid_run(times, rng))
    assert re.search(r"^ +16 +~|=  +", out, re.M)
    assert re.search(r"^ +64 +G[=~]C 29% +G[=~]C 29%$", out, re.M)
    assert re.search(r"^ 1024 +C 23% +\.$", out, re.M)
    assert "Missing: 1 cell without two ways to compare." in out
    assert " 256 " not in out


def test_many_counts_stand_in_several_blocks(crossover, rng):
    times = {("16", count): COALESCE for count in range(2, 32)}
    _, out, _ = crossover(grid_run(times, rng))
    assert max(map(len, out.splitlines())) <= 100
    assert out.count("bytes  ") >= 3 and out.count("C 23%") == 30


def test_json_is_one_strict_line(crossover, rng):
    def reject(constant):
        raise AssertionError(constant)

    status, out, err = crossover(grid_run(TYPICAL, rng), options=["--format=json"])
    assert (status, err, out.count("\n")) == (0, "", 1)
    document = json.loads(out, parse_constant=reject)
    (one,) = document["runs"][0]["maps"]
    assert document["format"] == "gatherbench-crossover"
    assert one["advice"]["text"].startswith("On ext4 here: one buffer: pwrite().")
    assert [
        (c["count_from"], c["count_to"], c["size_up_to"], c["strategy"])
        for c in one["advice"]["cases"]
    ] == [
        (1, 1, None, "pwrite"),
        (2, None, "512", "coalesce"),
        (2, None, None, "pwritev"),
    ]
    assert len(one["cells"]) == len(TYPICAL)
    assert {c["best"][0] for c in one["cells"]} == {"separate", "gather", "copy"}


def test_colours_are_for_terminals_and_only_repeat_the_letters(crossover, rng):
    _, plain, _ = crossover(grid_run(TYPICAL, rng))
    _, coloured, _ = crossover(grid_run(TYPICAL, rng), options=["--color=always"])
    assert "\x1b[30;42m" in coloured and "\x1b[30;43m" in coloured
    body = [line for line in plain.splitlines() if re.match(r" *\d+ ", line)]
    for line in body:
        assert line in [ANSI.sub("", c).rstrip() for c in coloured.splitlines()]


@pytest.mark.parametrize("no_color, expected", [(None, True), ("", True), ("1", False)])
def test_no_color(tmp_path, rng, no_color, expected):
    (path,) = write_files(tmp_path, "grid", [grid_run(TYPICAL, rng)])
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment["TERM"] = "xterm"
    if no_color is not None:
        environment["NO_COLOR"] = no_color
    try:
        master, slave = pty.openpty()
    except OSError as error:
        pytest.skip(f"there is no terminal to be had: {error}")
    process = subprocess.Popen(
        [sys.executable, SCRIPT, path], stdout=slave, env=environment
    )
    os.close(slave)
    out = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:
            break
        if not part:
            break
        out += part
    assert process.wait() == 0
    os.close(master)
    assert (b"\x1b[30;" in out) is expected


def test_failed_rows_are_listed_and_make_it_incomplete(crossover, rng):
    run = grid_run(TYPICAL, rng)
    lost = NAME.format("coalesce", "file", "none", 4, 16)
    run["benchmarks"] = [b for b in run["benchmarks"] if b["name"] != lost]
    run["benchmarks"].append(failed(lost, "write: No space \x1b[31m"))
    status, out, err = crossover(run)
    assert status == 1 and "failed: write: No space \\x1b[31m" in err
    assert "Missing: 1 cell with two of the three ways only." in out


@pytest.mark.parametrize(
    "content, status, text",
    [
        ("", 2, "the file is empty"),
        ('{"benchmarks": []}', 1, "no data"),
        (results(repetitions("BM_a", [1.0] * 10)), 1, "no map: it takes rows"),
        (
            results(repetitions(NAME.format("pwrite", "file", "none", 1, "x"), [1.0])),
            1,
            "no map",
        ),
    ],
)
def test_nothing_to_show(crossover, content, status, text):
    got, _, err = crossover(content)
    assert got == status and text in err and err.count("\n") == 1


def test_too_few_repetitions_are_said(crossover, rng):
    status, out, _ = crossover(grid_run(TYPICAL, rng, n=3))
    assert status == 0
    assert "16 cells with too few repetitions to tell anything" in out
    assert "this run cannot tell" in out


def test_an_unknown_order_is_said_and_gives_no_advice(crossover, rng):
    run = grid_run(TYPICAL, rng)
    for entry in run["benchmarks"]:
        del entry["start_s"]
    status, out, _ = crossover(run)
    assert "16 cells without a verdict: the file does not say in which order" in (
        " ".join(out.split())
    )
    assert "this run cannot tell" in out


def test_a_picture_has_the_cells_and_the_advice_of_the_text(crossover, rng, tmp_path):
    run, options = grid_run(TYPICAL, rng), ["--svg", str(tmp_path / "map.svg")]
    status, out, err = crossover(run, options=options)
    assert (status, err) == (0, "")
    first = (tmp_path / "map.svg").read_bytes()
    tree = ElementTree.fromstring(first)
    words = [e.text or "" for e in tree.iter("{http://www.w3.org/2000/svg}text")]
    body = [line for line in out.splitlines() if re.match(r" *\d+ ", line)]
    cells = [cell for line in body for cell in re.findall(r"[SGC][^ ]* +\d+%", line)]
    assert len(cells) == len(TYPICAL)
    assert [w for w in words if w.endswith("%") and w[0] in "SGC"] == cells
    assert "Which way wins on ext4" in words
    assert "On ext4 here: one buffer: pwrite()." in " ".join(words)
    crossover(run, options=options)
    assert (tmp_path / "map.svg").read_bytes() == first
    assert len(list(tmp_path.iterdir())) == 2  # no temporary file stays


def test_a_png_is_the_same_picture_in_light_colours(crossover, rng, tmp_path):
    pytest.importorskip("cairosvg")
    png = tmp_path / "map.png"
    status, _, err = crossover(grid_run(TYPICAL, rng), options=["--png", str(png)])
    assert (status, err) == (0, "")
    data = png.read_bytes()
    wide, tall = struct.unpack(">II", data[16:24])
    assert data.startswith(b"\x89PNG") and wide > 1000 and tall > 500
    assert "var(" not in light_rules() and "@media" not in light_rules()
    assert ".paper { fill: #ffffff; }" in light_rules()


def test_maps_without_room_in_a_picture_are_counted(
    crossover, rng, tmp_path, monkeypatch
):
    monkeypatch.setattr(picture, "MOST_CELLS", 20)
    groups = grid_rows(TYPICAL, rng) + grid_rows(TYPICAL, rng, target="null")
    svg = tmp_path / "map.svg"
    status, _, err = crossover(results(*groups), options=["--svg", str(svg)])
    assert status == 1 and err == f"crossover.py: {svg}: no room for 1 further maps\n"
    assert svg.read_text().count("Which way wins") == 1


def test_a_picture_that_cannot_be_written_is_one_line(crossover, rng, tmp_path):
    path = tmp_path / "none" / "map.svg"
    status, _, err = crossover(grid_run(TYPICAL, rng), options=["--svg", str(path)])
    assert status == 2 and err == f"crossover.py: {path}: No such file or directory\n"


def test_a_missing_cairosvg_is_named_and_svg_does_without(tmp_path, rng):
    (path,) = write_files(tmp_path, "grid", [grid_run(TYPICAL, rng)])
    gone = "raise ModuleNotFoundError('no', name='cairosvg')"
    (tmp_path / "cairosvg.py").write_text(gone)

    def draw(form):
        return subprocess.run(
            [sys.executable, SCRIPT, path, f"--{form}", str(tmp_path / f"a.{form}")],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
        )

    done = draw("png")
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "no cairosvg" in done.stderr and "python3-cairosvg" in done.stderr
    assert "On ext4 here" in done.stdout
    assert draw("svg").returncode == 0 and (tmp_path / "a.svg").exists()
