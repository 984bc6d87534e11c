"""Describes the machine and the file system of a run, from its file's context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gatherstats.data.rows import Run
from gatherstats.text.safe import printable
from gatherstats.text.units import significant

UNDER_LOAD = "Under load"
"""The heading of the load by other processes."""

SPOILED = "Spoiled"
"""The heading of everything else that spoils the figures."""

_LOAD = "under load: "
"""The beginning of the sentence about load, among the sentences of `spoiled`."""


def describe(run: Run) -> list[tuple[str, str]]:
    """List pairs of a heading and its text, safe to print; facts that the file lacks are left out."""
    return _described(run, _LINES)


def describe_briefly(*launches: Run) -> list[tuple[str, str]]:
    """Describe a run in few lines, without facts that seldom matter, such as mount options.

    The first launch stands for all of them, except for load and what spoils a run.
    """
    said = ((UNDER_LOAD, under_load(*launches)), (SPOILED, spoiled(*launches)))
    pairs = [(heading, text) for heading, text in said if text]
    return [*_described(launches[0], _BRIEF_LINES), *pairs]


def under_load(*launches: Run) -> str:
    """Tell how busy others kept the processors, if any launch ran under load; else ""."""
    return _of_launches([run.setting("under_load") for run in launches])


def knows_load(*launches: Run) -> bool:
    """Whether every launch knows how busy others kept the processors."""
    return all(run.setting("others_cpu") is not None for run in launches)


def spoiled(*launches: Run) -> str:
    """Tell in sentences what spoils the figures besides load; "" if nothing is known to."""
    return _of_launches(["; ".join(_sentences(run)) for run in launches])


def _sentences(run: Run) -> list[str]:
    lines = (run.setting("spoiled") or "").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(_LOAD)]


def _of_launches(texts: Sequence[str | None]) -> str:
    """Return the first text that any launch has, and how many launches have one."""
    said = [text for text in texts if text]
    if not said:
        return ""
    which = f"{len(said)} of {len(texts)} launches; the first: "
    return printable((which if len(texts) > 1 else "") + said[0])


def processor_count(run: Run) -> int | None:
    """Count the machine's processors; None if unknown."""
    for known in (run.setting("processors"), run.context.get("num_cpus")):
        if str(known).isascii() and str(known).isdigit() and 0 < int(str(known)[:9]):
            return int(str(known)[:9])
    return None


def is_published(run: Run) -> bool:
    """Whether the file holds published figures instead of a run's."""
    return run.setting("source") is not None


def refused(run: Run) -> list[str]:
    """List the reasons of combinations that were asked for and not measured."""
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
    count = processor_count(run)
    mhz = run.context.get("mhz_per_cpu")
    speed = f"{mhz} MHz" if cpu is None and mhz else None
    return _joined(cpu, machine, _emulation(run), count and f"{count} CPUs", speed)


def _emulation(run: Run) -> str | None:
    emulated = run.setting("emulated")
    if emulated is None:
        return None
    if emulated == "no":
        return "not emulated"
    if emulated == "not known":
        return "not known whether emulated"
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
    return _joined(place, buffers and f"buffers: {buffers}", _laid(run), sep="; ")


_LAID = {
    "pages": "laid by pages",
    "pieces": "laid in pieces of the size",
    "once": "laid at once",
    "several": "laid in several ways",
}


def _laid(run: Run) -> str | None:
    """How what the ops overwrite was written: a later write into a large folio can cost more."""
    return _LAID.get(run.setting("laid") or "")


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


def _facts(**texts: Callable[[str], str] | str) -> Callable[[Run], str]:
    """Join a run's values of these keys into a line. Each key has words before it, or a formatter."""

    def line(run: Run) -> str:
        found = []
        for key, words in texts.items():
            value = run.setting(key)
            if value is not None:
                found.append(words(value) if callable(words) else f"{words}{value}")
        return _joined(*found)

    return line


def _bytes(words: str) -> Callable[[str], str]:
    return lambda text: f"{words} {_size(text)}"


def _size(text: str) -> str:
    """Format a number of bytes for people; other text stays as it is."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        return text
    for name, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if int(text) >= size:
            return f"{significant(int(text) / size, 3)} {name}"
    return f"{text} bytes"


def _share(words: str) -> Callable[[str], str]:
    def text(value: str) -> str:
        try:
            return f"{words} {significant(100 * float(value), 2)} %"
        except ValueError:
            return f"{words} {value}"

    return text


def _unless_no(words: str) -> Callable[[str], str]:
    return lambda value: "" if value == "no" else f"{words}{value}"


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
    "Laid": _laid,
    "System calls": _facts(
        mitigations="mitigations: ",
        virtualization=lambda value: f"virtual: {value}",
        seccomp=_unless_no("filter: "),
        traced=_unless_no("traced by "),
        preload="preloaded: ",
    ),
    "Memory": _facts(
        memory_bytes=_bytes("of"),
        memory_limit_bytes=_bytes("limited to"),
        page_bytes=_bytes("pages of"),
        transparent_hugepages="transparent huge pages: ",
    ),
    "Device": _facts(
        device_scheduler="scheduler ",
        device_write_cache="write cache: ",
        device_rotational="rotating: ",
        directory_flags="directory's flags: ",
    ),
    "Built with": _facts(libc="", compiler="", compiler_flags="flags "),
    "Syncs": _setting("sync_proof"),
    "During the run": _facts(
        others_cpu=_share("others used of the processors"),
        stolen_cpu=_share("stolen"),
        throttled=_share("held back by a quota"),
        others_device_bytes=_bytes("others wrote to the device"),
        io_pressure=_share("waited for the disk"),
    ),
    UNDER_LOAD: _setting("under_load"),
    SPOILED: spoiled,
}

_BRIEF_LINES: dict[str, Callable[[Run], str]] = {
    "System": _setting("system"),
    "Suite": _suite,
    "Machine": _machine_and_kernel,
    "Directory": _place,
}
