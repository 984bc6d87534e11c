"""Makes hostile results files: the content of real ones, changed at random."""

from __future__ import annotations

import copy
import gzip
import json

import numpy as np
from hypothesis import strategies as st
from made import aggregates, blog_run, failed, repetitions, results
from made_account import account_run
from made_maps import COALESCE, GATHER, LEVEL, SEPARATE, by_size, grid_run
from made_report import EVIL, latency_run

NAMES = (
    "op/strategy:{}/target:null/sync:none/count:{}/size:{}/real_time",
    "file/strategy:{}/target:file/sync:none/file_bytes:{}/count:4/size:{}/real_time",
)
STARTS = {"start_s": [float(i) for i in range(20)]}


def _documents():
    """Small files of every kind that the scripts read."""
    rng = np.random.default_rng(7)
    times = by_size(
        {"16": COALESCE, "512": GATHER, "4096": SEPARATE, "65536": LEVEL}, (1, 4)
    )
    slower = [
        repetitions(
            NAMES[1].format("pwrite", size, 16000),
            list(rng.lognormal(0, 0.01, 20)),
            **STARTS,
        )
        for size in (100_000_000, 101_000_000, 102_000_000, 105_000_000)
    ]
    claimed = [
        repetitions(
            NAMES[0].format(strategy, count, size), list(rng.lognormal(0, 0.01, 6))
        )
        for strategy in ("write", "writev", "coalesce")
        for count, size in ((256, 16), (8, 64), (9, 64), (1, 64), (10, 5))
    ]
    return [
        account_run(rng, n=6, filesystem="ext4", refused="op/x: no\nop/y: no"),
        blog_run({"pwrite": 42, "pwritev": 31}, rng, n=5),
        grid_run(times, rng, n=5),
        latency_run(rng),
        results(*slower),
        results(*claimed),
        results(
            aggregates("BM_a", 10, mean=10.0, median=9.0, stddev=1.0, cv=0.1),
            aggregates("BM_b", 10, mean=20.0, median=19.0, stddev=1.0),
            repetitions("BM_c", [1.0, 2.0]),
            [failed("BM_d")],
        ),
    ]


DOCUMENTS = _documents()

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    0.5,
    -0.0,
    1e-320,
    5e-324,
    1e-9,
    1e15,
    1e154,
    1e308,
    -1e308,
    2**31,
    2**63,
    2**64,
]
NUMBERS += [
    10**40,
    10**308,
    10**400,
    -(10**400),
    float("nan"),
    float("inf"),
    -float("inf"),
]
TEXTS = [
    "",
    " ",
    "\n",
    "\0",
    "\ud800",
    "\udc9b",
    EVIL,
    EVIL + "/" + EVIL,
    "|`*_[x](javascript:y)#",
    "=1+1",
    "%s%d{}",
]
TEXTS += [
    "a" * 3000,
    "/" * 500,
    ":",
    "op",
    "op/strategy:pwrite",
    "op/strategy:/size:/count:",
    "-1",
    "1e999",
    "NaN",
]
TEXTS += [
    "9" * 400,
    "9" * 5000,
    "\u0665",
    "\u00b2",
    "1_0",
    "0x10",
    "ns",
    "s",
    "aggregate",
    "median",
    "1+" * 300 + "1",
]
NAME_VALUES = [
    "",
    "0",
    "-1",
    "00",
    "1e3",
    "4k",
    "9" * 30,
    "9" * 5000,
    "\u0665",
    "24+4096",
    "+",
    "0+0",
    "x",
    EVIL,
]
DEEP = json.loads("[" * 300 + "]" * 300)

values = st.one_of(
    st.sampled_from([None, True, False, [], {}, [[]], [{}], {"a": 1}, [1, None], DEEP]),
    st.sampled_from(NUMBERS),
    st.sampled_from(TEXTS),
    st.floats(),
    st.integers(),
    st.text(max_size=20),
)


@st.composite
def documents(draw, *originals):
    """One of the originals with up to five changes."""
    document = {"root": copy.deepcopy(draw(st.sampled_from(originals)))}
    for _ in range(draw(st.integers(1, 5))):
        _change(draw, document)
    return document["root"]


def _change(draw, root):
    """Change one value, key, or the length of a list, somewhere below `root`."""
    parent, key = root, "root"
    while isinstance(parent[key], (dict, list)) and parent[key]:
        if parent is not root and not draw(st.integers(0, 24)):
            break
        parent = parent[key]
        keys = list(parent) if isinstance(parent, dict) else range(len(parent))
        key = draw(
            st.sampled_from(
                [*keys, *(["benchmarks"] * 20 if "benchmarks" in keys else [])]
            )
        )
    kind = draw(
        st.sampled_from(
            ["value"] * 5
            + ["name"] * 3
            + ["gone", "twice", "key", "everywhere", "more"]
        )
    )
    if kind == "name" and isinstance(parent[key], str) and ":" in parent[key]:
        _rename(draw, root, parent[key])
    elif kind == "gone":
        del parent[key]
        root.setdefault("root", None)
    elif kind == "twice" and isinstance(parent, list):
        parent.append(copy.deepcopy(parent[key]))
    elif kind == "more" and isinstance(parent, dict):
        parent[draw(st.sampled_from(TEXTS[:12]))] = draw(values)
    elif kind == "key" and isinstance(parent, dict) and parent is not root:
        parent[draw(st.sampled_from([*parent, *TEXTS]))] = parent.pop(key)
    elif kind == "everywhere" and isinstance(key, str):
        value = draw(values)
        for entry in _dicts(root["root"]):
            if key in entry:
                entry[key] = value
    else:
        parent[key] = draw(values)


def _rename(draw, root, name):
    """Change one component of a row's name wherever it stands, or of all names."""
    key = draw(st.sampled_from(name.split("/"))).partition(":")[0]
    value = draw(st.sampled_from(NAME_VALUES))
    all_names = draw(st.booleans())
    for entry in _dicts(root["root"]):
        for field in ("name", "run_name"):
            text = entry.get(field)
            if isinstance(text, str) and (all_names or text == name):
                parts = [
                    f"{key}:{value}" if p.partition(":")[0] == key else p
                    for p in text.split("/")
                ]
                entry[field] = "/".join(parts)


def _dicts(value):
    """All objects that are in the lists and objects of `value`, itself included."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


@st.composite
def files(draw, *originals):
    """The bytes of a file: a document of the originals (or DOCUMENTS), changed.

    At times bytes are changed too, or cut, or compressed.
    """
    data = encode(draw(documents(*(originals or DOCUMENTS))))
    for _ in range(draw(st.sampled_from([0] * 20 + [1, 3]))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["cut", "flip", "put", "out"]))
        if kind == "cut":
            data = data[:at]
        elif kind == "flip" and at < len(data):
            data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
        elif kind == "put":
            put = draw(
                st.sampled_from(
                    [
                        b"\xff",
                        b"[" * 5000,
                        b"9" * 5000,
                        b'{"a":',
                        b"\x00",
                        b"1e999",
                        b"\\ud800",
                        b",",
                    ]
                )
            )
            data = data[:at] + put + data[at:]
        else:
            data = data[:at] + data[at + draw(st.integers(1, 50)) :]
    if not draw(st.integers(0, 19)):
        data = gzip.compress(data, 1, mtime=0)
        data = data[: len(data) - draw(st.sampled_from([0, 0, 0, 1, 20]))]
    return data


def encode(document):
    return json.dumps(document, ensure_ascii=True).encode()
