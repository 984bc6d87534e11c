"""Any locale, any name of a directory, and any state of the standard streams: the same results, or a status that is not 0."""

import itertools
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from run_suite import LOAD_KEYS, SMALL, SUITE, read, repetitions, run, table_of

QUICK = [*SMALL, "--quick", "--strategy=pwrite,pwritev"]
ROWS = 6
UNWRITTEN = "gatherbench: write to the standard output failed"


def clean_environment(**more):
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("LC_", "LANG", "BENCHMARK_"))
    }
    return kept | more


@pytest.fixture(scope="module")
def comma_locale(tmp_path_factory):
    """The environment of a locale that writes 1,5 for a half more than one."""
    if not shutil.which("localedef"):
        pytest.skip("no localedef here")
    folder = tmp_path_factory.mktemp("locales")
    made = subprocess.run(
        ["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"],
        capture_output=True,
    )
    # It warns (1) of what it does not like in its own sources.
    if made.returncode > 1 or not (folder / "de_DE.UTF-8").is_dir():
        pytest.skip("no sources of locales here (Debian: locales)")
    environment = {"LOCPATH": str(folder), "LC_ALL": "de_DE.UTF-8"}
    shown = subprocess.run(
        ["/usr/bin/printf", "%.1f", "1,5"],
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
    )
    assert shown.stdout == "1,5"
    return environment


def structure(value):
    """What is the same in all runs: the keys, but for those of the load and those that may be absent, and the kinds of
    values."""
    if isinstance(value, dict):
        kept = value.keys() - LOAD_KEYS - {"device_bytes"}
        return {key: structure(value[key]) for key in kept}
    if isinstance(value, list):
        return [structure(item) for item in value]
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def results_in(environment, folder, *options):
    out = folder / "out.json"
    done = subprocess.run(
        [*SUITE, *QUICK, f"--dir={folder}", f"--benchmark_out={out}", *options],
        env=clean_environment(**environment),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    # Strict about UTF-8, too.
    return json.loads(out.read_bytes().decode()), done.stdout.decode()


@pytest.mark.parametrize("name", ["C", "POSIX", "C.UTF-8", "no such locale"])
def test_a_locale_changes_nothing(name, tmp_path):
    plain, screen = results_in({}, tmp_path)
    other, other_screen = results_in({"LC_ALL": name, "LANG": name}, tmp_path)
    assert structure(other) == structure(plain)
    assert len(table_of(screen)) == len(table_of(other_screen))


def test_a_comma_locale_changes_nothing(comma_locale, tmp_path):
    plain, _ = results_in({}, tmp_path)
    other, screen = results_in(comma_locale, tmp_path)
    assert structure(other) == structure(plain)
    assert all(isinstance(row["real_time"], float) for row in repetitions(other))
    assert "," not in screen.splitlines()[-1]


@pytest.mark.parametrize("form", ["json", "csv", "console"])
def test_a_comma_locale_changes_no_other_format(form, comma_locale, tmp_path):
    options = [f"--benchmark_out_format={form}", f"--benchmark_out={tmp_path / 'out'}"]
    done = run(*QUICK, *options, env=comma_locale)
    assert done.returncode == 0
    text = (tmp_path / "out").read_text()
    run(*QUICK, *options, env={"LC_ALL": "C"})
    plain = (tmp_path / "out").read_text()
    load = "|".join(LOAD_KEYS)
    text, plain = (re.sub(rf".*({load}).*\n", "", each) for each in (text, plain))
    assert text.count(",") == plain.count(",")


NAMES = {
    "UTF-8": "größe-大きさ-🗄".encode(),
    "Latin-1": b"gr\xf6\xdfe",
    "quotes": b"a\"b'c`d",
    "backslashes": b"a\\b\\\\u0041\\",
    "newline and tab": b"a\nb\tc\rd",
    "control characters": bytes(range(1, 0x20)) + b"\x7f",
    "every byte": bytes(set(range(1, 256)) - {ord("/")}),
    # Overlong, a surrogate, beyond the last character, cut short: none of them is UTF-8.
    "no UTF-8": b"\xc0\x80-\xe0\x80\x80-\xed\xa0\x80-\xf4\x90\x80\x80-\xf8-\xe5\xa4",
    "JSON": b'","x":{"y":[',
}


def as_shown(name):
    """What JSON can hold of a name."""
    shown = ""
    while name:
        try:
            return shown + name.decode()
        except UnicodeDecodeError as error:
            shown += name[: error.start].decode() + "\ufffd"
            name = name[error.start + 1 :]
    return shown


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_of_a_directory_gives_valid_json(name, tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    out = tmp_path / "out.json"
    done = subprocess.run(
        [*SUITE, *QUICK, b"--dir=" + folder, f"--benchmark_out={out}"]
        + [b"--benchmark_context=name=" + name.replace(b"=", b"").replace(b",", b"")],
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    text = out.read_bytes().decode()
    context = json.loads(text)["context"]
    assert context["gatherbench.directory"] == as_shown(folder)
    assert as_shown(name) in context["gatherbench.command"]
    assert os.listdir(folder) == []


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_json_on_the_screen_is_valid_too(name, tmp_path):
    folder = os.path.join(os.fsencode(tmp_path), name)
    os.mkdir(folder)
    done = subprocess.run(
        [*SUITE, *QUICK, b"--dir=" + folder, "--benchmark_format=json"],
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0
    context = json.loads(done.stdout.decode())["context"]
    assert context["gatherbench.directory"] == as_shown(folder)


def through_shell(redirection, *options):
    """Runs the suite with redirected streams; the shell gives its status."""
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *SUITE, *options],
        capture_output=True,
        text=True,
        timeout=60,
        env=clean_environment(),
    )


def is_whole(out):
    rows = repetitions(read(out))
    return len(rows) == ROWS and not any("error_occurred" in row for row in rows)


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_an_output_that_cannot_be_written_is_told(redirection, tmp_path):
    out = tmp_path / "out.json"
    options = [f"--dir={tmp_path}", f"--benchmark_out={out}"]
    done = through_shell(redirection, *QUICK, *options)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [UNWRITTEN]
    assert is_whole(out)
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    "option",
    ["--list", "--help", "--version", "--dry-run", "--benchmark_list_tests"]
    + ["--benchmark_format=json", "--benchmark_format=csv"],
)
def test_a_text_that_cannot_be_written_is_told(option, redirection, tmp_path):
    done = through_shell(redirection, *QUICK, f"--dir={tmp_path}", option)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == UNWRITTEN  # CSV has its context there
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("redirection", ["2>/dev/full", "2>&-", "<&-"])
def test_messages_and_input_are_not_needed(redirection, tmp_path):
    out = tmp_path / "out.json"
    options = [f"--dir={tmp_path}", f"--benchmark_out={out}", "--sync=none,rwf_dsync"]
    done = through_shell(redirection, *QUICK, *options)  # a refused row is told
    assert done.returncode == 0
    assert len(table_of(done.stdout)) == 3
    assert is_whole(out)


@pytest.mark.parametrize("closed", itertools.product([0, 1], repeat=3), ids=str)
def test_closed_streams_never_get_into_a_file(closed, tmp_path):
    """The next file that is opened gets the lowest number that is free."""
    names = [f"{fd}{'<' if fd == 0 else '>'}&-" for fd in range(3) if closed[fd]]
    out = tmp_path / "out.json"
    options = [f"--dir={tmp_path}", f"--benchmark_out={out}", "--sync=none,rwf_dsync"]
    done = through_shell(" ".join(names), *QUICK, "--verify", *options)
    assert done.returncode == (1 if closed[1] else 0)
    assert is_whole(out)
    assert read(out)["context"]["gatherbench.refused"].count("\n") == 1


def test_bad_usage_stays_bad_usage_without_streams():
    for redirection in [">&-", "2>&-", ">/dev/full 2>/dev/full"]:
        assert through_shell(redirection, "--strategy=none-such").returncode == 2


def test_a_reader_that_goes_away_is_told_and_costs_no_results(tmp_path):
    out = tmp_path / "out.json"
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [*SUITE, *QUICK, f"--dir={tmp_path}", f"--benchmark_out={out}"],
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    finally:
        os.close(writer)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [UNWRITTEN]
    assert is_whole(out)


def test_the_first_line_of_a_long_list_can_be_had():
    sizes = ",".join(str(size) for size in range(1, 3000))
    options = ["--target=null", f"--size={sizes}", "--benchmark_list_tests"]
    done = through_shell("| head -1", *options)
    assert done.stdout == (
        "op/strategy:write/target:null/sync:none/count:4/size:1/real_time\n"
    )
    assert done.stderr.splitlines() in ([], [UNWRITTEN])


def test_a_slow_reader_gets_everything(tmp_path):
    sizes = ",".join(str(size) for size in range(1, 1000))
    process = subprocess.Popen(
        [*SUITE, "--target=null", "--strategy=none", f"--size={sizes}"]
        + ["--benchmark_repetitions=1", "--benchmark_min_time=1e-9"]
        + ["--benchmark_format=json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    read_so_far = b""
    while part := process.stdout.read1(16384):
        read_so_far += part
        time.sleep(0.005)
    process.stdout.close()
    assert process.wait(timeout=60) == 0
    assert len(repetitions(json.loads(read_so_far))) == 999
