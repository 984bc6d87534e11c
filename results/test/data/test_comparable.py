"""Facts that must agree before two runs are compared, and the messages if they do not."""

import itertools
import os
import shlex
import sys

import pytest
from commands import alternate
from made import repetitions, results

from gatherstats.compare import series
from gatherstats.data.comparable import ASPECTS

HERE = {
    "version": "0.1.0",
    "build_type": "release",
    "cpu": "CPU A",
    "machine": "x86_64",
    "emulated": "no",
    "kernel": "Linux 6.1.0",
    "filesystem": "ext4",
    "mount_options": "rw,data=ordered",
    "buffers": "distinct",
    "cpu_affinity": "0-1",
    "processors": "2",
}
TELLING = ["--fail-above=1.05"]


def run(median=100.0, name="op/strategy:write/target:null/count:1/size:64", **context):
    times = [median * (1 + i / 1000) for i in range(10)]
    return results(repetitions(f"{name}/real_time", times), **{**HERE, **context})


def flat(text):
    return " ".join(text.split())


@pytest.mark.parametrize(
    "aspect, there",
    [
        ("processor", {"cpu": "CPU B"}),
        ("processors", {"processors": "4"}),
        ("mount", {"mount_options": "rw,data=journal"}),
        ("affinity", {"cpu_affinity": "0"}),
        ("build", {"build_type": "debug"}),
        ("architecture", {"machine": "aarch64"}),
        ("kernel", {"kernel": "Linux 6.2.0"}),
        ("emulation", {"emulated": "qemu-user 7.2.22"}),
        ("emulation", {"emulated": "not known"}),
    ],
)
def test_what_differs_is_not_compared(aspect, there, compare):
    old, new = run(), run(111.7, **there)
    status, out, _ = compare(old, new, options=TELLING)
    assert status == 3 and "slower" not in out
    assert f"(--across={aspect} if that is the question)" in flat(out)
    (before,) = HERE.keys() & there.keys()
    assert (HERE[before] in out or aspect == "emulation") and "against" in out
    asked = compare(old, new, options=[*TELLING, f"--across={aspect}"])
    # One launch of each has figures, and no word.
    assert asked[0] == 3 and "1.117" in asked[1]
    assert "Compared across" in asked[1] and aspect in ASPECTS


def test_the_same_machine_is_compared(compare):
    out = compare(run(), run(111.7), options=TELLING)[1]
    assert "1.117" in out and "not comparable" not in out


def test_emulation_brings_another_architecture_and_processor(compare):
    arm = {"emulated": "qemu-user 7.2", "machine": "aarch64", "cpu": "ARM"}
    out = compare(run(), run(150, **arm), options=["--across=emulation"])[1]
    assert "1.500" in out


def test_another_file_system_has_other_mount_options(compare):
    other = run(150, filesystem="xfs", mount_options="rw,noatime")
    assert "1.500" in compare(run(), other, options=["--across=filesystem"])[1]


def test_what_neither_says_is_no_reason_and_what_one_says_is_told(compare):
    bare = results(repetitions("op/strategy:write/count:1/size:64", [1.0, 2.0] * 5))
    assert "Not checked" not in compare(bare, bare)[1]
    full = {**bare, "context": run()["context"]}
    for old, new, silent in ((bare, full, "old"), (full, bare, "new")):
        out = flat(compare(old, new)[1])
        assert f"Not checked, for {silent} does not say it: emulation, " in out
        assert "kernel, build, mount." in out and "not comparable" not in out


def test_launches_on_two_machines_are_no_side(compare):
    old = [run(100 + i / 10) for i in range(6)]
    new = [run(111 + i / 10, cpu=f"CPU {'AB'[i % 2]}") for i in range(6)]
    for more in ([], ["--across=processor"]):
        status, out, _ = compare(old=old, new=new, options=more)
        assert status == 3
        words = "different processors among the new launches: CPU A and CPU B"
        assert words in flat(out)
    assert "1 pair:" in compare(old=old, new=new, options=["--force"])[1]


def benchmark_of(version, threads, median):
    name = f"BM_Append/real_time/threads:{threads}" if threads > 1 else "BM_Append"
    times = [median * (1 + i / 1000) for i in range(20)]
    document = results(repetitions(name, times))
    document["context"]["library_version"] = version
    return document


def test_times_of_threads_mean_something_else_from_1_9_on(compare):
    before, after = benchmark_of("v1.8.5", 4, 250), benchmark_of("v1.9.1", 4, 1000)
    for pair in ((before, after), (after, before)):
        status, out, _ = compare(*pair)
        assert status == 3 and "--across=threads" in out
    assert "4.000" in compare(before, benchmark_of("v1.8.9", 4, 1000))[1]
    alone = benchmark_of("v1.8.5", 1, 250), benchmark_of("v1.9.1", 1, 255)
    status, out, _ = compare(*alone)
    assert status == 3 and "1.020" in out


def test_what_else_differs_is_said(compare):
    facts = {
        "mitigations": ("none", "page-table isolation"),
        "virtualization": ("no", "kvm"),
        "page_bytes": ("4096", "16384"),
        "transparent_hugepages": ("never", "always"),
        "device_scheduler": ("none", "bfq"),
        "libc": ("glibc 2.36", "glibc 2.39"),
        "compiler": ("gcc 12.2", "gcc 14"),
        "compiler_flags": ("-O2", "-O3"),
    }
    sides = [run(**{key: pair[i] for key, pair in facts.items()}) for i in (0, 1)]
    _, out, _ = compare(*sides)
    for one, other in facts.values():
        assert f"{one} against {other}" in flat(out)
    assert "What else differs" not in compare(sides[0], sides[0])[1]


def test_nobody_knew_is_not_no(compare, show):
    dark = run(emulated="not known")
    del dark["context"]["gatherbench.processors"]
    dark["context"]["num_cpus"] = -1
    busy = run(under_load="others used 60 %", others_cpu="0.6")
    out = flat(compare(busy, dark, options=["--across=emulation"])[1])
    assert "Under load, new: not known" in out and "-1 CPUs" not in out
    assert "not known whether emulated" in flat(show(dark)[1])
    told = compare(busy, run(others_cpu="0.01"))[1]
    assert "Under load, new: no" in told


SPOILED = "held back: a quota took 40 % of the time\nunder load: others used 60 %"


def test_what_spoils_figures_stands_in_every_heading(compare, show):
    spoiled = run(spoiled=SPOILED, under_load="others used 60 %")
    assert "Spoiled: held back: a quota took 40 %" in flat(show(spoiled)[1])
    assert "Spoiled, new: held back: a quota" in flat(compare(run(), spoiled)[1])
    assert flat(show(spoiled)[1]).count("others used 60 %") == 1
    assert "Spoiled" not in show(run())[1]


PROGRAM = """#!{python} -SE
import json, sys
out = [a for a in sys.argv if a.startswith("--benchmark_out=")][0].partition("=")[2]
rows = [{{"name": "row", "repetitions": 3, "repetition_index": i, "real_time": 10 + i}} for i in range(3)]
json.dump({{"benchmarks": rows}}, open(out, "w"))
"""


def test_a_series_does_not_go_on_after_a_reboot_or_a_rebuild(
    tmp_path, capsys, monkeypatch
):
    program, boot = tmp_path / "program", tmp_path / "boot"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    boot.write_text("first")
    monkeypatch.setattr(series, "_BOOT", boot)
    numbers = itertools.count(1)

    def go_on(*options):
        words = shlex.quote(str(program))
        launches = f"--launches={next(numbers)}"
        where = f"--out-dir={tmp_path / 'out'}"
        status = alternate.main([words, words, launches, where, *options])
        return status, capsys.readouterr().err

    go_on()
    boot.write_text("second")
    status, said = go_on()
    assert status == 3 and "the machine was started again since the series" in said
    assert "launch 3 of 6" in go_on("--across=boot")[1]
    boot.write_text("first")
    program.write_text(program.read_text() + "# rebuilt")
    status, said = go_on()
    assert status == 3 and "program is another program since the series" in said
    assert len(os.listdir(tmp_path / "out")) == 7
    assert "launch 7 of 10" in go_on("--across=build")[1]
