"""Tables whose cells are ruled: pdfplumber finds the cells, PDFium reads what stands in them."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any

import pdfplumber
import pypdfium2 as pdfium
import pypdfium2.raw as raw
from pdfminer.pdfexceptions import PDFException
from pdfminer.psexceptions import PSException
from pdfplumber.utils.exceptions import PdfminerException

from backends.readers.pdf_lines import HYPHENS, Box, Line, Table, tidy, turned

MOST_PATHS = 5_000  # what is drawn with more is a drawing
THIN = 3.0  # points: what is thinner is a rule
LEAST = 20.0  # points: the least width or height of a table
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,]*\s?[%)]*")
_BROKEN = (PdfminerException, PDFException, PSException)
# what escapes from pdfminer in files that PDFium reads
_BROKEN_PARTS = (ValueError, TypeError, KeyError, IndexError, AttributeError, AssertionError, RecursionError)

logging.getLogger("pdfminer").setLevel(logging.ERROR)  # it tells of every oddity, and goes on


class Rules:
    """The ruled tables of one file; pdfplumber opens it only if a page holds rules at all."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: Any = None
        self.failed: list[int] = []  # pages whose rules could not be read

    def __enter__(self) -> Rules:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def tables(
        self, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, index: int, lines: Sequence[Line]
    ) -> list[Table]:
        """Tables of at least two rows and columns, whose cells hold all of the text within their bounds."""
        if not lines or lines[0].angle != page.get_rotation() or not _is_ruled(page, lines):
            return []
        try:
            found = self._cells(index)
        except (*_BROKEN, *_BROKEN_PARTS):
            self.failed.append(index + 1)
            return []
        tables: list[Table] = []
        for cells in found:
            table = _table(text_page, cells, lines)
            if table and not any(_overlap(table.box, other.box) for other in tables):
                tables.append(table)
        return tables

    def _cells(self, index: int) -> list[list[list[Box | None]]]:
        """The cells of each table on a page, row by row, None where another one spreads over; in points of the file.

        First as if the ends of the level rules were ruled, too, since many tables are open at their sides; then as it is.
        """
        if self._file is None:
            self._file = pdfplumber.open(self._path)
        page = self._file.pages[index]
        try:
            level = [e for e in page.edges if e["orientation"] == "h" and e["width"] >= LEAST]
            sides = sorted({round(x) for e in level for x in (e["x0"], e["x1"])})
            closed = page.find_tables({"explicit_vertical_lines": sides}) if len(sides) > 1 else []
            found = [*closed, *page.find_tables()]
            return [[[_on_page(page, cell) for cell in row.cells] for row in table.rows] for table in found]
        finally:
            page.close()


def _is_ruled(page: pdfium.PdfPage, lines: Sequence[Line]) -> bool:
    """Could there be a ruled table? pdfplumber takes most of the time, so that it is asked only then."""
    level: Counter[int] = Counter(round(line.bottom / 2) for line in lines for _ in line.cells)
    if sum(count > 1 for count in level.values()) < 2:
        return False  # no two lines hold anything side by side
    paths = list(islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=3), MOST_PATHS))
    across: set[int] = set()
    upright: set[int] = set()
    for path in paths if len(paths) < MOST_PATHS else ():
        with suppress(pdfium.PdfiumError):
            left, bottom, right, top = path.get_bounds()
            across.update((round(bottom), round(top)) if right - left >= LEAST else ())
            upright.update((round(left), round(right)) if top - bottom >= LEAST / 2 else ())
    # turned pages change one for the other
    return min(len(across), len(upright)) > 0 and max(len(across), len(upright)) > 1


def _on_page(page: Any, cell: tuple[float, float, float, float] | None) -> Box | None:
    """From pdfplumber's points, from the top left corner of the page as it is shown, to those of the file."""
    if cell is None:
        return None
    left, top, right, bottom = cell
    x, y, x1, y1 = page.page_obj.mediabox
    corners = {
        0: (left, right, y1 - y - bottom, y1 - y - top),
        90: (top, bottom, left, right),
        180: (x1 - x - right, x1 - x - left, top, bottom),
        270: (x1 - x - bottom, x1 - x - top, y1 - y - right, y1 - y - left),
    }[page.rotation % 360]
    return corners[0] + x, corners[1] + x, corners[2] + y, corners[3] + y


def _table(text_page: pdfium.PdfTextPage, cells: list[list[Box | None]], lines: Sequence[Line]) -> Table | None:
    width = max(len(row) for row in cells)
    if len(cells) < 2 or width < 2:
        return None
    whole = _around([box for row in cells for box in row if box])
    texts = [[_lines_in(text_page, cell) if cell else [] for cell in row] for row in cells]
    said = sum(len("".join(part).replace(" ", "")) for row in texts for part in row)
    inside = len("".join(_lines_in(text_page, whole)).replace(" ", ""))
    angle = lines[0].angle
    cells = [[turned(cell, angle) if cell else None for cell in row] for row in cells]
    box = turned(whole, angle)
    if not said or abs(inside - said) > 0.03 * inside or _lays_out(cells, lines, box) or _cuts(texts, lines):
        return None
    headers = _headers(cells)
    rows: list[tuple[str, ...]] = []
    divided = False
    for n in range(len(cells)):
        parts = [_at(cells, texts, n, column, n < headers) for column in range(width)]
        shared = _shared(parts) if n >= headers else 1
        divided = divided or shared > 1
        if shared == 1:
            rows.append(tuple(map(_joined, parts)))
        else:
            rows.extend(tuple(_joined(p[k : k + 1] if len(p) == shared else p) for p in parts) for k in range(shared))
    if sum(sum(map(bool, row)) > 1 for row in rows) < 2:
        return None  # titles in frames
    notes = ("rows that stand in one ruled cell were divided by their lines",) if divided else ()
    return Table(tuple(rows), headers, box, notes)


def _around(boxes: Sequence[Box]) -> Box:
    lefts, rights, bottoms, tops = zip(*boxes, strict=True)
    return min(lefts), max(rights), min(bottoms), max(tops)


def _lines_in(text_page: pdfium.PdfTextPage, box: Box) -> list[str]:
    text = text_page.get_text_bounded(box[0], box[2], box[1], box[3])
    for hyphen in HYPHENS:
        text = text.replace(hyphen, "\x02")
    marked = (line.strip(" ") for line in text.replace("\x02\r\n", "\x02").replace("\r", "\n").split("\n"))
    return [line for line in marked if tidy(line)]


def _joined(lines: Sequence[str]) -> str:
    return tidy(" ".join(lines).replace("\x02", ""))


def _lays_out(cells: list[list[Box | None]], lines: Sequence[Line], table: Box) -> bool:
    """A frame around lines that are tables themselves: two wide gaps or more within one cell."""
    boxes = [box for row in cells for box in row if box]
    gaps = 0
    for line in lines:
        middle = (line.bottom + line.top) / 2
        if line.angle != lines[0].angle or not table[2] < middle < table[3]:
            continue
        for left, right, bottom, top in boxes:
            parts = sum(left <= (c.left + c.right) / 2 <= right for c in line.cells)
            gaps += parts > 1 and bottom < middle < top
    return gaps > 1


def _cuts(texts: list[list[list[str]]], lines: Sequence[Line]) -> bool:
    """Do the cells cut words in two? Then their rules are no rules of a table."""
    whole = {word for line in lines for word in line.text.split()}
    words = (
        word for row in texts for part in row for line in part if "\x02" not in line for word in tidy(line).split()
    )
    return any(word not in whole for word in words)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _headers(cells: list[list[Box | None]]) -> int:
    """Rows that a header spreads over: down, or across the columns below it. 0 where nothing shows that there are two."""
    first = [box for box in cells[0] if box]
    if len(first) < 2 or len(cells) < 3:
        return 0
    lowest = min(box[2] for box in first)
    if sum(box[2] - lowest > THIN for box in first):
        return sum(any(b and b[2] >= lowest - THIN for b in row) for row in cells)
    return 2 if None in cells[0] and None not in cells[1] else 0


def _at(cells: list[list[Box | None]], texts: list[list[list[str]]], n: int, column: int, header: bool) -> list[str]:
    """What holds for a row and column: one that spreads down holds for each row, across only as a header for each."""
    if column >= len(cells[n]):
        return []
    if cells[n][column]:
        return texts[n][column]
    row = [box for box in cells[n] if box]
    at = [r[column] for r in cells if column < len(r) and r[column]]
    if not row or not at:
        return []
    middle = (max(b[2] for b in row) + min(b[3] for b in row)) / 2
    narrow = min((b for b in at if b), key=lambda b: b[1] - b[0])
    for up in range(n, -1, -1):
        for c, box in enumerate(cells[up]):
            if box and box[0] <= (narrow[0] + narrow[1]) / 2 <= box[1] and box[2] <= middle <= box[3]:
                return texts[up][c] if header or (up < n and c == column) else []
    return []


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """How many rows stand in one ruled row: columns of numbers say so, of which one is never broken into lines."""
    most = max(map(len, parts), default=1)
    numbers = sum(len(p) == most and all(_NUMBER.fullmatch(tidy(line)) for line in p) for p in parts)
    return most if most > 1 and numbers > 1 and all(len(p) in (0, 1, most) for p in parts) else 1
