"""Options and preset files that somebody else wrote: one clear line, in little time and memory."""

import resource
import subprocess
from itertools import count

import pytest

from run_suite import SUITE, WRAPPER, has_sanitizer, run

MEMORY_BYTES = 256 << 20
CAN_LIMIT_MEMORY = not WRAPPER and not has_sanitizer()
NUMBERS = ",".join(str(number) for number in range(1, 2001))
PRODUCT = [f"--count={NUMBERS}", f"--size={NUMBERS}"]
ESCAPES = "\x1b[2J\x7f\u202e\u2066\u200b\r\n\x9b"


def run_bounded(*options):
    """Runs with so little memory and time that what is refused must be refused at once."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
        if CAN_LIMIT_MEMORY:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))

    result = subprocess.run(
        [*SUITE, *options], preexec_fn=limit, capture_output=True, timeout=60
    )
    return result.returncode, result.stderr.decode()


def assert_one_safe_line(text):
    """Nothing in it acts on a terminal."""
    assert text.endswith("\n") and text.count("\n") == 1
    assert all(c.isprintable() for c in text[:-1])


@pytest.mark.parametrize(
    "options, says",
    [
        (PRODUCT, "more than 100000 rows"),
        ([*PRODUCT, "--benchmark_filter=nothing"], "more than 100000 rows"),
        (["--benchmark_repetitions=2147483647"], "more than 1000000 repetitions"),
        (["--benchmark_min_time=inf"], "min_time"),
        (["--benchmark_min_time=nan"], "min_time"),
        (["--benchmark_min_time=-1"], "min_time"),
        (["--benchmark_min_time=soon"], "min_time"),
        (["--count=" + "0" * 9999 + "1"], "longer than 200"),
        (["--preset-file=/dev/zero"], "too large"),
        (["--preset-file=/dev/null"], "empty"),
        (["--preset-file=/"], "directory"),
    ],
    ids=count(),
)
def test_what_would_cost_much_is_refused_at_once(options, says):
    status, err = run_bounded("--dry-run", *options)
    assert status == 2 and says in err
    assert_one_safe_line(err)


def test_filters_that_people_write_are_taken():
    filters = [
        "count:[0-9]{1,3}/",
        "size:24\\+4096",
        "(op|file)/.*pwritev?/",
        "{",
        "a{,2}",
    ]
    for text in filters:
        status, err = run_bounded("--dry-run", f"--benchmark_filter={text}")
        assert status in (0, 2) and "repeats" not in err and "supported" not in err


def test_a_hundred_thousand_rows_are_listed():
    result = run(
        "--benchmark_list_tests",
        "--strategy=none",
        f"--count={NUMBERS}",
        "--size=" + ",".join(str(size) for size in range(50)),
    )
    assert len(result.stdout.splitlines()) == 100_000


@pytest.mark.parametrize(
    "option",
    [
        "--{}",
        "--{}=1",
        "-{}",
        "{}",
        "--strategy={}",
        "--count=1{}",
        "--size={}",
        "--scope=op,{}",
        "--quick={}",
        "--preset={}",
        "--preset-file=/none/{}",
        "--benchmark_filter=({}",
        "--benchmark_min_time={}",
        "--benchmark_format={}",
        "--benchmark_time_unit={}",
        "--target=null --benchmark_out=/none/{}",
        "--dir=/none/{}",
    ],
)
@pytest.mark.parametrize(
    "text", [ESCAPES.encode(), b"\xff\xed\xa0\x80\xc3"], ids=["escapes", "no UTF-8"]
)
def test_a_complaint_does_not_act_on_the_terminal(option, text):
    words = option.encode().split(b" ")
    status, err = run_bounded(*(word.replace(b"{}", text) for word in words))
    assert status in (1, 2)
    assert_one_safe_line(err)


def test_names_in_any_language_are_shown_as_they_are():
    _, err = run_bounded("--preset=\u65e5\u672c \u00e4\U0001f600")
    assert "'\u65e5\u672c \u00e4\U0001f600'" in err


def test_a_very_long_argument_is_cut():
    _, err = run_bounded("--preset=" + "a\x1b" * 20_000)
    assert len(err) < 6000 and err.endswith("...\n")


@pytest.mark.parametrize(
    "lines, says",
    [
        (b"--v=1 " * 60 + b"\n" + b"--v=1 " * 60, "a preset may only set"),
        (b"--dir=/etc", "--dir"),
        (b"--preset-file=x", "unknown"),
        (b"--benchmark_out=/etc/passwd", "a preset may only set"),
        (b"--help", "unknown"),
        (b"--count=1\0--count=2", "no text"),
        (b"--count=1 " * 64, "too many options"),
        (b"#" * (1 << 20) + b"\n", "too large"),
        (b"--strategy=\x1b[31mwrite", "'\\x1b[31mwrite'"),
        (b"--count=1 surplus\x9b", "'surplus\\x9b'"),
        (f"--count={NUMBERS} --size=1,2,3,4\n".encode() * 20, "more than 100000 rows"),
    ],
    ids=count(),
)
def test_preset_files(tmp_path, lines, says):
    path = tmp_path / "preset"
    path.write_bytes(lines)
    status, err = run_bounded("--dry-run", f"--preset-file={path}")
    assert status == 2 and says in err
    assert_one_safe_line(err)
