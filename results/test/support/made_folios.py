"""Makes runs of the preset folios in which a byte, a folio and a call have known costs."""

from __future__ import annotations

import math

from made import repetitions, results

FILE_BYTES = 64_000_000
NAME = (
    "file/strategy:{}/target:file/sync:none/file_bytes:{}/buffers:one/count:{}/size:{}"
    "/real_time"
)
SIZES = (4096, 6000, 8192, 16000, 16384, 32000, 32768, 65536)
BYTE_NS, FOLIO_NS, CALL_NS = 0.1, 1000.0, 2000.0
PAGE = 4096


def folios_of(call_bytes, file_bytes=FILE_BYTES):
    """One for the whole pages of a call, as a large folio; one for each page that two calls share."""
    calls = math.ceil(file_bytes / call_bytes)
    return calls if call_bytes % PAGE == 0 else 2 * calls + 1


def single_pages(call_bytes, file_bytes=FILE_BYTES):
    """As kernels without large folios do."""
    return math.ceil(file_bytes / PAGE)


def row(strategy, count, size, rng, folios=folios_of, file_bytes=FILE_BYTES, **options):
    """One row of that many buffers a call."""
    gathered = size * (count if strategy == "pwritev" else 1)
    calls, kept = math.ceil(file_bytes / gathered), folios(gathered, file_bytes)
    off = options.pop("off", 1.0)
    n, scatter = options.pop("n", 20), options.pop("scatter", 0.002)
    name = options.pop("name", NAME).format(strategy, file_bytes, count, size)
    ns = off * (BYTE_NS * file_bytes + FOLIO_NS * kept + CALL_NS * calls)
    times = list(ns * rng.lognormal(0, scatter, n))
    counted = {} if options.pop("uncounted", False) else {"folios": kept}
    return repetitions(
        name,
        times,
        calls=calls,
        bytes_per_second=[file_bytes * 1e9 / time for time in times],
        open_ns=[0.001 * time for time in times],
        write_ns=[0.899 * time for time in times],
        sync_ns=0.0,
        close_ns=[0.1 * time for time in times],
        **counted,
        **options,
    )


def folios_run(rng, off=None, context=None, **options):
    """The whole preset; off: by size, by what its rows' times are multiplied."""
    rows = [
        row(strategy, count, size, rng, off=(off or {}).get(size, 1.0), **options)
        for strategy, count in (("pwrite", 1), ("pwritev", 4))
        for size in SIZES
    ]
    said = {"preset": "folios", "version": "0.1.0", "folios": "counted"}
    return results(*rows, **{**said, **(context or {})})
