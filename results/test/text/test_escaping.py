"""Content of a file stays text, on a terminal and in Markdown, HTML, SVG, CSV and JSON."""

import csv
import html
import io
import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from gatherstats.text.safe import markdown
from made import failed, repetitions, results
from made_account import account_run
from made_maps import grid_rows
from made_report import TIMES

from commands import blog_table
from commands import claims
from commands import compare
from commands import crossover
from commands import report

HARMLESS = "harmless"
EVIL = (
    "=1+1|\"'><script>alert(1)</script><img src=x onerror=alert(2)>&lt;`b`*i*[l](javascript:alert(3))"
    "![p](http://x.example/p) _i_ \x1b[31m\x1b]0;t\x07\x9b2J\u202e\u2066\u200b\x00\r\n# h\n\n| a | b |\n- x\x0b\u2028\ud800"
)


def run_full_of(text):
    """Make a run with this text in place of all free text."""
    rng = np.random.default_rng(1)
    part = text.replace("/", "")  # a component of a name
    rows = [
        repetitions(text, [1.0, 2, 3, 4], label=text, calls=2.0),
        repetitions(text + "2", [2.0, 3, 4, 5], label=text, **{text: 1.0}),
        repetitions(text + "3", [2.0, 3, 4, 5], unit=text),
        [failed(text + "4", text)],
        repetitions(f"op/strategy:pwrite/count:1/size:8/x:{part}", [1.0, 2, 3, 4]),
        repetitions(f"op/strategy:{part}/count:1/size:8/x:{part}", [1.0, 2, 3, 4]),
    ]
    run = results(*rows, *grid_rows(TIMES, rng, target=part, n=5))
    run["benchmarks"] += account_run(rng, n=5)["benchmarks"]
    keys = "command filesystem kernel refused preset directory version machine cpu emulated device"
    keys += " mount_options buffers note system host_machine build_type free_bytes cpu_governor"
    run["context"] = {f"gatherbench.{key}": text for key in keys.split()}
    run["context"] |= {"date": text, "num_cpus": text, "executable": text}
    return run


@pytest.fixture
def shown(tmp_path, capsys):
    """Call a script on such a run, in a file of a hostile name; returns (stdout, stderr)."""

    def call(script, *options, text=EVIL, by_itself=True):
        path = tmp_path / re.sub("[/\0\ud800]", "", text)[:200]
        path.write_text(json.dumps(run_full_of(text)))
        files = [str(path)] if by_itself else [str(path), str(path)]
        status = script.main([*files, *options])
        out, err = capsys.readouterr()
        assert status in (0, 1, 3)
        return out, err

    return call


def is_safe(text):
    """No character that a terminal acts on, but for line breaks."""
    return all(line.replace("\xa0", " ").isprintable() for line in text.split("\n"))


SCREENS = {
    "blog_table": (blog_table, ()),
    "compare": (compare, ("--across=filesystem",)),
    "compare one": (compare, ("--by=strategy",)),
    "compare markdown": (compare, ("--format=markdown",)),
    "compare csv": (compare, ("--by=strategy", "--format=csv")),
    "crossover": (crossover, ("--color=never",)),
    "claims": (claims, ()),
}


@pytest.mark.parametrize("name", SCREENS)
def test_nothing_acts_on_a_terminal(shown, name):
    script, options = SCREENS[name]
    alone = script is not compare or "--by=strategy" in options
    out, err = shown(script, *options, by_itself=alone)
    assert is_safe(out) and is_safe(err)
    assert "\\x1b[31m" in out.replace("\\[", "[") + err
    for line in err.splitlines():
        assert line.startswith(f"{script.program}: ")


def cells(line):
    """A table's line as GitHub divides it: at each | that no backslash stands before."""
    assert line.startswith("| ") and line.endswith(" |")
    return re.split(r"(?<!\\)(?:\\\\)*\|", line)[1:-1]


@pytest.mark.parametrize("name", ["blog_table", "compare markdown"])
def test_markdown_has_no_markup_of_the_files(shown, name):
    script, options = SCREENS[name]
    out, _ = shown(script, *options, by_itself=script is blog_table)
    tables = re.findall(r"(?m)(?:^\|.*\n?)+", out)
    assert tables
    for table in tables:
        assert len({len(cells(line)) for line in table.splitlines()}) == 1
    for line in out.splitlines():
        if not line.startswith(("    ", "| ---")):  # as it is, or a rule
            bare = re.sub(r"\\.|&#\d+;", "", line)
            assert not re.search(
                r"[<`*\]&~]|://|\b_",
                bare.replace("[ms]", "").replace("[us]", "").replace("[ns]", ""),
            )
            assert not re.match(r"\s+([-+#>=]|\d+[.)])(\s|$)", bare)


def test_markdown_shows_what_was_written():
    """As GitHub does: a backslash before punctuation hides itself."""
    assert markdown("a - b\n1 + -2 ## #3 >c") == (
        r"a \- b\x0a1 \+ -2 \## #&#8203;3 \>c"
    )
    assert markdown("1. 23) 1.5 4.") == r"1\. 23\) 1.5 4\."
    assert markdown("_a_b_ __c__ d_") == r"\_a_b_ \_\_c_\_ d_"
    assert markdown("http://a.b WWW.c: d") == r"http\://a.b WWW\.c: d"
    for text in (
        "a|b",
        "_a_ __b__ 1. ftp://c www.d",
        "[x](y) ![z](w)",
        "&lt; <b> `c` *d* ~e~",
        "# - + = -- f",
        "\\| \\",
    ):
        assert as_shown(markdown(text)) == text


def as_shown(text):
    """What GitHub shows, without what takes no room."""
    text = re.sub(r"(?<!\\)&#\d+;", lambda found: html.unescape(found[0]), text)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text).replace("\u200b", "")


@pytest.mark.parametrize(
    "text, broken",
    [
        ("@somebody/x", "@\u200bsomebody/x"),
        ("fixes #1", "fixes #\u200b1"),
        ("owner/repo#12", "owner/repo#\u200b12"),
        ("GH-12 gh-3", "GH-\u200b12 gh-\u200b3"),
        (":smile: :+1:", ":\u200bsmile: :\u200b+1:"),
    ],
)
def test_markdown_tells_nobody_and_links_nothing(text, broken):
    escaped = markdown(text)
    assert html.unescape(escaped.replace("\\", "")) == broken
    assert as_shown(escaped) == text


def test_markdown_has_no_mathematics_and_leaves_the_rest_alone():
    assert "$" not in markdown("$a$b$") and as_shown(markdown("$a$b$")) == "$a$b$"
    for plain in (
        "me@home",
        "sync:none/count:4",
        "strategy:pwrite",
        "C# is",
        "12:30:5",
    ):
        assert markdown(plain) == plain


class Elements(HTMLParser):
    """All elements of a page with their attributes, and all that is not one."""

    def __init__(self, page):
        super().__init__()
        self.found, self.links = set(), set()
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.add((tag, *sorted(name for name, _ in attrs)))
        self.links |= {value for name, value in attrs if name in ("href", "src")}
        self.links |= {value for name, value in attrs if name == "style"}

    def handle_comment(self, data):
        self.found.add(("comment", data))

    handle_decl = handle_pi = unknown_decl = handle_comment


def test_html_has_the_same_elements_whatever_the_texts(shown, tmp_path):
    pages = []
    for text in (HARMLESS, EVIL):
        out = tmp_path / "report.html"
        shown(report, "-o", str(out), text=text)
        pages.append(out.read_text())
    harmless, evil = map(Elements, pages)
    assert "alert(3)" in pages[1] and is_safe(pages[1])
    assert evil.found == harmless.found
    assert {tag for tag, *_ in evil.found}.isdisjoint(
        {"script", "img", "iframe", "a b"}
    )
    assert evil.links == harmless.links


def test_pictures_have_the_same_elements_whatever_the_texts(shown, tmp_path):
    kinds = []
    for text in (HARMLESS, EVIL):
        out = tmp_path / "map.svg"
        shown(crossover, f"--svg={out}", text=text)
        kinds.append(
            {(e.tag, *sorted(e.attrib)) for e in ElementTree.parse(out).iter()}
        )
    assert kinds[0] == kinds[1]


def test_csv_is_a_line_a_pair_without_formulas(shown):
    out, _ = shown(compare, "--format=csv", by_itself=False)
    rows = list(csv.reader(io.StringIO(out)))
    assert len(rows) == len(out.splitlines()) == out.count("\n")
    assert {len(row) for row in rows} == {len(rows[0])}
    texts = [
        cell for row in rows for cell in row if not re.fullmatch(r"-?[\d.e-]*", cell)
    ]
    assert any("=1+1" in cell for cell in texts)
    assert not any(cell.lstrip().startswith(("=", "+", "-", "@")) for cell in texts)


@pytest.mark.parametrize("script", [compare, crossover, claims])
def test_json_is_strict_and_holds_the_texts_as_they_are(shown, script):
    out, _ = shown(script, "--format=json", by_itself=script is not compare)
    assert out.isascii() and is_safe(out)
    json.loads(out, parse_constant=pytest.fail)
