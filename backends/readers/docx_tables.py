"""Cells of DOCX tables."""

from __future__ import annotations

from typing import Any

from docx.oxml.ns import qn

from backends.readers.docx_numbering import value
from backends.readers.docx_text import TC, P, children, is_deleted, is_read, text_of

_ROW, _ROW_PROPERTIES = qn("w:tr"), qn("w:trPr")


def rows_of(table: Any) -> list[Any]:
    """The rows, without those that a tracked change takes out."""
    return [row for row in children(table, _ROW) if not is_deleted(row, _ROW_PROPERTIES)]


def cells_of(row: Any) -> list[Any]:
    return list(children(row, TC))


def header_rows(rows: list[Any]) -> int:
    """How many rows at the top are set to be repeated on each page: that is how Word marks a header."""
    count = 0
    while count < len(rows) and rows[count].find(f"{_ROW_PROPERTIES}/{qn('w:tblHeader')}") is not None:
        count += 1
    return count if count < len(rows) else 0


def words_of(rows: list[Any], headers: int) -> list[list[str]]:
    """The words of each cell. One merged over rows holds for each; over columns it is said once, or above each if it is
    a header."""
    out: list[list[str]] = []
    above: dict[int, str] = {}  # by column: the words of the merged cell that may go on in the next row
    for n, row in enumerate(rows):
        line = [""] * _number(row.find(f"{_ROW_PROPERTIES}/{qn('w:gridBefore')}"), 0)
        merged: dict[int, str] = {}
        for cell in cells_of(row):
            properties = cell.find(qn("w:tcPr"))
            merge = properties.find(qn("w:vMerge")) if properties is not None else None
            width = _number(properties.find(qn("w:gridSpan")) if properties is not None else None, 1)
            goes_on = merge is not None and value(merge) != "restart"
            words = above.get(len(line), "") if goes_on else _words(cell)
            if merge is not None:
                merged[len(line)] = words
            line.extend([words] * width if n < headers else [words, *[""] * (width - 1)])
        above = merged
        out.append(line)
    return out


def _words(cell: Any) -> str:
    """Without those of a table inside, which is read on its own."""
    own = (p for p in cell.iter(P) if is_read(p) and next(p.iterancestors(TC)) is cell)
    return " ".join(" ".join(text_of(p) for p in own).split())


def _number(element: Any, usual: int) -> int:
    found = value(element)
    return int(found) if found.isdecimal() else usual
