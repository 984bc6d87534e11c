"""compare.py --by: rows of one run along a key, their groups, their order and their drift."""

import pytest
from made import BLOG, blog_run, results
from made_launches import OP, alternating, as_data, flat, row, verdicts


def grid(rng, **factors):
    """Rows of two strategies and three counts; factors: of writev's time, by "count<N>"."""
    rows = []
    for count in (1, 4, 16):
        rows.append(row(OP.format("write", count), 100 * count, rng))
        factor = factors.get(f"count{count}", 1)
        rows.append(row(OP.format("writev", count), 100 * count * factor, rng))
    return results(*rows)


def test_along_a_key(compare, rng):
    document = as_data(
        compare, grid(rng, count1=1.3, count16=0.5), options=["--by=strategy"]
    )
    assert list(verdicts(document).values()) == ["slower", "same", "faster"]
    assert {pair["base_name"].split("/")[1] for pair in document["pairs"]} == (
        {"strategy:write"}
    )
    turned = as_data(
        compare,
        grid(rng, count1=1.3, count16=0.5),
        options=["--by=strategy", "--baseline=writev"],
    )
    assert list(verdicts(turned).values()) == ["faster", "same", "slower"]


def test_the_names_of_a_table_are_short(compare, rng):
    _, out, _ = compare(grid(rng), options=["--by=strategy"])
    assert (
        "All rows: op strategy:writev target:null sync:none size:512 real_time" in out
    )
    assert "Base: strategy:write\n" in out and "\ncount:16 " in out
    assert all(len(line) <= 100 for line in out.splitlines())


def test_long_names_are_cut_in_the_terminal_alone(compare, rng):
    name = "BM_" + "x" * 150
    sides = alternating(rng, {name: 100}, {name: 100})
    assert max(map(len, compare(**sides)[1].splitlines())) <= 120
    assert name in compare(**sides, options=["--format=markdown"])[1]


def test_a_group_without_the_baseline(compare, rng):
    run = grid(rng)
    gone = OP.format("write", 4)
    run["benchmarks"] = [e for e in run["benchmarks"] if e["name"] != gone]
    document = as_data(compare, run, options=["--by=strategy", "--baseline=write"])
    assert len(document["pairs"]) == 2 and document["exit_status"] == 3
    assert document["problems"] == [
        f"{OP.format('writev', 4)}: the baseline is missing"
    ]


def test_rows_without_a_partner(compare, rng):
    rows = [row(OP.format("write", count), 100, rng) for count in (1, 4)]
    status, out, _ = compare(results(*rows), options=["--by=strategy"])
    assert status == 3 and "- nothing was compared" in out
    assert "2 rows have no partner that differs in strategy alone" in out


@pytest.mark.parametrize(
    "option, message",
    [
        (["--by=colour"], "no row's name has the key 'colour'; there are: strategy,"),
        (["--by=strategy", "--baseline=x"], "no row has strategy:x; there are: write,"),
    ],
)
def test_nothing_along_that_key(compare, rng, option, message):
    status, out, err = compare(grid(rng), options=option)
    assert (status, out) == (2, "") and message in err and err.count("\n") == 1


def test_a_key_that_some_rows_lack(compare, rng):
    plain = BLOG.format("pwrite")
    more = plain.replace("/file_bytes", "/preallocate:yes/file_bytes")
    run = results(row(more, 60, rng), row(plain, 100, rng))
    status, out, _ = compare(run, options=["--by=preallocate"])
    assert status == 0 and "Base: preallocate:none" in out and "% faster" in out


@pytest.mark.parametrize(
    "order", ["one after the other", "strictly in turn", "unknown"]
)
def test_an_order_that_is_not_of_chance_has_no_word(compare, rng, order):
    """Four times as long: the figures show it, and the word needs a random order."""
    run = grid(rng, count4=4)
    for i, entry in enumerate(run["benchmarks"]):
        if order == "strictly in turn":
            i = entry["repetition_index"] * 6 + i // 20
        entry["start_s"] = None if order == "unknown" else float(i)
    document = as_data(compare, run, options=["--by=strategy"])
    assert set(verdicts(document).values()) == {"undecided"}
    assert document["exit_status"] == 3
    pair = document["pairs"][1]
    assert 3.9 < pair["low"] < pair["high"] < 4.1
    why = "does not say" if order == "unknown" else "not left to chance"
    assert why in pair["problem"]
    assert "random order" in flat(compare(run, options=["--by=strategy"])[1])


def test_drift_is_taken_out_and_said(compare, rng):
    run = blog_run({"pwrite": 40, "pwritev": 40.8}, rng, scatter=0.01)
    for entry in run["benchmarks"]:
        entry["real_time"] *= 1 + entry["start_s"] / 5
    document = as_data(compare, run, options=["--by=strategy"])
    (pair,) = document["pairs"]
    assert pair["ratio"] == pytest.approx(1.02, abs=0.006)
    assert pair["verdict"] == "slower" and document["drift"]["run"]["removed"]
    assert "Drift between -" in compare(run, options=["--by=strategy"])[1]
