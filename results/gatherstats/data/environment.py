"""Tells on which machine and file system a results file was made, from the file's context."""

from __future__ import annotations

from collections.abc import Callable

from gatherstats.data.rows import Run
from gatherstats.text.safe import printable
from gatherstats.text.units import significant

UNDER_LOAD = "Under load"
"""The heading of what others did meanwhile; a run without it was not disturbed, or does not say."""


def describe(run: Run) -> list[tuple[str, str]]:
    """Pairs of a heading and its text, safe to print; what the file does not say is left out."""
    return _described(run, _LINES)


def describe_briefly(*launches: Run) -> list[tuple[str, str]]:
    """The same in few lines: without what seldom matters, such as the mount options.

    The first launch stands for all of them, but for what others did meanwhile.
    """
    busy = under_load(*launches)
    load = [(UNDER_LOAD, busy)] if busy else []
    return [*_described(launches[0], _BRIEF_LINES), *load]


def under_load(*launches: Run) -> str:
    """How busy others kept the processors, if that was too much in any launch; else ""."""
    said = [text for run in launches if (text := run.setting("under_load"))]
    if not said:
        return ""
    which = f"{len(said)} of {len(launches)} launches; the first: "
    return printable((which if len(launches) > 1 else "") + said[0])


def is_published(run: Run) -> bool:
    """Whether the file holds published figures instead of a run's."""
    return run.setting("source") is not None


def refused(run: Run) -> list[str]:
    """The reasons why combinations that were asked for were not measured, one for each."""
    return [
        line for line in (run.setting("refused") or "").splitlines() if line.strip()
    ]


def _described(
    run: Run, lines: dict[str, Callable[[Run], str]]
) -> list[tuple[str, str]]:
    texts = [(heading, make(run)) for heading, make in lines.items()]
    return [(heading, printable(text)) for heading, text in texts if text]


def _suite(run: Run) -> str:
    if is_published(run):
        return ""
    version = run.setting("version")
    if version is None:
        return _joined("Google Benchmark", run.context.get("library_version"), sep=" ")
    build = run.setting("build_type")
    preset = run.setting("preset")
    return _joined(
        f"gatherbench {version}",
        build and f"{build} build",
        preset and f"preset {preset}",
        run.context.get("date"),
    )


def _machine(run: Run) -> str:
    cpu = run.setting("cpu")
    machine = run.setting("machine")
    count = run.context.get("num_cpus")
    mhz = run.context.get("mhz_per_cpu")
    speed = f"{mhz} MHz" if cpu is None and mhz else None
    return _joined(cpu, machine, _emulation(run), count and f"{count} CPUs", speed)


def _emulation(run: Run) -> str | None:
    emulated = run.setting("emulated")
    if emulated is None:
        return None
    if emulated == "no":
        return "not emulated"
    host = run.setting("host_machine")
    return f"emulated by {emulated}" + (f" on {host}" if host else "")


def _cpu_settings(run: Run) -> str:
    governor = run.setting("cpu_governor")
    affinity = run.setting("cpu_affinity")
    return _joined(
        governor and f"governor {governor}", affinity and f"affinity {affinity}"
    )


def _file_system(run: Run) -> str:
    options = run.setting("mount_options")
    return _joined(
        _type_and_device(run), options and f"({options})", _free_space(run), sep=" "
    )


def _type_and_device(run: Run) -> str:
    device = run.setting("device")
    return _joined(run.setting("filesystem"), device and f"on {device}", sep=" ")


def _machine_and_kernel(run: Run) -> str:
    return _joined(_machine(run), run.setting("kernel"), sep="; ")


def _place(run: Run) -> str:
    buffers = run.setting("buffers")
    place = _joined(run.setting("directory"), _type_and_device(run))
    return _joined(place, buffers and f"buffers: {buffers}", sep="; ")


def _free_space(run: Run) -> str | None:
    try:
        return f"{significant(float(run.setting('free_bytes') or '') / 1e9, 3)} GB free"
    except ValueError:
        return None


def _executable(run: Run) -> str:
    # Our own command line says it better.
    return "" if run.setting("version") else str(run.context.get("executable") or "")


def _setting(key: str) -> Callable[[Run], str]:
    return lambda run: run.setting(key) or ""


def _joined(*parts: object, sep: str = ", ") -> str:
    return sep.join(str(part) for part in parts if part)


_LINES: dict[str, Callable[[Run], str]] = {
    "Source": _setting("source"),
    "System": _setting("system"),
    "Note": _setting("note"),
    "Suite": _suite,
    "Executable": _executable,
    "Machine": _machine,
    "CPU": _cpu_settings,
    "Kernel": _setting("kernel"),
    "Directory": _setting("directory"),
    "File system": _file_system,
    "Buffers": _setting("buffers"),
    UNDER_LOAD: _setting("under_load"),
}

_BRIEF_LINES: dict[str, Callable[[Run], str]] = {
    "System": _setting("system"),
    "Suite": _suite,
    "Machine": _machine_and_kernel,
    "Directory": _place,
}
