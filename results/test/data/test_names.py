"""Names of rows are read into their parts and come back unchanged."""

import pytest
from gatherstats.data.names import parse_name
from hypothesis import given
from hypothesis import strategies as st

KEYS = ["strategy", "target", "sync", "sync_each", "direct", "window", "count", "size"]
SUFFIXES = ["real_time", "process_time", "manual_time", "threads:4", "iterations:1"]
VALUES = st.text(st.characters(blacklist_characters="/", blacklist_categories=["Cs"]))


def test_the_documented_name():
    text = "op/strategy:writev/target:file/sync:none/count:4/size:24+4096/real_time"
    name = parse_name(text)
    assert name.scope == "op" and name.is_ours
    assert list(name.keys.items()) == [
        ("strategy", "writev"),
        ("target", "file"),
        ("sync", "none"),
        ("count", "4"),
        ("size", "24+4096"),
    ]
    assert name.suffixes == ("real_time",)


@given(
    st.sampled_from(["op", "file"]),
    st.dictionaries(st.sampled_from(KEYS), VALUES),
    st.lists(st.sampled_from(SUFFIXES), unique=True),
)
def test_our_names_come_back(scope, keys, suffixes):
    keys = {"strategy": "write", **keys}
    text = "/".join([scope, *(f"{k}:{v}" for k, v in keys.items()), *suffixes])
    name = parse_name(text)
    assert str(name) == text
    assert (name.scope, name.keys, name.suffixes) == (scope, keys, tuple(suffixes))


@given(st.text())
def test_any_name_comes_back(text):
    assert str(parse_name(text)) == text


def test_an_unknown_key_is_kept():
    name = parse_name("file/system:X64/strategy:pwrite/colour:red")
    assert name.keys["system"] == "X64" and name.keys["colour"] == "red"


def test_a_scope_that_came_later_is_read_like_the_others():
    keys = "strategy:writev/target:file/sync:none/count:4/size:16/loops:2"
    name = parse_name(f"record/{keys}/real_time")
    assert name.scope == "record" and name.keys["loops"] == "2"


@pytest.mark.parametrize(
    "text",
    [
        "BM_memcpy/8/threads:2",
        "BM_x<a/b>/real_time",
        "op",
        "file/8",
        "op/strategy:a/strategy:b",
        "mine/strategy:write",
        "op/target:file",
    ],
)
def test_names_of_other_suites_stay_whole(text):
    name = parse_name(text)
    assert not name.is_ours and name.keys == {} and str(name) == text
