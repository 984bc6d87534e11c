"""Crossover maps: the cells' verdicts, the advice derived from them, and how both are shown."""

import json
import os
import pty
import re
import subprocess
import sys

import pytest
from conftest import RESULTS, runner, write_files
from gatherstats.crossover.advice import advise
from gatherstats.crossover.advice_text import advice_text, size_text, worth_text
from gatherstats.crossover.map import Way, bytes_of, make_maps
from gatherstats.data.reader import load
from gatherstats.stats.samples import measure
from gatherstats.stats.verdict import Outcome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made import failed, repetitions, results
from made_maps import (
    COPY,
    GATHER,
    GATHER_OR_COPY,
    LEVEL,
    NAME,
    SEPARATE,
    by_size,
    grid_rows,
    grid_run,
)

from commands import crossover as script

SCRIPT = str(RESULTS / "crossover.py")
ANSI = re.compile(r"\x1b\[[0-9;]*m")
TYPICAL = by_size({"16": COPY, "512": COPY, "1024": GATHER, "16384": GATHER})


@pytest.fixture
def crossover(tmp_path, capsys):
    return runner(script.main, tmp_path, capsys)


@pytest.fixture
def maps_of(tmp_path):
    def make(document, threshold=0.01):
        (path,) = write_files(tmp_path, "grid", [document])
        run = load(path)
        return run, make_maps(run, measure(run.rows)[0], threshold)

    return make


@pytest.fixture
def advised(maps_of):
    """The text of the advice on the only map of these times."""

    def make(times, rng, **options):
        run, maps = maps_of(grid_run(times, rng, **options))
        (one,) = maps.maps
        return advice_text(advise(one), one, run)

    return make


def test_a_picture_does_not_replace_a_results_file(tmp_path, capsys):
    path = tmp_path / "run.json"
    path.write_text("{}")
    for option in ("--svg", "--png"):
        assert script.main([str(path), option, str(path)]) == 2
        assert "one of the files that are read" in capsys.readouterr().err
    assert path.read_text() == "{}"


def test_a_cell_names_who_surely_wins_and_by_how_much(maps_of, rng):
    times = {("64", 2): (200, 100, 150), ("64", 4): (100, 100, 300)}
    _, maps = maps_of(grid_run(times, rng))
    (one,) = maps.maps
    winner, shared = one.cells["64", 2], one.cells["64", 4]
    assert winner.best == [Way.GATHER] and winner.next_best is Way.COPY
    assert winner.saved == pytest.approx(1 / 3, abs=0.01)
    assert winner.ratio(Way.GATHER, Way.SEPARATE) == pytest.approx(0.5, abs=0.01)
    assert winner.ratio(Way.SEPARATE, Way.GATHER) == pytest.approx(2, abs=0.02)
    assert shared.best == [Way.SEPARATE, Way.GATHER] and shared.is_same
    assert shared.saved == pytest.approx(2 / 3, abs=0.01)
    assert winner.loss(Way.GATHER) == shared.loss(Way.GATHER) == 0


def test_medians_that_differ_without_evidence_are_no_win(maps_of):
    spread = [80.0 + 4 * i for i in range(11)]
    rows = [
        repetitions(NAME.format(s, "file", "none", n, 64), [t * f for t in spread])
        for n in (2, 4)
        for s, f in (("pwrite", 1.05), ("pwritev", 1.0), ("coalesce", 1.03))
    ]
    _, maps = maps_of(results(*rows))
    cell = maps.maps[0].cells["64", 2]
    assert cell.best == list(Way) and cell.saved is None and not cell.is_same
    assert cell.leader is Way.GATHER


def test_the_correction_is_over_the_map(maps_of, rng):
    # One cell among many level ones: its p of ten repetitions is 1.1e-5 before the correction.
    times = {(str(size), count): LEVEL for size in range(1, 8) for count in range(2, 9)}
    times["1", 2] = (100, 120, 130)
    _, maps = maps_of(grid_run(times, rng))
    verdicts = [v for c in maps.maps[0].cells.values() for v in c.verdicts.values()]
    clear = maps.maps[0].cells["1", 2].verdicts[Way.SEPARATE, Way.COPY]
    assert clear.effect.p == pytest.approx(1.1e-5, rel=0.02)
    assert clear.outcome is Outcome.SLOWER
    assert clear.p_corrected == pytest.approx(
        clear.effect.p * len(verdicts) / 3, rel=0.1
    )


def test_each_target_and_durability_has_its_own_map(maps_of, rng):
    groups = grid_rows(TYPICAL, rng) + grid_rows(TYPICAL, rng, target="null")
    groups += grid_rows(TYPICAL, rng, sync="fdatasync")
    run, maps = maps_of(results(*groups, filesystem="xfs"))
    starts = [advice_text(advise(m), m, run).partition(" here")[0] for m in maps.maps]
    assert starts == ["On xfs", "On /dev/null", "On xfs with fdatasync"]


def test_other_strategies_have_no_place_in_a_map(maps_of, rng):
    groups = grid_rows(TYPICAL, rng)
    groups.append(repetitions(NAME.format("stdio", "file", "none", 2, 16), [1.0] * 10))
    groups.append(repetitions("BM_foreign/2", [1.0] * 10))
    groups.append(repetitions(NAME.format("write", "file", "none", 2, 16), [1.0] * 10))
    _, maps = maps_of(results(*groups))
    (one,) = maps.maps
    assert set(one.strategies.values()) == {"pwrite", "pwritev", "coalesce"}
    assert one.missing == ["1 of write, for which pwrite stands"]


@pytest.mark.parametrize(
    "winners, expected",
    [
        (
            {"16": COPY, "512": COPY, "1024": GATHER, "16384": GATHER},
            "one buffer: pwrite(). Up to 512 bytes a buffer: copy and write once. Above:"
            " pwritev().",
        ),
        (
            {
                "16": COPY,
                "1024": GATHER,
                "16384": (102, 100, 140),
                "65536": (102, 100, 150),
            },
            "one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once. Above:"
            " pwritev(). From 16 KiB it makes less than 5 % either way,"
            " pwritev() or pwrite().",
        ),
        (
            {"16": GATHER, "512": GATHER},
            "one buffer: pwrite(). Several buffers: pwritev().",
        ),
        (
            {"16": COPY, "512": GATHER, "16000": SEPARATE},
            "one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once. Up to 512 bytes"
            " a buffer: pwritev(). Above: pwrite().",
        ),
        # A tie belongs to the simpler way: copying is advised only where it surely wins.
        (
            {"16": COPY, "64": GATHER_OR_COPY, "512": GATHER},
            "one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once. Above:"
            " pwritev().",
        ),
        (
            {"16": GATHER, "64": GATHER_OR_COPY, "512": COPY},
            "one buffer: pwrite(). Up to 64 bytes a buffer: pwritev(). Above: copy and write"
            " once.",
        ),
        # A gap: nothing is known of copying at 64 bytes.
        (
            {"16": COPY, "64": (140, 100, None), "512": GATHER},
            "one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once. Above:"
            " pwritev().",
        ),
    ],
)
def test_the_advice_on_grids_with_known_answers(advised, rng, winners, expected):
    text = advised(by_size(winners), rng)
    assert text == f"On ext4 here: {expected}"


def test_the_advice_may_depend_on_the_count(advised, rng):
    times = {
        (s, c): COPY if c <= 4 else GATHER for s in ("16", "64") for c in (2, 4, 8, 16)
    }
    assert advised(times, rng) == (
        "On ext4 here: 2 to 4 buffers: copy and write once. More than 4 buffers: pwritev()."
    )
    for size in ("256", "1024"):
        times |= {(size, count): GATHER for count in (2, 4, 8, 16)}
    assert advised(times, rng) == (
        "On ext4 here: 2 to 4 buffers: up to 64 bytes a buffer: copy and write once; above:"
        " pwritev(). More than 4 buffers: pwritev()."
    )


def test_a_way_that_few_cells_know_is_not_advised(advised, rng):
    times = {("16", count): (140, 100, None) for count in (2, 4, 8, 16)}
    times["16", 2] = (140, 102, 100)
    assert advised(times, rng) == "On ext4 here: several buffers: pwritev()."


def test_one_buffer_does_not_tell_where_several_hardly_matter(advised, rng):
    times = by_size({"16": GATHER, "64": (102, 100, 140)}, counts=(1, 2))
    assert advised(times, rng).endswith(
        "From 64 bytes it makes less than 5 % either way, pwritev() or pwrite()."
    )


def test_one_odd_cell_is_no_further_case(advised, rng):
    times = by_size({str(16 << i): GATHER for i in range(8)}, counts=(2, 4, 8, 16))
    times["16", 2] = (200, 104, 100)  # 4 % of one cell in 32 are not worth a case
    assert advised(times, rng) == "On ext4 here: several buffers: pwritev()."


def test_all_ties(advised, rng):
    level = by_size({"16": LEVEL, "64": LEVEL}, single=LEVEL)
    assert advised(level, rng) == (
        "On ext4 here all ways take the same time: pwrite() is the simplest."
    )
    assert advised(level, rng, scatter=0.3) == (
        "On ext4 here this run cannot tell which way is faster: pwrite() is the simplest."
    )
    partly = by_size({"16": LEVEL, "64": LEVEL}, single=(100, 150, 150))
    assert "Several buffers: pwrite(), as nothing is known to beat it." in advised(
        partly, rng
    )


def test_two_ways_are_enough_and_what_is_missing_is_said(maps_of, rng):
    times = {key: (a, b, None) for key, (a, b, _) in TYPICAL.items()}
    del times["16", 4]
    run, maps = maps_of(grid_run(times, rng))
    (one,) = maps.maps
    assert one.missing == [
        "no rows of coalesce (copy)",
        "1 cell without two ways to compare",
    ]
    assert "copy" not in advice_text(advise(one), one, run)


def test_what_the_advice_costs_is_known(maps_of, rng):
    times = by_size({str(16 << i): GATHER for i in range(8)}, counts=(2, 4, 8, 16))
    times["16", 2] = (200, 104, 100)
    _, maps = maps_of(grid_run(times, rng))
    advice = advise(maps.maps[0])
    assert advice.worst_loss == pytest.approx(0.04, abs=0.005)
    assert advice.mean_loss == pytest.approx(0.04 / 32, rel=0.15)
    assert re.fullmatch(
        r"Against the best .* loses 0\.1\d % .* [34]\.\d+ % at worst\.",
        worth_text(advice),
    )


cells = st.sampled_from(
    [SEPARATE, GATHER, COPY, GATHER_OR_COPY, LEVEL, (140, 100, None), None]
)


@settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=6))
def test_any_advice_covers_every_cell_and_names_measured_ways(maps_of, rng, grid):
    times = {
        (str(16 << i), count): cell
        for i, row in enumerate(grid)
        for count, cell in zip((1, 2, 8), row)
        if cell
    }
    if not times:
        return
    run, maps = maps_of(grid_run(times, rng))
    for one in maps.maps:
        advice = advise(one)
        several = [case for case in advice.cases if case.fewest > 1]
        assert len(several) <= 3
        for (size, count), cell in one.cells.items():
            way = advice.way_for(count, size, one.sizes)
            assert way in one.strategies and cell.best
        assert advice_text(advice, one, run).endswith(".")
        # No single way for several buffers is better than the rule, which may have more cases.
        if several:
            for way in one.strategies:
                losses = [c.loss(way) for c in one.cells.values() if c.count > 1]
                followed = [
                    c.loss(advice.way_for(c.count, c.size, one.sizes))
                    for c in one.cells.values()
                    if c.count > 1
                ]
                if None not in losses + followed:
                    assert sum(followed) <= sum(losses) + 1e-9


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
    winners = {"16": LEVEL, "64": GATHER_OR_COPY, "256": (100, None, None)}
    times = by_size(winners, counts=(2, 4))
    times["1024", 2] = COPY
    _, out, _ = crossover(grid_run(times, rng))
    assert re.search(r"^ +16 +~|=  +", out, re.M)
    assert re.search(r"^ +64 +G[=~]C 29% +G[=~]C 29%$", out, re.M)
    assert re.search(r"^ 1024 +C 23% +\.$", out, re.M)
    assert "Missing: 1 cell without two ways to compare." in out
    assert " 256 " not in out


def test_many_counts_stand_in_several_blocks(crossover, rng):
    times = {("16", count): COPY for count in range(2, 32)}
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


def test_pictures(crossover, rng, tmp_path):
    svg, png = tmp_path / "map.svg", tmp_path / "map.png"
    options = ["--svg", str(svg), "--png", str(png)]
    status, _, err = crossover(grid_run(TYPICAL, rng), options=options)
    assert (status, err) == (0, "")
    assert png.read_bytes().startswith(b"\x89PNG")
    first = svg.read_bytes()
    assert b"<title>" in first or b"dc:title" in first
    crossover(grid_run(TYPICAL, rng), options=options[:2])
    assert len(list(tmp_path.iterdir())) == 3  # no temporary file stays


def test_maps_without_room_in_a_picture_are_counted(
    crossover, rng, tmp_path, monkeypatch
):
    from gatherstats.crossover import picture as crossover_plot

    monkeypatch.setattr(crossover_plot, "MOST_CELLS", 20)
    groups = grid_rows(TYPICAL, rng) + grid_rows(TYPICAL, rng, target="null")
    png = tmp_path / "map.png"
    status, _, err = crossover(results(*groups), options=["--png", str(png)])
    assert status == 1 and err == f"crossover.py: {png}: no room for 1 further maps\n"
    assert png.exists()


def test_a_picture_that_cannot_be_written_is_one_line(crossover, rng, tmp_path):
    path = tmp_path / "none" / "map.svg"
    status, _, err = crossover(grid_run(TYPICAL, rng), options=["--svg", str(path)])
    assert status == 2 and err == f"crossover.py: {path}: No such file or directory\n"


def test_missing_matplotlib_is_named(tmp_path, rng):
    (path,) = write_files(tmp_path, "grid", [grid_run(TYPICAL, rng)])
    gone = "raise ModuleNotFoundError('no', name='matplotlib')"
    (tmp_path / "matplotlib.py").write_text(gone)
    done = subprocess.run(
        [sys.executable, SCRIPT, path, "--svg", str(tmp_path / "a.svg")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "no matplotlib" in done.stderr and "python3-matplotlib" in done.stderr
    assert "On ext4 here" in done.stdout


@pytest.mark.parametrize(
    "size, number, text",
    [
        ("512", 512, "512 bytes"),
        ("16384", 16384, "16 KiB"),
        ("16000", 16000, "16,000 bytes"),
        ("1048576", 1048576, "1 MiB"),
        ("24+1000", 512, "24+1000 bytes"),
        ("x", None, "x bytes"),
        ("", None, " bytes"),
    ],
)
def test_sizes(size, number, text):
    assert bytes_of(size) == number and size_text(size) == text
