"""The phases of a whole file: columns, the time of closing and its reason, and the gain of each phase."""

import re

import pytest
from made import BLOG, repetitions, results
from made_account import ON_NULL_MS
from made_phases import DOTNET, opened, phased

NULL = BLOG.replace("target:file", "target:null")
CLOSING = {"pwrite": opened(42, 92), "pwritev": opened(23, 57)}
FREEING = {"pwrite": opened(42, 4), "pwritev": opened(23, 4)}
PREALLOCATED = DOTNET.replace("/file_bytes", "/preallocate:yes/file_bytes")


def flat(text):
    return " ".join(text.split())


def headers(out):
    (line,) = [line for line in out.splitlines() if line.startswith("| Method")][:1]
    return [cell.strip() for cell in line.strip("|").split("|")]


def blog(rng, rows, name=DOTNET, flushed=1.0, **context):
    groups = [phased(name.format(s), p, rng, flushed=flushed) for s, p in rows.items()]
    return results(*groups, **context)


@pytest.mark.parametrize(
    "phases, shown",
    [
        (opened(42, 92), ["write", "close"]),
        (opened(42, 0.5), []),
        (opened(42, 0.5, sync=20), ["write", "sync"]),
        (opened(42, 1.5, open_=3), ["open", "write", "close"]),
    ],
)
def test_a_phase_has_a_column_where_it_takes_more_than_two_per_cent(
    phases, shown, rng, show
):
    out = show(blog(rng, {"pwrite": phases, "pwritev": phases}))[1]
    columns = headers(out)
    assert columns[columns.index("calls") + 1 :] == (
        [*shown, "device"] if shown else ["GB/s", "device"]
    )
    words = " and ".join([*[", ".join(shown[:-1])] * (len(shown) > 1), *shown[-1:]])
    assert (f"{words.capitalize()}: their medians" in flat(out)) == bool(shown)


def test_what_closing_took_and_that_the_file_was_flushed(show, rng):
    out = show(blog(rng, CLOSING, auto_da_alloc="yes"))[1]
    said = flat(out)
    assert re.search(
        r"closing took 9\d\.\d ms of Write \(69 %\), 5\d\.\d ms of Write", said
    )
    assert "the whole file was sent to the device, though nothing asked for it" in said
    assert "ext4 writes out when it is closed (auto_da_alloc is on)" in said
    assert "truncated to nothing after it was opened" in said


def test_a_default_that_no_option_shows_is_said_to_be_one(show, rng):
    mount = "yes, by default: no option noauto_da_alloc"
    said = flat(show(blog(rng, CLOSING, auto_da_alloc=mount))[1])
    assert "(auto_da_alloc by default: no option noauto" in said


@pytest.mark.parametrize("mount", [None, "no"])
def test_a_flush_that_the_mount_option_does_not_explain_is_not_explained(
    mount, show, rng
):
    context = {"filesystem": "ext4"} | ({"auto_da_alloc": mount} if mount else {})
    said = flat(show(blog(rng, CLOSING, **context))[1])
    assert "why this file system does so is not known here" in said
    assert "auto_da_alloc" not in said


@pytest.mark.parametrize(
    "flushed, told",
    [(0.0, True), (0.3, False), (None, False)],
)
def test_a_file_that_stayed_in_memory_was_only_freed(flushed, told, show, rng):
    said = flat(show(blog(rng, FREEING, flushed=flushed, auto_da_alloc="yes"))[1])
    assert "closing took" in said
    assert ("nothing was sent to the device" in said) is told
    assert "the whole file was sent" not in said


def test_preallocated_blocks_need_no_flush_beside_what_was_published(show, rng):
    run = results(
        phased(DOTNET.format("pwrite"), opened(42, 92), rng, flushed=1.0),
        phased(PREALLOCATED.format("pwrite"), opened(42, 8), rng, flushed=0.0),
        auto_da_alloc="yes",
    )
    said = flat(show(run)[1])
    assert "sent to the device with Write, though nothing asked" in said
    assert "preallocated need no flush (Write, preallocated)" in said
    published = (
        "published for Ubuntu: Write 96.65 ms, preallocated 43.70, a ratio of 0.45"
    )
    assert published in said
    assert "most likely (our explanation, not theirs) it is the flush" in said


@pytest.mark.parametrize("flushed", [0.0, 1.0])
def test_where_preallocation_saves_no_flush_the_published_ratio_is_not_explained_by_it(
    flushed, show, rng
):
    run = results(
        phased(DOTNET.format("pwrite"), opened(42, 4), rng, flushed=flushed),
        phased(PREALLOCATED.format("pwrite"), opened(42, 4), rng, flushed=flushed),
        auto_da_alloc="no",
    )
    said = flat(show(run)[1])
    assert "published for Ubuntu" in said and "most likely" not in said


def test_other_files_than_the_blogs_have_no_such_lines(show, rng):
    run = blog(rng, CLOSING, name=DOTNET.replace("100000000", "64000000"))
    assert "closing took" not in show(run)[1] and "Ubuntu" not in show(run)[1]


def account(rng, rows, name=DOTNET):
    null = [
        repetitions(
            NULL.format(s), list(ms * rng.lognormal(0, 0.01, 20)), "ms", calls=c
        )
        for (s, ms), c in zip(ON_NULL_MS.items(), (6250, 1563, 1563))
    ]
    files = [phased(name.format(s), p, rng, flushed=1.0) for s, p in rows.items()]
    return results(*files, *null)


def milliseconds(text, name):
    return float(re.search(rf"{name} (-?[\d.]+) ms", text)[1])


def test_the_gain_is_told_by_phase_and_adds_up(show, rng):
    said = flat(show(account(rng, CLOSING))[1])
    gain = milliseconds(said, "Gain")
    writes, close = (milliseconds(said, f"in the {p}") for p in ("writes", "close"))
    assert gain == pytest.approx(54, abs=2) and close == pytest.approx(35, abs=2)
    assert writes + close == pytest.approx(gain, abs=0.02)
    entry = milliseconds(said, "4687 calls saved x [0-9.]+ ns =")
    vectors = milliseconds(said, r"\(this too as on /dev/null\):")
    rest = milliseconds(said, "work in the writes, which is the rest:")
    assert entry + vectors + rest == pytest.approx(writes, abs=0.02)


def test_where_only_the_writes_gain_no_phase_is_named(show, rng):
    said = flat(show(account(rng, FREEING, name=BLOG))[1])
    assert "Gain" in said and "in the close" not in said
    assert "the file system's work, which is the rest" in said
