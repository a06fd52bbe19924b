"""Tables without rules, known by cells that stand under their headers; where that is not plain, they stay lines of text."""

from __future__ import annotations

import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from backends.readers.pdf_lines import Cell, Line, Table

FEWEST_ROWS = 2  # below the header
GAP = 0.7  # times the font's size: between two columns, in all rows
ROW_APART = 3.0  # times the font's size: further down nothing belongs to the table
NEW_PART = 1.4  # times the usual distance of rows: here a table may end, and another thing begin
WORDS = 6  # in a cell on average: more is prose
_NUMBER = re.compile(r"[-+(]?[$€£¥]?\s?\d[\d.,]*\s?(?:%|[$€£¥])?\)?")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass
class _Column:
    left: float
    right: float


@dataclass
class _Row:
    bottom: float
    cells: list[str]


def aligned_tables(lines: Sequence[Line]) -> list[tuple[int, int, Table]]:
    """Tables among the lines of a page, each with the indices of its first line and of the one after its last."""
    out: list[tuple[int, int, Table]] = []
    at = 0
    while at < len(lines):
        found = _table_from(lines, at) if _may_head(lines[at]) else None
        if found:
            out.append((at, *found))
            at = found[0]
        else:
            at += 1
    return out


def _may_head(line: Line) -> bool:
    """Two short names or more, no number (but for years), none of them a label before its value."""
    texts = [cell.text for cell in line.cells]
    return (
        len(texts) > 1
        and not line.table
        and all(len(text) <= 40 and not text.endswith((":", "：")) for text in texts)
        and not any(_is_value(text) and not _YEAR.fullmatch(text) for text in texts)
        and any(any(c.isalpha() for c in text) for text in texts)
    )


def _table_from(lines: Sequence[Line], start: int) -> tuple[int, Table] | None:
    head = lines[start]
    columns = [_Column(cell.left, cell.right) for cell in head.cells]
    rows = [_Row(head.bottom, [cell.text for cell in head.cells])]
    end = start + 1
    while end < len(lines):
        line = lines[end]
        if line.angle != head.angle or line.table or not -1 < rows[-1].bottom - line.bottom < ROW_APART * head.size:
            break
        placed = _placed(line, columns, rows, head.size)
        if placed is None:
            if len(line.cells) > 1 and not _sets_apart(rows, line):
                return None  # rows that do not fit: what fits would be a part only
            break
        end += 1
    bare = sum(bool(cell) for cell in rows[-1].cells) < 2
    while len(rows) > 1 and bare and end - start > 1:  # a line below the table, not a row of it
        rows.pop()
        end -= 1
        bare = sum(bool(cell) for cell in rows[-1].cells) < 2
    if not _is_table(rows, head, lines[start + 1 : end]):
        return None
    box = (columns[0].left, columns[-1].right, lines[end - 1].bottom, head.top)
    return end, Table(tuple(tuple(row.cells) for row in rows), 1, box)


def _placed(line: Line, columns: list[_Column], rows: list[_Row], size: float) -> _Row | None:
    """Puts a line's cells into their columns: a new row, or the rest of a cell above. None where it does not fit."""
    targets = [_target(cell, columns, GAP * size) for cell in line.cells]
    if len(targets) == 1 and targets[0] is not None and targets[0] > 0 and len(rows) > 1:
        column = columns[targets[0]]
        close = rows[-1].bottom - line.bottom < 1.3 * max(line.size, size)
        if close and abs(line.left - column.left) < 2 and rows[-1].cells[targets[0]]:
            rows[-1].cells[targets[0]] += f" {line.text}"
            rows[-1].bottom = line.bottom
            return rows[-1]
    if len(targets) > 1 and targets[0] is None and line.cells[0].right < columns[0].left - GAP * size:
        columns.insert(0, _Column(line.cells[0].left, line.cells[0].right))  # the corner above it is blank
        for row in rows:
            row.cells.insert(0, "")
        targets = [0, *(None if t is None else t + 1 for t in targets[1:])]
    if None in targets or len(set(targets)) < len(targets):
        return None
    cells = [""] * len(columns)
    for target, cell in zip(targets, line.cells, strict=True):
        assert target is not None
        cells[target] = cell.text
        columns[target].left = min(columns[target].left, cell.left)
        columns[target].right = max(columns[target].right, cell.right)
    row = _Row(line.bottom, cells)
    rows.append(row)
    return row


def _target(cell: Cell, columns: Sequence[_Column], gap: float) -> int | None:
    """The one column that a cell stands in, clear of its neighbours."""
    over = [n for n, c in enumerate(columns) if cell.left < c.right + gap and c.left - gap < cell.right]
    if len(over) != 1:
        return None
    column = columns[over[0]]
    return over[0] if cell.left < column.right and column.left < cell.right else None


def _sets_apart(rows: Sequence[_Row], line: Line) -> bool:
    steps = [a.bottom - b.bottom for a, b in pairwise(rows)]
    return bool(steps) and rows[-1].bottom - line.bottom >= NEW_PART * statistics.median(steps)


def _is_table(rows: Sequence[_Row], head: Line, below: Sequence[Line]) -> bool:
    """Enough rows, mostly filled with few words, and values under a name: numbers, or names set bold over plain ones."""
    header, *body = (row.cells for row in rows)
    filled = [cell for cells in body for cell in cells if cell]
    if len(body) < FEWEST_ROWS or len(header) < 2 or len(filled) < 0.4 * len(body) * len(header):
        return False
    if not all(header[1:]) or sum(len(cell.split()) for cell in filled) > WORDS * len(filled):
        return False
    valued = 0
    for n, name in enumerate(header):
        values = [cells[n] for cells in body if cells[n]]
        valued += bool(name and len(values) > 1 and sum(map(_is_value, values)) >= 0.6 * len(values))
    if len(header) == 2:
        return valued == 1 and len(filled) > 1.6 * len(body)
    return valued > 0 or (head.bold and not any(line.bold for line in below))


def _is_value(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _DATE.fullmatch(text))
