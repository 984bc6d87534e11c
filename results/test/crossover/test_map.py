"""Crossover maps: the verdicts of their cells, and which rows stand in one."""

import pytest
from gatherstats.crossover.advice import advise
from gatherstats.crossover.advice_words import advice_text
from gatherstats.crossover.map import Way
from gatherstats.stats.verdict import Outcome
from made import repetitions, results
from made_maps import LEVEL, NAME, TYPICAL, grid_rows, grid_run


def test_a_cell_names_who_surely_wins_and_by_how_much(maps_of, rng):
    times = {("64", 2): (200, 100, 150), ("64", 4): (100, 100, 300)}
    _, maps = maps_of(grid_run(times, rng))
    (one,) = maps.maps
    winner, shared = one.cells["64", 2], one.cells["64", 4]
    assert winner.best == [Way.GATHER] and winner.next_best is Way.COALESCE
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
    clear = maps.maps[0].cells["1", 2].verdicts[Way.SEPARATE, Way.COALESCE]
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
