"""The lines of a PDF page, as PDFium orders them, with where they stand and how large they are set."""

from __future__ import annotations

import ctypes
import re
import statistics
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from backends.readers.decoding import clean

_HYPHENS = "\x02\ufffe\xad"  # what PDFium gives for a hyphen at a line's end
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})

WIDE = 1.5  # times the font's size: no gap between words of a sentence is as wide


@dataclass(frozen=True)
class Line:
    """Text and box in points, y upward.

    `hyphenated`: its last word goes on in the next line. `spaced`: wide gaps divide it, as they do cells of a table.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    bold: bool = False
    hyphenated: bool = False
    spaced: bool = False


def page_lines(page: pdfium.PdfPage) -> list[Line]:
    """Raises pdfium.PdfiumError for a page that cannot be read."""
    text_page = page.get_textpage()
    lines: list[Line] = []
    chars: list[tuple[int, str]] = []
    for index in range(text_page.count_chars()):
        code = raw.FPDFText_GetUnicode(text_page, index)
        char = chr(code) if code < 0x110000 else ""
        if char in "\r\n":
            _end(text_page, chars, lines)
            chars = []
        elif char in _HYPHENS:
            chars.append((index, char))
            _end(text_page, chars, lines)
            chars = []
        else:
            chars.append((index, char))
    _end(text_page, chars, lines)
    text_page.close()
    return lines


def _end(text_page: pdfium.PdfTextPage, chars: list[tuple[int, str]], lines: list[Line]) -> None:
    hyphenated = bool(chars) and chars[-1][1] in _HYPHENS
    whole = "".join(char for _, char in chars if char not in _HYPHENS)
    # a character beyond the basic plane comes as two halves
    whole = whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    text = re.sub(r"\s+", " ", clean(whole).translate(_LIGATURES)).strip()
    if not text:
        return
    boxes, sizes = [], []
    seen = [index for index, char in chars if not char.isspace() and char not in _HYPHENS]
    for index in seen:
        boxes.append(_box(text_page, index))
        sizes.append(round(raw.FPDFText_GetFontSize(text_page, index) * _scale(text_page, index), 1))
    heavy = sum(_bold(text_page, index) for index in (seen[0], seen[len(seen) // 2], seen[-1]))
    lines.append(
        Line(
            text,
            min(b[0] for b in boxes),
            max(b[1] for b in boxes),
            min(b[2] for b in boxes),
            max(b[3] for b in boxes),
            statistics.median(sizes),
            heavy >= 2,
            hyphenated,
            any(WIDE * sizes[0] < after[0] - before[1] for before, after in pairwise(boxes)),
        )
    )


def _box(text_page: pdfium.PdfTextPage, index: int) -> tuple[float, float, float, float]:
    """Left, right, bottom, top. The loose box is as high as the font, whatever the letter."""
    rect = raw.FS_RECTF()
    if not raw.FPDFText_GetLooseCharBox(text_page, index, ctypes.byref(rect)):
        return 0.0, 0.0, 0.0, 0.0
    return rect.left, rect.right, min(rect.bottom, rect.top), max(rect.bottom, rect.top)


def _scale(text_page: pdfium.PdfTextPage, index: int) -> float:
    """Some files set every font at size 1 and scale it."""
    matrix = raw.FS_MATRIX()
    if not raw.FPDFText_GetMatrix(text_page, index, ctypes.byref(matrix)):
        return 1.0
    return float((matrix.c**2 + matrix.d**2) ** 0.5) or 1.0


def _bold(text_page: pdfium.PdfTextPage, index: int) -> bool:
    if raw.FPDFText_GetFontWeight(text_page, index) >= 600:
        return True
    buffer = ctypes.create_string_buffer(128)
    raw.FPDFText_GetFontInfo(text_page, index, buffer, 128, None)
    return b"bold" in buffer.value.lower() or b"black" in buffer.value.lower()
