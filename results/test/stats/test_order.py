"""The check for a random order of two rows' repetitions."""

import math

import numpy as np
import pytest
from gatherstats.data.names import parse_name
from gatherstats.data.rows import Row
from gatherstats.stats.drift import remove_drift
from gatherstats.stats.order import (
    NOT_RANDOM,
    OTHER_RUN,
    UNKNOWN,
    in_rounds,
    order_problem,
    runs_may_be_random,
    takes_turns,
)
from gatherstats.stats.repetitions import Repetitions


def rows_in(order, rounds=None):
    """Repetitions of rows "A", "B", ... that ran in this order."""
    result = []
    for name in "AB":
        starts = np.array([i for i, c in enumerate(order) if c == name], dtype=float)
        counters = {} if rounds is None else {"round": starts // rounds}
        result.append(
            Row(parse_name(name), np.ones(starts.size), starts, counters=counters)
        )
    return remove_drift(result)[0]


@pytest.mark.parametrize(
    "order",
    ["A" * 5 + "B" * 5, "A" * 20 + "B" * 20, "AB" * 20, "A" * 19 + "B" * 20 + "A"]
    + ["ABBA" * 20, "AB" * 5],
)
def test_orders_that_are_not_of_chance(order):
    if order.startswith("ABBA"):  # which a runs test takes for random
        assert order_problem(*rows_in(order)) == ""
    else:
        assert order_problem(*rows_in(order)) == NOT_RANDOM


@pytest.mark.parametrize("n, most", [(8, 0.005), (30, 0.004)])
def test_orders_of_chance_are_taken_for_such(n, most, rng):
    orders = ["".join(rng.permutation(list("AB" * n))) for _ in range(1500)]
    refused = sum(order_problem(*rows_in(order)) != "" for order in orders)
    assert refused <= most * 1500


def test_what_is_not_known_and_what_is_of_two_runs():
    base, other = rows_in("ABBAABAB"), rows_in("ABBAABAB")
    assert order_problem(base[0], other[1]) == OTHER_RUN
    assert order_problem(Repetitions(np.ones(4)), base[1]) == UNKNOWN


def test_rounds_are_known_by_their_numbers(rng):
    order = "".join("AB" if first else "BA" for first in rng.random(12) < 0.5)
    rows = rows_in(order, rounds=2)
    assert in_rounds(*rows) and order_problem(*rows) == ""
    assert not in_rounds(*rows_in(order))
    # The same order in each round is not random.
    assert order_problem(*rows_in("AB" * 12, rounds=2)) == NOT_RANDOM
    # A round with two of one row is none.
    assert not in_rounds(*rows_in("AABB" * 3, rounds=2))


def test_the_distribution_of_runs_is_that_of_all_orders():
    """Of 8 and 8 things: by the formula of Wald and Wolfowitz."""
    whole = math.comb(16, 8)
    exact = {}
    for runs in range(2, 17):
        k, odd = divmod(runs, 2)
        ways = 2 * math.comb(7, k - 1) * math.comb(7, k if odd else k - 1)
        exact[runs] = ways / whole
    assert sum(exact.values()) == pytest.approx(1)
    refused = sum(p for runs, p in exact.items() if not runs_may_be_random(runs, 8, 8))
    assert refused < 0.002
    no_turns = sum(p for runs, p in exact.items() if not takes_turns(runs, 8, 8))
    assert 0.002 < no_turns < 0.06


def test_sides_take_turns_or_run_in_blocks():
    assert takes_turns(8, 4, 4) and takes_turns(5, 4, 4) and not takes_turns(2, 4, 4)
    assert takes_turns(11, 10, 10) and not takes_turns(4, 10, 10)
    assert not takes_turns(1, 4, 0)
