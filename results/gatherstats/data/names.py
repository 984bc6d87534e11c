"""Reads the names of benchmark rows: the Python counterpart of the name format of csrc/plan.c.

A name of this suite is a scope and then key:value components, for example
`op/strategy:writev/target:file/sync:none/count:4/size:16000/real_time`. The last components are
Google Benchmark's own. Any other name is kept as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_SCOPES = ("op", "file")

# Keys that all rows of this suite have. They identify a row of an unknown scope.
_KEYS_OF_ALL = {"strategy", "target", "sync", "count", "size"}

LATER_KEYS = ("buffers", "verify", "cpu")
"""Keys that the names of older files lack: without them such a name means the same row."""

# The way of creating a file that names leave out.
_CREATED_AS = "new"

# Ways of creating a file that leave it, whether the name says so or not.
_KEPT_ANYWAY = ("truncate", "overwrite", "settle", "unlink", "rename")

# Names with more components are not of this suite; its longest have about fifteen.
_MOST_COMPONENTS = 40

# What Google Benchmark appends to a name (BenchmarkName::str in its benchmark_name.cc).
_SUFFIX = re.compile(
    r"(?:min_time|min_warmup_time|iterations|repeats|threads):[^/]*|process_time|manual_time|real_time"
)


@dataclass(frozen=True)
class RowName:
    """A row's name in its parts.

    text: the whole name, as in the file.
    scope: "op" or "file" for a row of this suite, otherwise None.
    keys: the key:value components in their order, as a dictionary; empty for other suites' rows.
    suffixes: Google Benchmark's components at the end, in their order.
    """

    text: str
    scope: str | None
    keys: dict[str, str]
    suffixes: tuple[str, ...]

    def __str__(self) -> str:
        """The name, put together from its parts; equal to `text`."""
        if self.scope is None:
            return self.text
        pairs = [f"{key}:{value}" for key, value in self.keys.items()]
        return "/".join([self.scope, *pairs, *self.suffixes])

    def __hash__(self) -> int:
        return hash(self.text)

    def without(self, *keys: str) -> tuple:
        """Return the name without these keys: rows that differ in nothing else have it in common.

        It says that a file is kept also where the name need not.
        """
        said = self.keys
        if said.get("create") in _KEPT_ANYWAY and "keep" not in said:
            pairs = [
                [(k, v), ("keep", "yes")][: 1 + (k == "create")]
                for k, v in said.items()
            ]
            said = dict(pair for some in pairs for pair in some)
        rest = tuple((k, v) for k, v in said.items() if k not in keys)
        return self.scope, rest, self.suffixes

    def value(self, key: str) -> str | None:
        """Return a key's value, also the usual one that names leave out; None without any."""
        if (
            key == "create"
            and self.scope == "file"
            and self.keys.get("target") == "file"
        ):
            return self.keys.get(key, _CREATED_AS)
        return self.keys.get(key)

    @property
    def threads(self) -> int:
        """Return the number of threads; 1 if the name does not say."""
        said = [s.removeprefix("threads:") for s in self.suffixes if "threads:" in s]
        number = whole_number(said[0] if said else self.keys.get("threads", "1"))
        return number or 1

    @property
    def is_ours(self) -> bool:
        """Whether the name has this suite's format."""
        return self.scope is not None


def parse_name(text: str) -> RowName:
    """Read one row's name. Names in any other format come back whole, with scope None."""
    components = text.split("/")
    if len(components) > _MOST_COMPONENTS:
        return RowName(text, None, {}, ())
    suffixes: list[str] = []
    while len(components) > 1 and _SUFFIX.fullmatch(components[-1]):
        suffixes.insert(0, components.pop())
    keys = _pairs(components[1:])
    if keys is None or not (
        (components[0] in _SCOPES and "strategy" in keys) or _KEYS_OF_ALL <= keys.keys()
    ):
        return RowName(text, None, {}, tuple(suffixes))
    return RowName(text, components[0], keys, tuple(suffixes))


def _pairs(components: list[str]) -> dict[str, str] | None:
    """The key:value components as a dictionary; None if one is not a pair or comes twice."""
    keys: dict[str, str] = {}
    for component in components:
        key, colon, value = component.partition(":")
        if not key or not colon or key in keys:
            return None
        keys[key] = value
    return keys


def whole_number(text: str) -> int | None:
    """Parse a key's value as a whole number; None if it is none, or larger than any offset."""
    if not text.isascii() or not text.isdigit() or len(text) > 19:
        return None
    return int(text)


def shorten(names: Sequence[RowName]) -> tuple[str, list[str]]:
    """Return the components that all names share, and each name without them.

    Only whole components are left out, wherever they stand. A name that would be empty keeps its
    strategy, or else everything.
    """
    parts = [name.text.split("/") for name in names]
    # Leaving out a component that comes twice in a name would be ambiguous.
    once = [{c for c, times in Counter(other).items() if times == 1} for other in parts]
    common = set.intersection(*once) if once else set()
    shared = {c: None for c in (parts or [[]])[0] if c in common}
    others = {c: None for c in shared if not c.startswith("strategy:")}
    for left_out in (shared, others):
        short = ["/".join(c for c in other if c not in left_out) for other in parts]
        if all(short):
            return " ".join(left_out), short
    return "", [name.text for name in names]
