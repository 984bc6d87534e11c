"""The published figures, as data, go through the same code and give the known sentences."""

import json

import pytest
from conftest import RESULTS
from gatherstats.data.names import parse_name
from gatherstats.data.reader import load
from gatherstats.stats.verdict import judge
from gatherstats.stats.verdict_words import sentence

FILES = sorted((RESULTS / "reference").glob("*.json"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def document(request):
    return json.loads(request.param.read_text())


def test_each_file_names_its_source(document):
    assert document["context"]["gatherbench.source"]


def test_names_follow_the_format(document):
    for entry in document["benchmarks"]:
        assert entry["name"] == f"{entry['run_name']}_{entry['aggregate_name']}"
        assert parse_name(entry["run_name"]).is_ours


def test_all_three_tables_are_printed(show):
    status, out, err = show(options=["--published"])
    assert (status, err) == (0, "")
    flat = " ".join(out.split())
    for row in (
        "| Architecture | Method | Mean [ms] | Error | StdDev | Ratio | n |",
        "| X64 under Rosetta 2 | Write | 47.92 | 1.109 | 3.271 | 1.00 | 100 |",
        "| X64 under Rosetta 2 | WriteGather | 48.51 | 1.567 | 4.621 | 1.01 | 100 |",
        "| Arm64 | Write | 45.11 | 0.950 | 2.772 | 1.00 | 98 |",
        "| Arm64 | WriteGather | 40.23 | 1.304 | 3.844 | 0.89 | 100 |",
        "| System | Method | Median [ms] | Ratio |",
        "| Windows | Write | 78.48 | 1.00 |",
        "| Windows | WriteGather | 77.88 | 0.99 |",
        "| Ubuntu | Write | 96.62 | 1.00 |",
        "| Ubuntu | WriteGather | 89.87 | 0.93 |",
        "| System | Method | Median [ms] | Min | Max | Ratio |",
        "| Windows | Write | 77.07 | 75.78 | 91.90 | 1.00 |",
        "| Windows | Write, preallocated | 61.93 | 61.46 | 63.86 | 0.80 |",
        "| Ubuntu | Write | 96.65 | 95.41 | 101.78 | 1.00 |",
        "| Ubuntu | Write, preallocated | 43.70 | 43.07 | 51.50 | 0.45 |",
    ):
        assert row in flat


def test_x64_is_undecided_and_arm64_is_faster(show):
    _, out, _ = show(options=["--published"])
    assert (
        "WriteGather against Write (ratio of means, its 95 % interval; p of Welch's test, order not known):"
        "\n- X64: undecided, no evidence of a difference (1.012, 0.989 to 1.036; p = 0.30)"
        "\n- Arm64: 10.8 % faster (0.892, 0.872 to 0.912; p < 1e-12)"
        "\n- about 730 repetitions of each would probably decide what is undecided"
    ) in out


def test_the_sentences_say_the_same():
    x64_base, x64, arm64_base, arm64 = (
        row.aggregates for row in load(RESULTS / "reference" / "blog_m1.json").rows
    )
    (verdict,) = judge([(x64_base, x64)])
    assert sentence("WriteGather", "Write", verdict, 0.01) == (
        "WriteGather against Write: undecided, no evidence of a difference (ratio of"
        " means 1.012, 95 % interval 0.989 to 1.036, p = 0.30, order not known); about 730 repetitions of"
        " each would probably decide it."
    )
    (verdict,) = judge([(arm64_base, arm64)])
    assert sentence("WriteGather", "Write", verdict, 0.01) == (
        "WriteGather is 10.8 % faster than Write (ratio of means 0.892, 95 % interval"
        " 0.872 to 0.912, p < 1e-12, order not known)."
    )


def test_medians_alone_cannot_be_tested(show):
    _, out, _ = show(options=["--published"])
    flat = " ".join(out.split())
    for pair in ("WriteGather against Write", "Write, preallocated against Write"):
        text = f"- {pair}: undecided; without a spread and an n nothing can be tested."
        assert flat.count(text) == 1


def test_published_tables_follow_the_given_file(show, rng):
    from made import blog_run

    run = blog_run({"pwrite": 40, "pwritev": 30, "fallback": 40, "contiguous": 29}, rng)
    _, out, _ = show(run, options=["--published"])
    assert out.index("## file0.json") < out.index("## Visual Studio for Mac")
    _, out, _ = show(run)
    assert "Visual Studio" not in out


def test_the_published_error_is_kept():
    document = json.loads((RESULTS / "reference" / "blog_m1.json").read_text())
    errors = [
        e["real_time"] for e in document["benchmarks"] if e["aggregate_name"] == "error"
    ]
    assert errors == [1.109, 1.567, 0.950, 1.304]
    assert load(RESULTS / "reference" / "blog_m1.json").problems == []
