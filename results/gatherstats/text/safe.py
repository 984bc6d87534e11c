"""Makes text from results files safe to print, and measures how wide it is.

Names, labels and messages come from files that anybody may have written: they can hold escape
sequences for a terminal, line breaks, and characters that have a meaning in Markdown.
"""

from __future__ import annotations

import re
import unicodedata

# Markdown's markup: anywhere; before a word, or in an address; at the start of a line.
_MARKDOWN = str.maketrans({c: "\\" + c for c in "\\|<`*[]&~"})
_MARKDOWN_WORD = re.compile(r"(?<![^\W_])_|:(?=//)|(?<=www)\.", re.I)
_MARKDOWN_NUMBER = re.compile(r"(?<!\S)(\d+)(?=[.)](?!\S))")

# GitHub turns plain text into mentions, links to issues, emoji and formulas. A backslash does not
# prevent that; a zero-width space does.
_GITHUB = re.compile(
    r"(?<!\w)@(?=\w)|#(?=\d)|\bGH-(?=\d)|(?<!\w):(?=[a-z0-9_+-]+:)", re.I
)
_NO_WIDTH = "&#8203;"
_DOLLAR = "&#36;"

_MARKDOWN_START = re.compile(r"(?<!\S)(?:[-+#]+(?!\S)|>)")


def printable(text: str) -> str:
    """`text` with control, format and unassigned characters written as escapes such as \\x1b."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(c) for c in text)


def markdown(text: str) -> str:
    """`text` safe for a terminal and for one cell of a Markdown table.

    Backslashes are doubled before control characters become escapes, so that an escape in the
    output always stands for one character of the input.
    """
    text = text.translate(_MARKDOWN)
    for pattern in (_MARKDOWN_WORD, _MARKDOWN_START):
        text = pattern.sub(r"\\\g<0>", text)
    text = printable(_MARKDOWN_NUMBER.sub(r"\1\\", text))
    return _GITHUB.sub(rf"\g<0>{_NO_WIDTH}", text).replace("$", _DOLLAR)


def width(text: str) -> int:
    """Count the terminal columns that `text` takes."""
    if text.isascii():
        return len(text)
    return sum(_character_width(c) for c in text)


def _escape(character: str) -> str:
    # Category C: control, format (which can reverse the direction of text), surrogate, private
    # and unassigned. Zl and Zp are line and paragraph separators.
    category = unicodedata.category(character)
    if category[0] != "C" and category not in ("Zl", "Zp"):
        return character
    code = ord(character)
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _character_width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
