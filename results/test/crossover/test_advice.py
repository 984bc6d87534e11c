"""The advice of a map: its cases, its cost, and its words."""

import re

import pytest
from gatherstats.crossover.advice import advise
from gatherstats.crossover.advice_words import advice_text, size_text, worth_text
from gatherstats.crossover.map import bytes_of
from hypothesis import HealthCheck, given, settings, strategies as st
from made_maps import (
    COALESCE,
    GATHER,
    GATHER_OR_COALESCE,
    LEVEL,
    SEPARATE,
    TYPICAL,
    by_size,
    grid_run,
)


@pytest.fixture
def advised(maps_of):
    """The text of the advice on the only map of these times."""

    def make(times, rng, **options):
        run, maps = maps_of(grid_run(times, rng, **options))
        (one,) = maps.maps
        return advice_text(advise(one), one, run)

    return make


@pytest.mark.parametrize(
    "winners, expected",
    [
        (
            {"16": COALESCE, "512": COALESCE, "1024": GATHER, "16384": GATHER},
            "one buffer: pwrite(). Up to 512 bytes a buffer: copy and write once. Above:"
            " pwritev().",
        ),
        (
            {
                "16": COALESCE,
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
            {"16": COALESCE, "512": GATHER, "16000": SEPARATE},
            "one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once. Up to 512 bytes"
            " a buffer: pwritev(). Above: pwrite().",
        ),
        # A tie belongs to the simpler way: copying is advised only where it surely wins.
        (
            {"16": COALESCE, "64": GATHER_OR_COALESCE, "512": GATHER},
            "one buffer: pwrite(). Up to 16 bytes a buffer: copy and write once. Above:"
            " pwritev().",
        ),
        (
            {"16": GATHER, "64": GATHER_OR_COALESCE, "512": COALESCE},
            "one buffer: pwrite(). Up to 64 bytes a buffer: pwritev(). Above: copy and write"
            " once.",
        ),
        # A gap: nothing is known of copying at 64 bytes.
        (
            {"16": COALESCE, "64": (140, 100, None), "512": GATHER},
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
        (s, c): COALESCE if c <= 4 else GATHER
        for s in ("16", "64")
        for c in (2, 4, 8, 16)
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
    [SEPARATE, GATHER, COALESCE, GATHER_OR_COALESCE, LEVEL, (140, 100, None), None]
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
