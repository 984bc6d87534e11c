"""The READMEs say what is true: their lists, figures, links and tables are held against the programs and each other."""

import re
from pathlib import Path

import pytest

from run_suite import read, run

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
BENCH = ROOT / "bench" / "README.md"
RESULTS = ROOT / "results" / "README.md"
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "bench/*.md", "csrc/*.md", "results/**/*.md")
    for path in ROOT.glob(pattern)
)


def marked(path, mark):
    """What stands between a document's marks."""
    text = path.read_text()
    return text.split(f"<!-- {mark} -->\n")[1].split(f"<!-- /{mark} -->")[0]


def first_cells(table):
    """The names in backquotes in a table's first column."""
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall("`([^`]+)`", row.split("|")[1])}


def test_the_front_page_is_short():
    assert len(README.read_text().splitlines()) <= 150


def test_the_front_pages_figures_are_those_of_the_whole_table():
    whole = marked(RESULTS, "run").splitlines()
    excerpt = marked(README, "excerpt").splitlines()
    assert len(excerpt) > 10
    assert [line for line in excerpt if line not in whole] == []


def anchors(path):
    """What a document's headings are called in links, as GitHub makes them."""
    prose = re.sub(r"(?m)^    .*$", "", path.read_text())
    titles = re.findall(r"(?m)^#+ (.+)$", prose)
    return {re.sub(r"[^\w\- ]", "", t.lower()).replace(" ", "-") for t in titles}


@pytest.mark.parametrize(
    "path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if target.is_dir() and anchor:
            target /= "README.md"
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_list_is_shown():
    shown = marked(BENCH, "list")
    listed = run("--list").stdout.split("\nPresets")[0].splitlines()
    for line in listed:
        if line and "n/a here" not in line:
            assert f"    {line}\n" in shown


def test_the_presets_are_those_of_the_list():
    listed = run("--list").stdout.split("\nPresets")[1]
    names = set(re.findall(r"(?m)^  (\w+) ", listed))
    section = BENCH.read_text().split("## Presets")[1].split("### ")[0]
    assert first_cells(section) == names


def test_the_scripts_are_those_of_the_folder():
    table = RESULTS.read_text().split("| Script |")[1].split("\n\n")[0]
    named = {cell.split()[0] for cell in first_cells(table)}
    assert named == {path.name for path in RESULTS.parent.glob("*.py")} | {"tools/"}


RUNS = [
    "--preset=net --target=unix --latency --benchmark_repetitions=20 --benchmark_filter=writev",
    "--sync=none,fdatasync --strategy=pwrite,pwritev --count=2 --threads=2 --window=64k",
    "--scope=file --file-bytes=64k --sync=fsync --strategy=write",
    "--target=pipe --sync=none,fsync --strategy=write",
]

# Google Benchmark's own fields of an entry.
ENTRY = """name family_index per_family_instance_index run_name run_type repetitions repetition_index threads iterations
real_time cpu_time time_unit label aggregate_name aggregate_unit error_occurred error_message""".split()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    made = []
    for index, options in enumerate(RUNS):
        out = folder / f"{index}.json"
        done = run(
            *options.split(),
            "--quick",
            "--benchmark_min_time=0.001",
            f"--dir={folder}",
            f"--benchmark_out={out}",
        )
        assert done.returncode == 0, done.stderr
        made.append(read(out))
    return made


def test_every_counter_is_documented(results):
    written = {key for one in results for row in one["benchmarks"] for key in row}
    documented = first_cells(marked(BENCH, "counters"))
    assert written - set(ENTRY) - documented == set()
    # What the kernel counts is absent where it keeps no count.
    counts = {"kernel_calls", "device_bytes", "dirty_bytes", "folios"}
    assert documented - written <= counts


def test_every_fact_is_documented(results):
    prefix = "gatherbench."
    written = {
        key[len(prefix) :]
        for one in results
        for key in one["context"]
        if key.startswith(prefix)
    }
    documented = first_cells(marked(BENCH, "context"))
    assert written - documented == set()
    # What these runs have no reason to tell is told somewhere.
    sources = [
        *ROOT.glob("csrc/*.c"),
        *ROOT.glob("bench/*.c"),
        *ROOT.glob("bench/*.cc"),
    ]
    code = "".join(path.read_text() for path in sources)
    assert [key for key in documented - written if f'"{key}"' not in code] == []
