"""What a user gets for good and for bad options."""

import json
import os

import pytest

from run_suite import SMALL, read, repetitions, run, table_of


@pytest.mark.parametrize(
    "options, says",
    [
        (["--unknown"], "--unknown"),
        (["--benchmark_unknown"], "--benchmark_unknown"),
        (["--strategy=writevv"], "writevv"),
        (["--sync=maybe"], "maybe"),
        (["--target=tape"], "tape"),
        (["--count=0"], "at least 1"),
        (["--count=-1"], "negative"),
        (["--count=1,,2"], "''"),
        (["--count="], "''"),
        (["--size=3x"], "3x"),
        (["--size=1+2+3+4+5+6+7+8+9"], "eight"),
        (["--size=99999999999g"], "too large"),
        (["--file-bytes=-5"], "negative"),
        (["--scope=op,file"], "one value"),
        (["--preset=nothing"], "nothing"),
        (["--preset-file=/no/such/file"], "/no/such/file"),
        (["--preset=blog", "--preset-file=x"], "exclude"),
        (["--benchmark_filter=("], "benchmark_filter"),
        (["--benchmark_repetitions=0"], "benchmark_repetitions"),
        (["--benchmark_time_unit=fortnights"], "fortnights"),
        (["--benchmark_out_format=xml"], "xml"),
        (["surplus"], "surplus"),
        (["--dir="], "directory"),
        (["--budget=0"], "budget"),
        (["--budget=soon"], "budget"),
        (["--create=old"], "old"),
        (["--laid=bricks"], "bricks"),
        (["--keep=perhaps"], "neither yes nor no"),
    ],
)
def test_bad_usage_is_one_clear_line(options, says):
    result = run(*options)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert says in result.stderr


def test_help_shows_our_options_and_google_benchmarks():
    result = run("--help")
    assert result.returncode == 0
    assert "--strategy=LIST" in result.stdout
    assert "--benchmark_filter" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_list_needs_no_directory_and_names_every_row():
    result = run("--list", env={"TMPDIR": "/no/such/directory"})
    assert result.returncode == 0
    assert max(map(len, result.stdout.splitlines())) <= 120
    words = "write writev pwrite pwritev pwritev2 coalesce contiguous fallback stdio none file null"
    words += " pipe unix tcp fdatasync fsync odsync osync rwf_dsync fullfsync barrierfsync op"
    words += " blog prealloc grid ladder wal net claims syscall"
    for word in words.split():
        assert f"\n  {word} " in result.stdout
    assert "n/a here: only macOS has F_FULLFSYNC" in result.stdout


def test_list_tests_makes_no_file(tmp_path):
    out = tmp_path / "out.json"
    result = run(
        "--benchmark_list_tests", f"--benchmark_out={out}", f"--dir={tmp_path}/missing"
    )
    assert result.returncode == 0
    assert result.stdout.splitlines() == [
        f"file/strategy:{name}/target:{target}/file_bytes:100000000/buffers:one/count:4/size:16000/real_time"
        for target, names in {
            "file/sync:none/create:dotnet": [
                "pwrite",
                "pwritev",
                "fallback",
                "contiguous",
            ],
            "null/sync:none": ["pwrite", "pwritev", "contiguous"],
        }.items()
        for name in names
    ]
    assert not out.exists()


LARGE = [
    "--scope=file",
    "--file-bytes=100000000",
    "--size=16000",
    "--strategy=pwrite,pwritev",
]


def test_a_budget_lowers_the_repetitions_and_says_so(tmp_path):
    out = tmp_path / "out.json"
    options = [
        *LARGE,
        "--budget=1",
        "--benchmark_repetitions=9999",
        "--target=file,null",
    ]
    result = run(*options, f"--dir={tmp_path}", f"--benchmark_out={out}")
    assert result.returncode == 0
    made = len(repetitions(read(out), "pwritev")) // 2
    assert 10 <= made < 9999
    assert read(out)["context"]["gatherbench.budget_s"] == "1"
    few = f"{made} repetitions of a row, not 9999"
    assert (few in result.stdout) == (made < 20)
    assert read(out)["benchmarks"][0]["repetitions"] == made


def test_repetitions_that_a_user_asks_for_are_not_subject_to_a_presets_budget(tmp_path):
    preset = tmp_path / "mine"
    preset.write_text("--target=null --budget=1 --benchmark_repetitions=1000000\n")
    out = tmp_path / "out.json"
    options = [
        f"--preset-file={preset}",
        "--strategy=write",
        "--benchmark_min_time=0.2",
    ]
    options += [f"--dir={tmp_path}", f"--benchmark_out={out}"]
    assert run(*options, "--benchmark_repetitions=12").returncode == 0
    assert len(repetitions(read(out))) == 12
    result = run(*options)
    assert len(repetitions(read(out))) == 10
    assert "10 repetitions of a row, not 1000000" in result.stdout


def test_ten_thousand_rows_are_listed():
    counts = ",".join(str(count) for count in range(1, 2501))
    result = run(
        "--benchmark_list_tests",
        "--target=null",
        f"--count={counts}",
        "--size=1,2",
        timeout=10,
    )
    assert len(result.stdout.splitlines()) == 15000


def test_the_filter_chooses_rows(tmp_path):
    out = tmp_path / "out.json"
    result = run(
        *SMALL, "--benchmark_filter=writev/", "--quick", f"--benchmark_out={out}"
    )
    assert result.returncode == 0
    assert {row["name"].split("/")[1] for row in repetitions(read(out))} == {
        "strategy:writev"
    }
    inverted = run(*SMALL, "--benchmark_filter=-writev/", "--benchmark_list_tests")
    assert len(inverted.stdout.splitlines()) == 2


def test_a_filter_that_matches_nothing_fails_and_leaves_no_file(tmp_path):
    out = tmp_path / "out.json"
    result = run("--benchmark_filter=nothing", f"--benchmark_out={out}")
    assert result.returncode == 3
    assert "no row matches" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_refused_rows_are_told_and_kept_in_the_results(tmp_path):
    out = tmp_path / "out.json"
    result = run(
        "--target=null",
        "--strategy=write",
        "--sync=none,fsync",
        "--quick",
        f"--benchmark_out={out}",
    )
    assert result.returncode == 0
    assert "refused: op/strategy:write/target:null/sync:fsync" in result.stderr
    results = read(out)
    assert "sync:fsync" in results["context"]["gatherbench.refused"]
    assert {row["name"].split("/")[3] for row in repetitions(results)} == {"sync:none"}


def test_a_run_of_refused_rows_only_fails(tmp_path):
    out = tmp_path / "out.json"
    result = run(
        "--target=null", "--strategy=write", "--sync=fsync", f"--benchmark_out={out}"
    )
    assert result.returncode == 3
    assert "refused" in result.stderr
    assert not out.exists()


@pytest.mark.parametrize("through", ["flag", "environment"])
def test_results_never_go_onto_a_device_or_through_a_link(through, tmp_path):
    target = tmp_path / "target.json"
    target.write_text("mine")
    link = tmp_path / "link.json"
    link.symlink_to(target)
    # A pipe stands for the device: if the test were wrong, it would do no harm.
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in [link, fifo, tmp_path]:
        if through == "flag":
            result = run(*SMALL, "--quick", f"--benchmark_out={path}")
        else:
            result = run(*SMALL, "--quick", env={"BENCHMARK_OUT": str(path)})
        assert result.returncode == 1
        assert "not a regular file" in result.stderr
    assert target.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "fifo",
        "link.json",
        "target.json",
    ]


def test_results_go_to_the_file_that_the_environment_names(tmp_path):
    out = tmp_path / "out.json"
    result = run(
        *SMALL, "--quick", env={"BENCHMARK_OUT": str(out), "BENCHMARK_REPETITIONS": "4"}
    )
    assert result.returncode == 0
    assert len(repetitions(read(out), "write")) == 4


def test_rows_stand_in_the_order_of_the_options_with_all_repetitions(tmp_path):
    out = tmp_path / "out.json"
    run(
        *SMALL,
        "--strategy=pwritev,pwrite",
        "--benchmark_repetitions=5",
        f"--benchmark_out={out}",
    )
    rows = repetitions(read(out))
    assert [row["name"].split("/")[1] for row in rows] == ["strategy:pwritev"] * 5 + [
        "strategy:pwrite"
    ] * 5
    starts = {row["start_s"] for row in rows}
    assert len(starts) == 10
    assert [row["repetition_index"] for row in rows] == [0, 1, 2, 3, 4] * 2


def test_rows_run_in_random_order(tmp_path):
    out = tmp_path / "out.json"
    run(
        *SMALL,
        "--strategy=pwrite,pwritev",
        "--benchmark_repetitions=20",
        f"--benchmark_out={out}",
    )
    rows = repetitions(read(out))
    order = [row["name"] for row in sorted(rows, key=lambda row: row["start_s"])]
    # That a row would run 20 times in a row by chance does not happen in a lifetime.
    assert len(set(order[:20])) == len(set(order[20:])) == 2


def test_context_names_what_was_measured(tmp_path):
    out = tmp_path / "out.json"
    run(*SMALL, "--quick", f"--dir={tmp_path}", f"--benchmark_out={out}")
    context = read(out)["context"]
    for key in [
        "version",
        "build_type",
        "command",
        "kernel",
        "machine",
        "emulated",
        "filesystem",
        "free_bytes",
    ]:
        assert context[f"gatherbench.{key}"]
    assert context["gatherbench.directory"] == str(tmp_path)
    assert "--quick" in context["gatherbench.command"]


def test_the_screen_shows_one_short_line_a_row(tmp_path):
    result = run(*SMALL, "--quick", f"--dir={tmp_path}")
    where = result.stdout.splitlines()[0]
    what = result.stdout.split("\n\n")[0].splitlines()[-1]
    head, *rows = table_of(result.stdout)
    assert "not emulated" in where or "emulated by qemu-user" in where
    assert "scope file" in what
    assert max(map(len, [what, head, *rows])) <= 100
    assert head.split()[:2] == ["strategy", "median"]
    assert [line.split()[0] for line in rows] == ["write", "writev", "coalesce"]


@pytest.mark.parametrize("format", ["console", "json", "csv"])
def test_google_benchmarks_own_display_can_be_had(format):
    result = run(*SMALL, "--quick", f"--benchmark_format={format}")
    assert result.returncode == 0
    assert "strategy:coalesce" in result.stdout
    if format == "json":
        json.loads(result.stdout)


def test_a_preset_file_is_read_and_the_command_line_lies_over_it(tmp_path):
    preset = tmp_path / "mine"
    preset.write_text(
        "# two products\n"
        "--strategy=write --target=null --count=1,2 --size=16 --benchmark_repetitions=4\n"
        "\n--strategy=writev --target=null --count=3 --size=16 # the other\n"
    )
    listed = run(
        f"--preset-file={preset}", "--benchmark_list_tests"
    ).stdout.splitlines()
    assert listed == [
        "op/strategy:write/target:null/sync:none/count:1/size:16/real_time",
        "op/strategy:write/target:null/sync:none/count:2/size:16/real_time",
        "op/strategy:writev/target:null/sync:none/count:3/size:16/real_time",
    ]
    listed = run(
        f"--preset-file={preset}", "--size=32", "--benchmark_list_tests"
    ).stdout
    assert listed.count("size:32") == 3


def test_rows_that_differ_in_any_option_have_names_of_their_own(tmp_path):
    preset = tmp_path / "mine"
    others = ["--buffers=one", "--verify", "--cpu=0", ""]
    preset.write_text(
        "\n".join(f"--strategy=write --target=null --count=2 {o}" for o in others * 2)
    )
    listed = run(f"--preset-file={preset}", "--benchmark_list_tests")
    assert listed.stdout.splitlines() == [
        f"op/strategy:write/target:null/sync:none{key}/count:2/size:4096/real_time"
        for key in ("/buffers:one", "/verify:yes", "/cpu:0", "")
    ]


def test_a_preset_file_with_a_mistake_is_bad_usage(tmp_path):
    preset = tmp_path / "mine"
    preset.write_text("--strategy=write --dir=/tmp\n")
    result = run(f"--preset-file={preset}")
    assert result.returncode == 2
    assert "--dir" in result.stderr


def test_nothing_is_left_in_the_directory(tmp_path):
    for scope in ["op", "file"]:
        assert (
            run(
                f"--scope={scope}", "--file-bytes=100k", "--quick", f"--dir={tmp_path}"
            ).returncode
            == 0
        )
        assert list(tmp_path.iterdir()) == []


def test_too_little_room_is_told_before_anything_is_written(tmp_path):
    result = run("--scope=file", "--file-bytes=900000g", f"--dir={tmp_path}")
    assert result.returncode == 1
    assert "are needed" in result.stderr and "are free" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_row_that_is_asked_for_twice_is_measured_once():
    listed = run(
        "--strategy=write,writev,write", "--benchmark_list_tests"
    ).stdout.splitlines()
    assert len(listed) == len(set(listed)) == 2


def test_a_time_unit_is_passed_on(tmp_path):
    out = tmp_path / "out.json"
    for options, env in [
        (["--benchmark_time_unit=us"], {}),
        ([], {"BENCHMARK_TIME_UNIT": "us"}),
    ]:
        assert (
            run(
                *SMALL, "--quick", f"--benchmark_out={out}", *options, env=env
            ).returncode
            == 0
        )
        assert {row["time_unit"] for row in read(out)["benchmarks"]} == {"us"}


def test_version():
    assert run("--version").stdout.startswith("gatherbench ")
