"""Files that are broken, foreign or odd: one clear line each, and the right exit status."""

import gzip
import json

import pytest
from gatherstats.data.reader import load
from made import aggregates, failed, repetitions, results

GOOD = results(repetitions("BM_a", [10.0, 11, 12, 13]), repetitions("BM_b", [20.0] * 4))


def single_line(err):
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    "content, message, expected",
    [
        (b"", "the file is empty", 2),
        (b" \n", "the file is empty", 2),
        (json.dumps(GOOD)[:-200], "cut short", 2),
        (json.dumps(GOOD)[:-1], "cut short", 2),
        ("Benchmark   Time   CPU", "not JSON", 2),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "not JSON", 2),
        ("[1, 2]", "not Google Benchmark's", 2),
        ('{"benchmarks": 3}', "not Google Benchmark's", 2),
        ('{"context": 3, "benchmarks": [{}]}', "not Google Benchmark's", 2),
        ("[" * 100_000, "nested too deeply", 2),
        ('{"context": {}, "benchmarks": []}', 'the list "benchmarks" is empty', 1),
        ('{"benchmarks": [{"real_time": 3}, 7]}', "2 of 2 entries have no name", 1),
    ],
)
def test_unusable_files(show, content, message, expected):
    status, out, err = show(content)
    assert (status, out) == (expected, "")
    assert message in single_line(err)


def test_a_file_that_is_not_there_and_a_directory(tmp_path, capsys):
    from commands import blog_table

    assert blog_table.main([str(tmp_path / "none.json"), str(tmp_path)]) == 2
    assert "No such file" in (err := capsys.readouterr().err)
    assert "directory" in err and err.count("\n") == 2


def test_the_good_file_is_shown_beside_a_bad_one(show):
    status, out, err = show(b"", GOOD)
    assert status == 2 and "BM_a" in out and "file0.json" in single_line(err)


def test_a_failed_row_has_a_message_and_no_time(show):
    message = 'a "quote", a\ttab, a \\ and \x1b[31m | end'
    document = results(
        repetitions("BM_a", [10.0, 11, 12, 13]), [failed("BM_b", message)]
    )
    status, out, err = show(document)
    assert status == 1
    (row,) = [line for line in out.splitlines() if line.startswith("| BM_b")]
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["failed"] + [""] * 5
    assert "\x1b" not in out + err and r"\x1b\[31m" in out and '"quote"' in err
    assert "-100" not in out and "faster" not in out.split("Mean, Error")[0]


@pytest.mark.parametrize("at", [0, 2, 3])
def test_one_failed_repetition_fails_its_row(show, at):
    entries = repetitions("BM_a", [10.0, 11, 12, 13])
    entries[at] = {**failed("BM_a"), "repetitions": 4, "repetition_index": at}
    status, out, err = show(results(entries, repetitions("BM_b", [1.0, 2, 3, 4])))
    assert status == 1 and "BM_a: failed: fsync" in single_line(err)
    assert "not compared, the latter failed" in out


def test_a_skipped_row(show):
    entry = {**failed("BM_b"), "skipped": True, "skip_message": "no pwritev2 here"}
    del entry["error_occurred"]
    status, out, err = show(results(repetitions("BM_a", [1.0, 2, 3, 4]), [entry]))
    assert status == 1 and "skipped: no pwritev2 here" in single_line(err)


def test_only_failed_rows(show):
    status, out, err = show(results([failed("BM_a")], [failed("BM_b")]))
    assert status == 1 and out.count("| failed |") == 2 and err.count("\n") == 2


@pytest.mark.parametrize(
    "time, message",
    [
        (float("nan"), "real_time is nan"),
        (float("inf"), "real_time is inf"),
        (10**400, "real_time is inf"),
        ("fast", "real_time is no number"),
        (True, "real_time is no number"),
        (-1.0, "real_time is negative"),
    ],
)
def test_times_that_are_none(show, time, message):
    document = results(repetitions("BM_a", [time, 1.0]), repetitions("BM_b", [1.0, 2]))
    status, out, err = show(document)
    assert status == 1 and message in single_line(err)


def test_an_unknown_unit(show):
    _, _, err = show(results(repetitions("BM_a", [1.0, 2], unit="fortnights")))
    assert "unknown time unit 'fortnights'" in err


def test_different_units_are_one_time(show):
    one = repetitions("BM_ns", [1500.0, 1501, 1502, 1503, 1504])
    two = repetitions("BM_us", [3.0, 3.001, 3.002, 3.003, 3.004], unit="us")
    status, out, _ = show(results(one, two))
    assert status == 0
    assert "Mean [us]" in out and "- BM_us: 99.9 % slower (1.999, " in out


def test_aggregates_beside_repetitions_are_ignored(tmp_path):
    path = tmp_path / "file.json"
    rows = repetitions("BM_a", [1.0, 2, 3, 4]) + aggregates("BM_a", 4, median=99.0)
    path.write_text(json.dumps(results(rows)))
    (row,) = load(path).rows
    assert list(row.times_s) == pytest.approx([1e-9, 2e-9, 3e-9, 4e-9])
    assert row.aggregates is None


def test_aggregates_only_are_called_so(show):
    document = results(
        aggregates("BM_a", 10, mean=10.0, median=9.0, stddev=1.0, cv=0.0052),
        aggregates("BM_b", 10, mean=20.0, median=19.0, stddev=1.0, cv=0.0052),
    )
    status, out, err = show(document)
    assert (status, err) == (0, "")
    assert "by their aggregates" in out and "0.005" not in out
    assert "Against BM_a (ratio of means" in out
    assert "- BM_b: 100 % slower (2.000" in out


def test_a_name_that_comes_twice(show):
    rows = repetitions("BM_a", [1.0, 2, 3, 4])
    status, out, err = show(results(rows, repetitions("BM_a", [7.0, 8, 9, 9]), rows))
    assert status == 1 and "BM_a: the name comes twice" in single_line(err)
    assert "8 further entries" in err and out.count("| BM_a") == 1
    assert " 2.500 " in out


def test_old_aggregates_have_their_names_name(show):
    rows = aggregates("BM_a", 10, mean=10.0, median=9.0, stddev=1.0)
    for row in rows:
        del row["run_name"]
    status, out, err = show(results(rows))
    assert (status, err) == (0, "") and out.count("| BM_a ") == 1


def test_an_aggregate_that_comes_twice(show):
    rows = aggregates("BM_a", 10, mean=10.0, median=9.0, stddev=1.0)
    status, out, err = show(results(rows, rows))
    assert status == 1 and "BM_a: the name comes twice" in single_line(err)
    assert out.count("| BM_a ") == 1


def test_a_whole_number_that_no_float_holds(show):
    status, out, err = show(results(repetitions("BM_a", [10**400, 1.0, 2.0])))
    assert status == 1 and "BM_a: failed: real_time is inf" in single_line(err)
    assert "| BM_a   | failed |" in out


def test_a_path_that_no_file_has(capsys):
    from commands import blog_table

    assert blog_table.main(["a\0b"]) == 2
    assert "null byte" in single_line(capsys.readouterr().err)


def test_missing_repetitions_are_named(show):
    rows = repetitions("BM_a", [1.0, 2, 3, 4])[:3]
    status, _, err = show(results(rows))
    assert status == 1 and "BM_a: cut short, 3 of 4 repetitions are in the file" in err


def test_old_files_that_do_not_number_repetitions(show):
    rows = repetitions("BM_a", [1.0, 2, 3, 4])
    for row in rows:
        for key in ("repetitions", "repetition_index", "run_name", "run_type"):
            del row[key]
    status, out, err = show(results(rows))
    assert (status, err) == (0, "") and "|   4 |" in out


def test_one_repetition(show):
    status, out, err = show(results(*(repetitions(n, [5.0]) for n in ("BM_a", "BM_b"))))
    assert (status, err) == (0, "")
    assert "a single value shows no spread" in out and "nan" not in out.lower()


def test_zero_times(show):
    rows = repetitions("BM_a", [0.0] * 5), repetitions("BM_b", [1.0, 2, 3, 4, 5])
    status, out, err = show(results(*rows))
    assert (status, err) == (0, "")
    assert "a time of zero gives no ratio" in out and "NA" in out


def test_names_are_safe_in_a_table(show):
    name = "BM_<int>|x\x1b[2J\n\u202e\ud800`*"
    status, out, err = show(results(repetitions(name, [1.0, 2, 3, 4])))
    assert status == 0
    assert "\x1b" not in out and "\u202e" not in out and "\ud800" not in out
    assert r"BM_\<int>\|x\x1b\[2J\x0a\u202e\ud800\`\*" in out


def test_columns_stand_below_each_other_whatever_the_names(show):
    names = ["BM_日本", "BM_e\u0301", "BM_\U000e0001", "BM_plain"]
    status, out, err = show(results(*(repetitions(n, [1.0, 2, 3, 4]) for n in names)))
    assert (status, err) == (0, "") and r"BM_\U000e0001" in out
    rows = [line for line in out.splitlines() if line.startswith("| BM_")]
    edges = set()
    for row in rows:
        cell = row[1:].split("|")[0]
        wide = sum(character in "日本" for character in cell)
        edges.add(len(cell) + wide - cell.count("\u0301"))
    assert len(rows) == 4 and len(edges) == 1


def test_rows_stand_in_the_order_of_registration(tmp_path):
    path = tmp_path / "file.json"
    late = repetitions("BM_z", [1.0, 2], family_index=0, per_family_instance_index=0)
    early = repetitions("BM_a", [1.0, 2], family_index=1, per_family_instance_index=0)
    path.write_text(json.dumps(results(early, late)))
    assert [row.name.text for row in load(path).rows] == ["BM_z", "BM_a"]


def test_a_debug_library_does_not_matter(show):
    document = {**GOOD, "context": {"library_build_type": "debug"}}
    assert show(document)[0] == 0


def test_a_compressed_file_is_read_as_what_it_holds(show):
    whole = gzip.compress(json.dumps(GOOD).encode())
    assert show(whole)[:2] == show(json.dumps(GOOD).encode())[:2]
    for content, message in (
        (whole[:-20], "the compressed file is cut short"),
        (whole[:12] + b"\xff" * 30, "the compressed file is damaged"),
        (b"\x1f\x8b", "the compressed file is cut short"),
        (gzip.compress(b""), "the file is empty"),
    ):
        status, out, err = show(content)
        assert (status, out) == (2, "") and message in single_line(err)
