"""The lines of a PDF page, as PDFium orders them, with where they stand and how large they are set."""

from __future__ import annotations

import ctypes
import math
import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from backends.readers.decoding import clean

HYPHENS = "\x02\ufffe\xad"  # what PDFium gives for a hyphen at a line's end
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})

WIDE = 1.5  # times the font's size: no gap between words of a sentence is as wide
CELL = 1.0  # such a gap may lie between two cells

Box = tuple[float, float, float, float]  # left, right, bottom, top


@dataclass(frozen=True)
class Cell:
    """A part of a line that wide gaps set apart, as they do the cells of a table."""

    text: str
    left: float
    right: float


@dataclass(frozen=True)
class Table:
    """Rows of texts, how many of them are headers (0 where nothing says), and where it stands, as of a Line.

    `continues`: it goes on from the table before, whose header it has.
    """

    rows: tuple[tuple[str, ...], ...]
    headers: int
    box: Box
    notes: tuple[str, ...] = ()
    continues: bool = False


@dataclass(frozen=True)
class Line:
    """Text and box in points, y upward, turned so that the text runs from left to right; `angle` says by how much.

    `hyphenated`: its last word goes on in the next line. `spaced`: wide gaps divide it. `table`: the line stands for a
    whole table, and has no text.
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
    cells: tuple[Cell, ...] = ()
    angle: int = 0
    table: Table | None = None


@dataclass(frozen=True)
class _Char:
    text: str
    box: Box
    index: int


def page_lines(text_page: pdfium.PdfTextPage) -> list[Line]:
    """The lines in reading order: first those that run as most of the page's text does, then the turned ones."""
    lines: list[Line] = []
    chars: list[tuple[int, str]] = []
    for index in range(text_page.count_chars()):
        code = raw.FPDFText_GetUnicode(text_page, index)
        char = chr(code) if code < 0x110000 else ""
        if char not in "\r\n":
            chars.append((index, char))
        if char in "\r\n" or char in HYPHENS:
            _end(text_page, chars, lines)
            chars = []
    _end(text_page, chars, lines)
    angles = Counter(line.angle for line in lines for _ in line.text)
    return [line for angle, _ in angles.most_common() for line in _downward([x for x in lines if x.angle == angle])]


def tidy(text: str) -> str:
    """One line of text, ligatures as letters. A character beyond the basic plane comes from PDFium as two halves."""
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"\s+", " ", clean(whole).translate(_LIGATURES)).strip()


def turned(box: Box, angle: int) -> Box:
    """A box on the page as it stands once text that runs at `angle` degrees is turned to run from left to right.

    >>> turned((10, 20, 100, 300), 90)
    (100, 300, -20, -10)
    """
    left, right, bottom, top = box
    for _ in range(angle // 90):
        left, right, bottom, top = bottom, top, -right, -left
    return left, right, bottom, top


def _downward(lines: list[Line]) -> list[Line]:
    """PDFium lists the lines of a page that is turned against its text from the last to the first."""
    steps = [before.bottom - line.bottom for before, line in pairwise(lines) if _above_each_other(before, line)]
    return lines[::-1] if sum(step < 0 for step in steps) > sum(step > 0 for step in steps) else lines


def _above_each_other(one: Line, other: Line) -> bool:
    near = abs(one.bottom - other.bottom) < 3 * max(one.size, other.size)
    return near and one.left < other.right and other.left < one.right


def _end(text_page: pdfium.PdfTextPage, found: Sequence[tuple[int, str]], lines: list[Line]) -> None:
    text = tidy("".join(char for _, char in found if char not in HYPHENS))
    seen = [(index, char) for index, char in found if not char.isspace() and char not in HYPHENS]
    if not text or not seen:
        return
    angle = _angle(text_page, seen[len(seen) // 2][0])
    chars = [
        _Char(char, turned(_box(text_page, index), angle % 360 if angle % 90 == 0 else 0), index)
        for index, char in seen
    ]
    sizes = [round(raw.FPDFText_GetFontSize(text_page, c.index) * _scale(text_page, c.index), 1) for c in chars]
    heavy = sum(_bold(text_page, c.index) for c in (chars[0], chars[len(chars) // 2], chars[-1]))
    size = statistics.median(sizes)
    cells = _cells(found, chars, CELL * size)
    lines.append(
        Line(
            text,
            min(c.box[0] for c in chars),
            max(c.box[1] for c in chars),
            min(c.box[2] for c in chars),
            max(c.box[3] for c in chars),
            size,
            heavy >= 2,
            found[-1][1] in HYPHENS,
            any(after.left - before.right > WIDE * size for before, after in pairwise(cells)),
            cells,
            angle,
        )
    )


def _cells(found: Sequence[tuple[int, str]], chars: Sequence[_Char], gap: float) -> tuple[Cell, ...]:
    """The characters put together from left to right until a wide gap, each part in its logical order."""
    spans: list[list[float]] = []
    part_of: dict[int, int] = {}
    for char in sorted(chars, key=lambda c: c.box[0]):
        if not spans or char.box[0] - spans[-1][1] > gap:
            spans.append([char.box[0], char.box[1]])
        spans[-1][1] = max(spans[-1][1], char.box[1])
        part_of[char.index] = len(spans) - 1
    parts = [""] * len(spans)
    at = part_of[chars[0].index]
    for index, sign in found:
        at = part_of.get(index, at)  # a blank goes with what stands before it
        parts[at] += "" if sign in HYPHENS else sign
    return tuple(Cell(tidy(text), *span) for text, span in zip(parts, spans, strict=True))


def _angle(text_page: pdfium.PdfTextPage, index: int) -> int:
    """Whole degrees by which the text is turned on the page against the clock, 0 to 359; PDFium counts with it."""
    return -round(math.degrees(raw.FPDFText_GetCharAngle(text_page, index))) % 360


def _box(text_page: pdfium.PdfTextPage, index: int) -> Box:
    """The loose box is as high as the font, whatever the letter."""
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
