"""Hooks for a conftest.py: a run of pytest in which all was skipped, and one that has a budget of time."""

import os
import random
import time

import pytest

SKIPPED = 77  # as for Automake

BUDGET_S = float(os.environ.get("GATHERBENCH_BUDGET_S", "inf"))
"""Seconds after which no further test begins. The others say so, and with their number how much was covered."""

_begin = time.monotonic()


def pytest_sessionfinish(session: pytest.Session) -> None:
    # pytest itself would call it passed.
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.exitstatus == 0:
        stats = reporter.stats
        if stats.get("skipped") and not stats.get("passed"):
            session.exitstatus = SKIPPED


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # What a budget leaves out is then of every kind.
    if BUDGET_S < float("inf"):
        random.Random(0).shuffle(items)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if time.monotonic() - _begin > BUDGET_S:
        pytest.skip(f"the budget of {BUDGET_S:.0f} s is used up")
