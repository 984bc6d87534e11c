"""JSON with a doubled key is refused: readers of JSON disagree on which value counts."""

import json

import pytest
from commands import claims, compare
from made import repetitions, results

NAME = "op/strategy:write/target:null/count:1/size:64/real_time"


@pytest.fixture
def twice(tmp_path):
    """A results file in which one text is replaced by another; returns its path."""

    def make(text, doubled):
        times = [20.0 + i / 100 for i in range(10)]
        content = json.dumps(results(repetitions(NAME, times), kernel="Linux 6.1"))
        assert text in content
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.json"
        path.write_text(content.replace(text, doubled, 1))
        return str(path)

    return make


@pytest.mark.parametrize(
    "text, further, key",
    [
        ('"time_unit": "ns"', '"time_unit": "us"', "time_unit"),
        ('"real_time": 20.0', '"real_time": 0.07', "real_time"),
    ],
)
def test_a_row_is_unusable(text, further, key, twice, capsys):
    old, new = twice("{", "{"), twice(text, f"{text}, {further}")
    assert compare.main([old, new]) == 3
    out = " ".join(capsys.readouterr().out.split())
    assert f"failed: the key {key} comes twice" in out
    assert "faster" not in out and "slower" not in out


@pytest.mark.parametrize(
    "text, further, key",
    [
        ('{"context"', '{"benchmarks": [], "context"', "benchmarks"),
        ('"gatherbench.kernel"', '"gatherbench.kernel": "", ', "gatherbench.kernel"),
    ],
)
def test_a_file_is_unusable(text, further, key, twice, capsys):
    doubled = further if text[0] == "{" else further + text
    old, new = twice("{", "{"), twice(text, doubled)
    assert compare.main([old, new]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.endswith(f"the key {key} comes twice\n")


def test_claims_are_unusable(twice, tmp_path, capsys):
    mine = tmp_path / "mine.json"
    mine.write_text('{"claims": [{"relation": "faster", "relation": "slower"}]}')
    assert claims.main([twice("{", "{"), f"--claims={mine}"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.endswith("the key relation comes twice\n")
