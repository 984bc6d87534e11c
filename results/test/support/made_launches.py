"""Makes launches for compare.py to compare, and reads the JSON that it prints."""

from __future__ import annotations

import json

from gatherstats.compare.data import KEYS, PAIR_KEYS
from made import repetitions, results


OP = "op/strategy:{}/target:null/sync:none/count:{}/size:512/real_time"


def row(name, median, rng, n=20, scatter=0.005, **extra):
    return repetitions(name, list(median * rng.lognormal(0, scatter, n)), **extra)


def run_of(rng, n=20, scatter=0.005, context=None, **medians):
    rows = [row(name, median, rng, n, scatter) for name, median in medians.items()]
    return results(*rows, **(context or {}))


def in_turn(old, new):
    """The same launches, of which one of each started every minute."""
    for side, second in ((old, 0), (new, 30)):
        for minute, launch in enumerate(side):
            date = f"2026-12-01T10:{minute:02}:{second:02}+00:00"
            launch["context"]["date"] = date
    return {"old": old, "new": new}


def alternating(rng, old, new, count=8, **options):
    """So many launches of each in turn, by their rows' medians."""
    sides = [
        [run_of(rng, **options, **medians) for _ in range(count)]
        for medians in (old, new)
    ]
    return in_turn(*sides)


def launches(rng, median, count, spread=0.01, **context):
    """Each launch has a median of its own, from which its repetitions hardly differ."""
    return [
        run_of(rng, context=context, n=10, scatter=1e-4, a=m)
        for m in median * rng.lognormal(0, spread, count)
    ]


def flat(text):
    return " ".join(text.split())


def as_data(compare, *contents, options=(), **sides):
    """The JSON that compare.py prints; it must be strict."""
    status, out, err = compare(*contents, options=["--format=json", *options], **sides)
    assert err == ""

    def never(token):
        raise AssertionError(f"{token} is not strict JSON")

    document = json.loads(out, parse_constant=never)
    assert document["exit_status"] == status
    assert list(document) == list(KEYS)
    assert all(list(pair) == list(PAIR_KEYS) for pair in document["pairs"])
    return document


def verdicts(document):
    return {pair["name"]: pair["verdict"] for pair in document["pairs"]}
