"""blog_table.py: tables, groups, sentences, exit status, and command line."""

import os
import re
import signal
import subprocess
import sys

import pytest
from conftest import RESULTS
from made import BLOG, CALLS, blog_run, failed, repetitions, results

SCRIPT = str(RESULTS / "blog_table.py")
TYPICAL = {"pwrite": 40, "pwritev": 30, "fallback": 40, "contiguous": 28}


def flat(text):
    return " ".join(text.split())


def test_the_table_of_a_run(show, rng):
    context = {
        "kernel": "Linux 6.1",
        "cpu": "A CPU",
        "machine": "aarch64",
        "emulated": "qemu-user 7.2.0",
        "host_machine": "x86_64",
        "directory": "/mnt/x",
        "filesystem": "xfs",
        "device": "/dev/sdb",
        "refused": "pwritev2 on tcp: no offsets\nfsync on a pipe",
    }
    status, out, err = show(blog_run(TYPICAL, rng, **context))
    assert (status, err) == (0, "")
    for text in ("Linux 6.1", "A CPU, aarch64, emulated by qemu-user 7.2.0 on x86_64"):
        assert text in out
    assert "xfs on /dev/sdb" in out and "/mnt/x" in out
    assert "- not run: pwritev2 on tcp: no offsets\n- not run: fsync on a pipe" in out
    table = [line for line in out.splitlines() if line.startswith("|")]
    assert len({len(line) for line in table}) == 1 and len(table[0]) <= 100
    assert flat(table[0]) == (
        "| Method | Mean [ms] | Error | StdDev | Median | Ratio | n | calls | kernel"
        " | GB/s |"
    )
    assert [line.split("|")[1].strip() for line in table[2:]] == [
        "Write",
        "WriteGather",
        "Gather, no pwritev",
        "Contiguous write",
    ]
    assert all(len(line) <= 100 for line in out.splitlines())


def test_a_run_under_load_says_so(show, rng):
    words = "others used 99 % of the processors' time"
    _, out, _ = show(blog_run(TYPICAL, rng, under_load=words))
    assert re.search(rf"Under load: +{words}", out)
    _, out, _ = show(blog_run(TYPICAL, rng))
    assert "Under load" not in out


def test_the_published_tables_fit_on_the_same_screen(show, rng):
    context = {"kernel": "Linux 6.18.44", "cpu": "Intel(R) Xeon(R) Processor"}
    context |= {"machine": "x86_64", "emulated": "no", "directory": "/tmp"}
    context |= {"filesystem": "ext4", "device": "/dev/vda", "mount_options": "rw," * 99}
    run = blog_run({**TYPICAL, "fallback": 40.2}, rng, scatter=0.2, **context)
    _, out, _ = show(run, options=["--published"])
    lines = out.splitlines()
    assert len(lines) <= 58 and max(map(len, lines)) <= 100
    assert "rw,rw" not in out and out.count("| Write ") == 5


def test_preallocation_is_published_beside_runs_that_have_it(show, rng):
    blog = blog_run(TYPICAL, rng)
    assert "preallocated" not in show(blog, options=["--published"])[1]
    for entry in blog["benchmarks"]:
        for key in ("name", "run_name"):
            entry[key] = entry[key].replace(
                "/file_bytes", "/preallocate:yes/file_bytes"
            )
    assert "Write, preallocated" in show(blog, options=["--published"])[1]


def test_what_a_typical_run_means(show, rng):
    _, out, _ = show(blog_run(TYPICAL, rng, scatter=0.005))
    text = flat(out)
    assert "Gathering 4 buffers into one call is 2" in text
    assert re.search(
        r"one by one here: about 8\d % of what any gather could gain", text
    )
    assert (
        "counted 6250 write calls for Write and 1563 for WriteGather, so each" in text
    )
    assert "it makes the 6250 calls of Write and takes the same time as Write." in text


@pytest.mark.parametrize(
    "changed, scatter, sentence",
    [
        (
            {"pwritev": 50},
            0.005,
            r"into one call is 2[45]\.\d % slower than writing them one",
        ),
        ({"pwritev": 40}, 0.005, "into one call neither gains nor costs anything here"),
        ({"pwritev": 40.2}, 0.3, "into one call pays here, this run cannot tell"),
        ({"contiguous": 40}, 0.005, "one by one: nothing is to be gained"),
        (
            {"contiguous": 50},
            0.005,
            r"could gain, is 2[45]\.\d % slower than writing them",
        ),
        ({"contiguous": 40.2}, 0.3, "gain, does not differ clearly from writing them"),
        ({"pwritev": 25}, 0.005, "one by one here: all of what any gather could gain"),
        (
            {"fallback": 50},
            0.005,
            r"6250 calls of Write and yet is 2[45]\.\d % slower than",
        ),
        ({"fallback": 40.2}, 0.3, "calls of Write and cannot be told from it here"),
    ],
)
def test_what_other_runs_mean(show, rng, changed, scatter, sentence):
    _, out, _ = show(blog_run({**TYPICAL, **changed}, rng, scatter=scatter))
    assert re.search(sentence, flat(out))


@pytest.mark.parametrize(
    "kernel, sentence",
    [
        (
            {**CALLS, "pwritev": 6250},
            "the gathers were taken apart before they reached",
        ),
        ({**CALLS, "pwritev": 3000}, "which made 1563: not every gather was one call"),
        ({"pwrite": None}, "own count of write calls is not available here"),
    ],
)
def test_what_the_kernel_counted(show, rng, kernel, sentence):
    _, out, _ = show(blog_run(TYPICAL, rng, kernel_calls=kernel))
    assert sentence in flat(out)
    assert "did reach it" not in out


def test_a_gather_that_is_no_gather(show, rng):
    run = blog_run(TYPICAL, rng)
    for entry in run["benchmarks"]:
        entry["calls"] = entry["kernel_calls"] = 6250
    text = flat(show(run)[1])
    assert "the gathers were taken apart" in text and "did reach it" not in text


def test_a_missing_row_is_named(show, rng):
    medians = {k: v for k, v in TYPICAL.items() if k != "pwritev"}
    run = blog_run(medians, rng)
    status, out, err = show(run)
    assert status == 1 and "the row WriteGather is missing from this run" in err
    assert "Gathering" not in out and "what any gather could gain" not in out
    run["context"]["gatherbench.command"] = "gatherbench --strategy=pwrite,fallback"
    assert show(run)[0] == 0


@pytest.mark.parametrize("strategy", TYPICAL)
def test_a_failed_row_takes_its_sentences_with_it(show, rng, strategy):
    run = blog_run(TYPICAL, rng)
    name = BLOG.format(strategy)
    rest = [entry for entry in run["benchmarks"] if entry["name"] != name]
    status, out, err = show({**run, "benchmarks": [failed(name), *rest]})
    assert status == 1 and "No space left" in err
    assert len(re.findall(r"\| +failed \|", out)) == 1
    words = {
        "pwrite": "% faster",
        "pwritev": "- WriteGather: 2",
        "fallback": "most likely did",
        "contiguous": "most that any gather",
    }
    assert words[strategy] not in out


def test_the_verdict_has_no_drift_in_it(show, rng):
    run = blog_run(TYPICAL, rng, scatter=0.002)
    for entry in run["benchmarks"]:
        entry["real_time"] *= 1 + entry["start_s"] / 20
    text = flat(show(run)[1])
    assert "% was removed: scatter" in text
    ratio = re.search(r"- WriteGather: \S+ % faster \((\S+),", text)[1]
    assert float(ratio) == pytest.approx(0.75, abs=0.005)


def test_rows_run_one_after_the_other_are_pointed_out(show, rng):
    run = blog_run(TYPICAL, rng, n=10)
    for i, entry in enumerate(run["benchmarks"]):
        entry["start_s"] = float(i)
    said = flat(show(run)[1])
    assert "undecided; the order of the repetitions was not left to chance" in said
    assert "faster" not in said and "ran in random order, with start times" in said


def op_row(strategy, median, rng, **keys):
    pairs = {"strategy": strategy, "target": "null", "sync": "none", **keys}
    name = "/".join(["op", *(f"{k}:{v}" for k, v in pairs.items()), "real_time"])
    return repetitions(name, list(median * rng.lognormal(0, 0.01, 20)))


def test_rows_are_grouped_by_everything_but_the_strategy(show, rng):
    rows = [
        op_row(s, m, rng, count=4, size=size)
        for size in ("512", "24+4096")
        for s, m in (("writev", 200), ("write", 300), ("coalesce", 250))
    ]
    status, out, _ = show(results(*rows))
    assert status == 0 and out.count("| Method") == 2
    assert "op target:null sync:none count:4 size:24+4096" in out
    assert out.count("Against write (ratio of medians,") == 2
    assert out.count("- writev: 3") == 2 and out.count(" % faster (") == 4


def test_one_strategy_is_compared_along_the_key_that_varies(show, rng):
    rows = [op_row("pwritev", m, rng, sync=s) for s, m in (("none", 9), ("fsync", 99))]
    _, out, _ = show(results(*rows))
    assert "Against sync:none (" in out and "- sync:fsync: 1" in out
    assert " times slower (" in out


def test_different_amounts_of_work_get_no_verdict(show, rng):
    rows = [op_row("pwritev", m, rng, count=c) for c, m in ((1, 9), (8, 99))]
    status, out, _ = show(results(*rows))
    assert status == 0 and "| count:8" in out
    assert "slower" not in out and "Ratio" not in out


def test_preallocation_is_a_pair(show, rng):
    plain = BLOG.format("pwrite")
    allocated = plain.replace("/file_bytes", "/preallocate:yes/file_bytes")
    times = [list(m * rng.lognormal(0, 0.01, 30)) for m in (60, 40)]
    rows = repetitions(allocated, times[1], "ms"), repetitions(plain, times[0], "ms")
    _, out, _ = show(results(*rows))
    assert "Against Write (" in out and "- Write, preallocated: 3" in out


def test_a_foreign_file_is_one_table_with_its_first_row_as_baseline(show, rng):
    rows = [
        repetitions(n, list(m * rng.lognormal(0, 0.01, 20)))
        for n, m in (("BM_memcpy/8", 10), ("BM_memcpy/16/threads:2", 30))
    ]
    status, out, err = show(results(*rows))
    assert (status, err) == (0, "") and out.count("| Method") == 1
    assert "Against BM_memcpy/8 (" in out and "- BM_memcpy/16/threads:2: 2" in out


def test_rows_of_several_systems_are_one_table(show, rng):
    rows = [
        op_row(s, m, rng, system=system)
        for system, slow in (("old", 1), ("new", 2))
        for s, m in (("writev", 200 * slow), ("write", 300 * slow), ("coalesce", 290))
    ]
    _, out, _ = show(results(*rows))
    assert out.count("| Method") == 1 and flat(out).count("| old |") == 3
    assert "| System | Method" in flat(out)
    assert "- old, writev: 3" in out and "- new, writev: 3" in out
    assert re.search(r"- old, coalesce: [1-5]\.\d+ % faster", out)
    assert re.search(r"- new, coalesce: 5\d\.\d % faster", out)
    single = show(results(*rows[:3]))[1]
    assert "System" not in single and "op target:null sync:none system:old" in single


def test_systems_with_one_pair_each_are_named_by_the_system(show, rng):
    rows = [
        op_row(s, m, rng, system=system)
        for system in ("old", "new")
        for s, m in (("write", 300), ("writev", 200))
    ]
    _, out, _ = show(results(*rows))
    assert "writev against write (ratio of medians" in out
    assert "- old: 3" in out and "- new: 3" in out


def test_threshold(show, rng):
    run = blog_run({**TYPICAL, "fallback": 41.2}, rng)
    assert "yet is" in flat(show(run)[1])
    wide = flat(show(run, options=["--threshold=10"])[1])
    assert "takes the same time as Write." in wide
    assert "- Gather, no pwritev: the same within 10.0 % (1.0" in wide


def test_the_output_can_go_into_a_file_too(show, rng, tmp_path):
    path = tmp_path / "table.md"
    _, out, _ = show(blog_run(TYPICAL, rng), options=[f"--out={path}"])
    assert path.read_text() == out and "| Write " in out


def test_a_file_that_cannot_be_written_is_one_line(tmp_path):
    done = call(SCRIPT, "--published", "--out=/dev/full", stdout=subprocess.DEVNULL)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "No space left on device" in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments", [[], ["--threshold=0", "x"], ["--threshold=nan", "x"], ["--colour"]]
)
def test_bad_usage(arguments, capsys):
    from commands import blog_table

    with pytest.raises(SystemExit) as raised:
        blog_table.main(arguments)
    assert raised.value.code == 2


def call(*arguments, **options):
    return subprocess.run(
        [sys.executable, *arguments], stderr=subprocess.PIPE, text=True, **options
    )


def test_it_runs_from_anywhere(tmp_path):
    done = call(SCRIPT, "--published", cwd=tmp_path, stdout=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (0, "") and "10.8 % faster" in done.stdout


def test_a_reader_that_stops_early_gets_no_traceback():
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = call(SCRIPT, "--published", stdout=write_end)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_a_full_disk_is_one_line():
    with open("/dev/full", "w") as full:
        done = call(SCRIPT, "--published", stdout=full)
    assert done.returncode == 2
    assert done.stderr == (
        "blog_table.py: cannot write the output: No space left on device\n"
    )


def test_missing_packages_are_named(tmp_path):
    (tmp_path / "scipy.py").write_text("raise ModuleNotFoundError('no', name='scipy')")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = call(SCRIPT, "--published", env=environment, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "no scipy" in done.stderr and "python3-numpy python3-scipy" in done.stderr
