"""Gives crossover maps and their advice to programs, as a line of JSON."""

from __future__ import annotations

from gatherstats.crossover.advice import Advice, MapsWithAdvice
from gatherstats.crossover.advice_words import advice_text
from gatherstats.crossover.map import Map
from gatherstats.data.environment import describe
from gatherstats.data.rows import Run
from gatherstats.text.strict_json import dumps

FORMAT = "gatherbench-crossover"
VERSION = 1


def as_json(shown: list[MapsWithAdvice]) -> str:
    """All maps' advice and cells, in one line of strict JSON. Keys are only ever added."""
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
