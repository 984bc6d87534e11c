"""The report agrees with the files, is safe and complete, and fits on any screen."""

import json
import os
import re
import resource
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import RESULTS, write_files
from gatherstats.blog.account import accounts
from gatherstats.blog.account_words import account_lines
from gatherstats.crossover.advice import advise
from gatherstats.crossover.advice_words import advice_text
from gatherstats.crossover.cells import cell_text
from gatherstats.crossover.map import make_maps
from gatherstats.data.reader import load
from gatherstats.drawing.svg import fitting, round_steps
from gatherstats.stats import samples
from gatherstats.stats.drift import remove_drift
from gatherstats.stats.samples import measure
from gatherstats.text.units import time_text
from made import aggregates, blog_run, failed, repetitions, results
from made_account import account_run
from made_maps import NAME, grid_rows, grid_run
from made_report import TIMES, evil_run, latency_run

from commands import report as script

SCRIPT = str(RESULTS / "report.py")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def report(tmp_path, capsys):
    """Make a report on these file contents; returns (status, page, stderr)."""

    def run(*contents, options=()):
        out = tmp_path / "report.html"
        paths = write_files(tmp_path, "run", contents)
        status = script.main([*paths, "-o", str(out), *options])
        page = out.read_text() if out.exists() else None
        return status, page, capsys.readouterr().err

    return run


def tree(page):
    """The page as a tree: it is well-formed XML but for its first line."""
    first, _, rest = page.partition("\n")
    assert first == "<!DOCTYPE html>"
    return ElementTree.fromstring(rest)


def text_of(node):
    return "".join(node.itertext()).replace("\xa0", " ")


def tables(page):
    """By caption the rows of each table, as lists of text."""
    found = {}
    for table in tree(page).iter("table"):
        caption = text_of(table.find("caption"))
        found[caption] = [[text_of(cell) for cell in row] for row in table.iter("tr")]
    return found


def items(page):
    return [text_of(item) for item in tree(page).iter("li")]


def test_a_results_file_is_not_overwritten(tmp_path, capsys, rng):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(blog_run({"pwrite": 45.0, "pwritev": 40.0}, rng)))
    before = path.read_text()
    link = tmp_path / "link.json"
    link.symlink_to(path)
    for output in (path, link):
        assert script.main([str(path), "-o", str(output)]) == 2
        assert "one of the files that are read" in capsys.readouterr().err
    assert path.read_text() == before


def test_the_figures_are_those_of_the_files(report, rng, tmp_path):
    status, page, err = report(
        account_run(rng, filesystem="ext4"), grid_run(TIMES, rng)
    )
    assert (status, err) == (0, "")
    blog, grid = (load(tmp_path / f"run{i}.json") for i in (0, 1))
    found = tables(page)
    (caption,) = [c for c in found if c.startswith("file target:file")]
    for row, cells in zip(blog.rows, found[caption][1:]):
        assert float(cells[4]) == pytest.approx(np.median(row.times_s) * 1e3, rel=2e-3)
        assert cells[6:9] == [str(int(cells[6])), *[f"{row.counter('calls'):.0f}"] * 2]
    all_rows = [
        rows for c, rows in found.items() if c.startswith("Medians as measured")
    ]
    for run, rows in zip((blog, grid), all_rows):
        assert len(rows) == 1 + len(run.rows)
        for row, cells in zip(run.rows, rows[1:]):
            assert cells[1] == time_text(float(np.median(row.times_s)))
            assert cells[2] == str(row.times_s.size)
    (one,) = make_maps(grid, measure(grid.rows)[0]).maps
    head, *body = found[one.title]
    assert head == ["buffers", *map(str, one.counts)]
    for size, cells in zip(one.sizes, body):
        shown = [
            cell_text(one.cells[size, count]).replace(" ", "") for count in one.counts
        ]
        assert cells[1:] == shown
    (account,) = accounts(measure(blog.rows)[0]).by_name.values()
    assert set(account_lines(account)) <= set(items(page))
    bars = [text_of(t) for t in tree(page).iter(f"{SVG}text") if "ms (" in text_of(t)]
    assert f"{account.rest.time_s * 1e3:.2f} ms" in " ".join(bars)


def test_verdicts_come_first(report, rng, tmp_path):
    _, page, _ = report(account_run(rng), grid_run(TIMES, rng))
    headings = [text_of(n) for n in tree(page).iter() if n.tag in ("h1", "h2", "h3")]
    assert headings[:5] == [
        "gatherbench report",
        "Verdicts",
        "run0.json",
        "run1.json",
        "run0.json",
    ]
    run = load(tmp_path / "run1.json")
    (one,) = make_maps(run, measure(run.rows)[0]).maps
    assert advice_text(advise(one), one, run) in items(page)
    assert any(
        item.startswith("Gathering 4 buffers into one call is") for item in items(page)
    )
    for heading in (
        "Environment",
        "What was asked",
        "Tables",
        "Where the gain comes from",
        "Which way wins on ext4",
        "Samples over time",
        "Refused, failed or left out",
        "Published tables",
    ):
        assert heading in headings


def test_the_published_tables_stand_below(report, rng):
    _, page, _ = report(account_run(rng))
    assert "45.11" in page and "WriteGather" in page and "10.8" in page
    assert "45.11" not in report(grid_run(TIMES, rng))[1]


def test_rows_that_are_no_map_have_their_sentences(report, rng):
    names = [
        "op/strategy:pwrite/target:null/count:1/size:8",
        "op/strategy:none/target:null/count:1/size:8",
    ]
    rows = [
        repetitions(n, list(t * rng.lognormal(0, 0.01, 20)))
        for n, t in zip(names, (100, 50))
    ]
    _, page, _ = report(results(*rows))
    said = (
        r"op target:null count:1 size:8: none is (49|50)\.\d % faster than pwrite \(.*"
    )
    assert any(re.fullmatch(said, item) for item in items(page))


def test_latencies(report, rng):
    status, page, _ = report(latency_run(rng))
    assert status == 0
    rows = tables(page)["Latency of single operations"]
    assert rows[0] == ["Row", "p50", "p99", "p99.9", "max", "Operations"]
    assert rows[2] == [
        "size:32",
        "500.0 ns",
        "2.400 us",
        "30.00 us",
        "5.000 ms",
        "5000",
    ]
    assert "size:64: p99.9 45.00 us" in page
    assert "Latencies" not in report(grid_run(TIMES, rng))[1]


def test_drift_is_removed_once_per_file(report, rng, monkeypatch):
    """The tables, the maps, the accounts and the plots share it."""
    seen = []

    def count(rows):
        seen.append(len(rows))
        return remove_drift(rows)

    monkeypatch.setattr(samples, "remove_drift", count)
    runs = [grid_run(TIMES, rng), latency_run(rng)]
    assert report(*runs)[0] == 0
    rows = [len({entry["name"] for entry in run["benchmarks"]}) for run in runs]
    assert sorted(seen) == sorted(rows)


def test_the_drift_and_the_samples(report, rng):
    _, page, _ = report(account_run(rng, n=60))
    plots = [text_of(s.find("{*}title")) for s in tree(page).iter(f"{SVG}svg")]
    (title,) = [plot for plot in plots if "samples over time" in plot]
    assert title.startswith("420 samples over time")
    assert "rift" in text_of(tree(page))
    dots = re.search(r'<path d="([^"]*)" class="dots"', page)[1]
    assert dots.count("M") == 420


def test_many_samples_are_drawn_as_bands(report, rng):
    _, page, _ = report(account_run(rng, n=400))
    assert 'class="dots"' not in page and page.count('class="band') == 2
    assert len(page) < 200_000


def test_what_is_missing_is_listed(report, rng):
    run = grid_run(TIMES, rng, scatter=0.01)
    run["context"][
        "gatherbench.refused"
    ] = "pwritev2 on tcp: no offsets\nfsync on a pipe"
    run["benchmarks"].append(failed(NAME.format("pwrite", "file", "none", 64, 16)))
    status, page, err = report(run)
    assert status == 1 and err.count("\n") == 1
    listed = items(page)
    assert (
        "refused: pwritev2 on tcp: no offsets" in listed
        and "refused: fsync on a pipe" in listed
    )
    assert any("failed: fsync: No space left on device" in item for item in listed)


def test_the_command_that_repeats_it(report, rng):
    run = grid_run(TIMES, rng)
    run["context"]["gatherbench.command"] = "gatherbench --preset=grid --dir='/mnt/a b'"
    _, page, _ = report(run)
    (code,) = tree(page).iter("code")
    assert text_of(code) == "gatherbench --preset=grid --dir='/mnt/a b'"


def test_files_with_the_same_rows_stand_side_by_side(report, rng):
    first, second = grid_run(TIMES, rng), grid_run(TIMES, rng)
    second["context"]["gatherbench.filesystem"] = "xfs"
    _, page, _ = report(first, account_run(rng), second)
    pairs = [
        [section.get("aria-labelledby") for section in node.findall("section")]
        for node in tree(page).iter("div")
    ]
    assert ["run-1", "run-3"] in pairs and ["run-2"] in pairs
    assert "On xfs here" in page and "On ext4 here" in page


def test_files_of_one_name_are_told_apart(tmp_path, rng, capsys):
    (tmp_path / "b").mkdir()
    paths = [str(tmp_path / "a.json"), str(tmp_path / "b" / "a.json")]
    for path in paths:
        with open(path, "w") as file:
            json.dump(grid_run(TIMES, rng), file)
    assert script.main([*paths, "-o", str(tmp_path / "r.html")]) == 0
    page = (tmp_path / "r.html").read_text()
    assert "a.json, file 1" in page and "a.json, file 2" in page
    assert str(tmp_path) not in page


def test_nothing_in_a_file_becomes_markup(report, rng):
    status, page, _ = report(evil_run(rng))
    assert status == 1
    tags = {node.tag.rpartition("}")[2] for node in tree(page).iter()}
    assert not tags & {"script", "img", "link", "iframe", "object", "embed"}
    assert "\x1b" not in page and "\u202e" not in page and "\x00" not in page
    assert "\\x1b[31m\\u202e\\x00" in page
    for node in tree(page).iter():
        assert not any(name.startswith("on") for name in node.attrib)


def test_nothing_is_fetched(report, rng):
    _, page, _ = report(account_run(rng), grid_run(TIMES, rng))
    for word in ("src=", "url(", "@import", "<link", "<script"):
        assert word not in page
    assert {h for h in re.findall(r'href="([^"]*)"', page)} <= {"#run-1", "#run-2"}
    assert "default-src 'none'" in page.replace("&#x27;", "'")


def test_a_screen_reader_can_walk_the_tables(report, rng):
    _, page, _ = report(account_run(rng), grid_run(TIMES, rng), latency_run(rng))
    for table in tree(page).iter("table"):
        assert text_of(table.find("caption"))
        for header in table.iter("th"):
            assert header.get("scope") in ("row", "col")
    for plot in tree(page).iter(f"{SVG}svg"):
        title = plot.find("{*}title")
        assert text_of(title) and plot.get("aria-labelledby") == title.get("id")
        assert plot.get("role") == "img"
    identities = [node.get("id") for node in tree(page).iter() if node.get("id")]
    assert len(identities) == len(set(identities))
    assert tree(page).get("lang") == "en"


def test_aggregates_alone_and_rows_of_other_suites(report):
    foreign = aggregates("BM_old", 10, mean=2.0, median=2.1, stddev=0.1)
    status, page, err = report(results(foreign, repetitions("BM_new/8", [1.0, 2.0])))
    assert (status, err) == (0, "") and "BM_old" in page and "2.100 ms" in page


@pytest.mark.parametrize(
    "content, status", [("", 2), ("[", 2), ('{"benchmarks": []}', 1)]
)
def test_without_data_there_is_no_report(report, content, status):
    got, page, err = report(content)
    assert (got, page) == (status, None) and err.count("\n") == 1


def test_one_bad_file_does_not_hide_the_others(report, rng):
    status, page, err = report("", grid_run(TIMES, rng))
    assert status == 2 and "run1.json" in page and "the file is empty" in err


def test_the_file_is_complete_or_untouched(report, rng, tmp_path, monkeypatch):
    out = tmp_path / "report.html"
    out.write_text("before")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    status, page, err = report(grid_run(TIMES, rng))
    assert (status, page) == (2, "before")
    assert err == f"report.py: {out}: No space left on device\n"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "run0.json"]


def test_a_report_goes_where_it_cannot_be_renamed(tmp_path, rng):
    (path,) = write_files(tmp_path, "run", [grid_run(TIMES, rng)])
    done = subprocess.run(
        [sys.executable, SCRIPT, path, "-o", "/dev/stdout"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.endswith("</html>\n")
    done = subprocess.run(
        [sys.executable, SCRIPT, path, "-o", "/dev/full"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_ten_thousand_rows(tmp_path, rng):
    counts = range(1, 43)
    times = {(str(8 * i), n): (100, 60, 80) for i in range(1, 41) for n in counts}
    groups = grid_rows(times, rng, n=10) + grid_rows(times, rng, n=10, target="null")
    starts = iter(rng.permutation(10 * len(groups)) * 0.01)
    for entry in (entry for group in groups for entry in group):
        entry["start_s"] = float(next(starts))
    assert len(groups) >= 10_000
    (path,) = write_files(tmp_path, "grid", [results(*groups)])
    out = tmp_path / "report.html"
    # The processor's time: that of the clock says how busy the machine is.
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, SCRIPT, path, "-o", str(out)], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used_s < 120  # a quadratic step would take many minutes
    assert out.stat().st_size < 5 * 1024 * 1024


def test_words_that_do_not_fit_lose_their_middle():
    assert fitting("short", 100) == "short"
    cut = fitting("a" * 50 + "b" * 50, 100)
    assert re.fullmatch("a+[.]{3}b+", cut) and len(cut) <= 16


@pytest.mark.parametrize(
    "low, high, steps",
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (-3, 3, [-2, 0, 2]),
        (0.9, 1.1, [0.9, 0.95, 1.0, 1.05, 1.1]),
        (1, 1, [1]),
    ],
)
def test_steps_are_round(low, high, steps):
    assert round_steps(low, high) == pytest.approx(steps)
