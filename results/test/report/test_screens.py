"""The report on a screen: nothing overflows, no text is cut or covered, at any width.

Alone, this file ends with status 77 where there is no Chromium.
"""

from __future__ import annotations

import chromium
import pytest
from conftest import write_files
from made_account import account_run
from made_maps import grid_run
from made_report import TIMES, evil_run, latency_run

from commands import report as script


@pytest.mark.skipif(chromium.PROGRAM is None, reason="there is no Chromium")
def test_it_fits_on_narrow_and_wide_screens(tmp_path, rng):
    contents = {
        "blog": [
            account_run(rng, scatter=0.05, filesystem="ext4", mount_options="rw," * 60)
        ],
        "all": [account_run(rng), grid_run(TIMES, rng), latency_run(rng, 30)],
        "beside": [account_run(rng), account_run(rng)],
        "evil": [evil_run(rng)],
        "small": [
            account_run(rng, {"pwrite": 42, "pwritev": 42, "contiguous": 42}, n=5)
        ],
    }
    pages = []
    for name, runs in contents.items():
        paths = write_files(tmp_path, name, runs)
        page = tmp_path / f"{name}.html"
        assert script.main([*paths, "-o", str(page)]) in (0, 1)
        pages += [(page, 400), (page, 1400)]
    (tmp_path / "chromium").mkdir()
    for (page, width), found in zip(
        pages, chromium.measure(pages, tmp_path / "chromium")
    ):
        where = f"{page.name} at {width}"
        assert found["width"] in range(width - 20, width + 1), where
        assert found["wide"] <= found["width"], where
        for kind in ("outside", "cut", "overlapping"):
            assert found[kind] == [], (where, kind)
        assert found["texts"] > 0, where
        if width == 1400 and page.stem != "evil":
            assert found["scrolled"] == [], where
