"""Gives crossover maps and their advice to programs, as a line of JSON."""

from __future__ import annotations

from collections.abc import Sequence

from gatherstats.crossover.advice import Advice, MapsWithAdvice
from gatherstats.crossover.advice_words import advice_text
from gatherstats.crossover.map import Map
from gatherstats.crossover.saving import NEW, REPLACING, SAFE, Case, time_of
from gatherstats.crossover.saving_words import case_advice, crash
from gatherstats.data.environment import describe
from gatherstats.data.rows import Run, phases
from gatherstats.text.strict_json import dumps

FORMAT = "gatherbench-crossover"
SAVING_FORMAT = "gatherbench-saving"
VERSION = 1


def as_json(shown: list[MapsWithAdvice]) -> str:
    """Format all maps' advice and cells as one line of strict JSON. Keys are only ever added."""
    runs = [
        {
            "path": one.run.path,
            "environment": dict(describe(one.run)),
            "maps": [
                _map_json(crossover, advice, one.run)
                for crossover, advice in zip(one.maps.maps, one.advice)
            ],
            "problems": one.maps.problems,
        }
        for one in shown
    ]
    return dumps({"format": FORMAT, "version": VERSION, "runs": runs})


def saving_json(runs: Sequence[tuple[Run, Sequence[Case]]]) -> str:
    """Format the ways of saving a file as one line of strict JSON. Times in seconds; keys are
    only ever added."""
    cases_json = [
        {
            "path": run.path,
            "environment": dict(describe(run)),
            "cases": [_case_json(case, run) for case in cases],
        }
        for run, cases in runs
    ]
    return dumps({"format": SAVING_FORMAT, "version": VERSION, "runs": cases_json})


def _case_json(case: Case, run: Run) -> dict[str, object]:
    return {
        "file_bytes": case.length,
        "sync": case.sync,
        "keys": {"scope": case.name.scope, **case.name.keys},
        "advice": case_advice(case, run),
        "rows": [
            {
                "create": create,
                "way": way.value,
                "strategy": one.row.name.keys["strategy"],
                "time_s": time_of(one).time_s,
                "low_s": time_of(one).low_s,
                "high_s": time_of(one).high_s,
                "phases_s": phases(one.row),
                "crash": crash(create, case.sync, run) if create in REPLACING else None,
            }
            for (create, way), one in case.rows.items()
        ],
        "against": {
            create: {
                "base": SAFE if create in REPLACING else NEW[0],
                "verdict": verdict.outcome.value,
                "ratio": verdict.effect.ratio,
                "low": verdict.effect.low,
                "high": verdict.effect.high,
            }
            for create, verdict in case.against.items()
        },
    }


def _map_json(crossover: Map, advice: Advice, run: Run) -> dict[str, object]:
    return {
        "title": crossover.title,
        "keys": {"scope": crossover.scope, **crossover.keys},
        "strategies": {way.value: s for way, s in crossover.strategies.items()},
        "advice": {
            "text": advice_text(advice, crossover, run),
            "cases": [
                {
                    "count_from": case.fewest,
                    "count_to": case.most,
                    "size_above": case.above,
                    "size_up_to": case.up_to,
                    "way": case.way.value,
                    "strategy": crossover.strategies[case.way],
                    "clear": case.clear,
                }
                for case in advice.cases
            ],
            "small_from": advice.small_from,
            "mean_loss": advice.mean_loss,
            "worst_loss": advice.worst_loss,
        },
        "cells": [
            {
                "count": cell.count,
                "size": cell.size,
                "best": [way.value for way in cell.best],
                "same": cell.is_same,
                "saved": cell.saved,
            }
            for cell in crossover.cells.values()
        ],
        "missing": crossover.missing,
    }
