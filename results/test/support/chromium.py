"""Opens pages in headless Chromium and measures their layout."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)

OPTIONS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --allow-file-access-from-files"
    " --virtual-time-budget=20000 --dump-dom"
).split()

# Runs outside of the page, which allows no scripts. A page in a frame has exactly its width.
_MEASURE = """
function measure(frame) {
  const page = frame.contentDocument, root = page.documentElement;
  const found = {width: root.clientWidth, wide: root.scrollWidth, cut: [], overlapping: [],
                 outside: [], scrolled: [], texts: 0};
  for (const box of page.querySelectorAll('.scroll'))
    if (box.scrollWidth > box.clientWidth + 1) found.scrolled.push(box.getAttribute('aria-label'));
  for (const part of page.querySelectorAll('body *:not(svg *)')) {
    const side = part.getBoundingClientRect();
    if (side.right > root.clientWidth + 1 && !part.closest('.scroll'))
      found.outside.push(part.tagName + ' ' + part.textContent.slice(0, 40));
  }
  for (const plot of page.querySelectorAll('svg')) {
    const outer = plot.getBoundingClientRect(), seen = [];
    for (const text of plot.querySelectorAll('text')) {
      const inner = text.getBoundingClientRect();
      found.texts++;
      if (inner.left < outer.left - 1 || inner.right > outer.right + 1 ||
          inner.top < outer.top - 1 || inner.bottom > outer.bottom + 1)
        found.cut.push(text.textContent);
      for (const [other, words] of seen)
        if (Math.min(inner.right, other.right) - Math.max(inner.left, other.left) > 1 &&
            Math.min(inner.bottom, other.bottom) - Math.max(inner.top, other.top) > 3)
          found.overlapping.push(words + ' / ' + text.textContent);
      for (const shape of plot.querySelectorAll('rect')) {
        const box = shape.getBoundingClientRect();
        if (Math.min(inner.right, box.right) - Math.max(inner.left, box.left) > 0 &&
            Math.min(inner.bottom, box.bottom) - Math.max(inner.top, box.top) > 3)
          found.overlapping.push('a bar / ' + text.textContent);
      }
      seen.push([inner, text.textContent]);
    }
  }
  return found;
}
window.onload = () => {
  const frames = [...document.querySelectorAll('iframe')];
  document.querySelector('pre').textContent = JSON.stringify(frames.map(measure));
};
"""


def measure(pages: list[tuple[Path, int]], folder: Path) -> list[dict]:
    """The layout of each page at its width in pixels. `folder` is empty and for Chromium's files."""
    frames = "".join(
        f'<iframe src="{page.as_uri()}" style="border:0;width:{width}px;height:900px"></iframe>'
        for page, width in pages
    )
    outer = folder / "outer.html"
    outer.write_text(f"<body><pre></pre>{frames}<script>{_MEASURE}</script></body>")
    done = subprocess.run(
        [
            str(PROGRAM),
            *OPTIONS,
            f"--user-data-dir={folder / 'profile'}",
            outer.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = re.search(r"<pre>(\[.*?\])</pre>", done.stdout, re.S)
    assert found, done.stderr[-2000:]
    return json.loads(html.unescape(found[1]))
