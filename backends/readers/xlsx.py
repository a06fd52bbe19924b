"""XLSX workbooks: one grid per visible sheet."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

from lxml.etree import XMLSyntaxError
from openpyxl import load_workbook
from openpyxl.utils.cell import range_boundaries
from openpyxl.utils.exceptions import InvalidFileException

from backends.errors import UnreadableFile
from backends.readers.archives import check_archive
from backends.readers.decoding import clean
from backends.readers.grids import build_grid, text_block
from backends.readers.sheet_regions import tables_of
from retrieval.types import Block, Document, Grid

MAX_COLUMNS = 1_000
MAX_BLANK = 1_000  # blank rows in a row: the rest is a phantom, made by formatting whole columns
_MERGE = re.compile(rb'<(?:\w+:)?mergeCell [^>]*?ref="([A-Z0-9]+:[A-Z0-9]+)"')
_UNSAVED = re.compile(rb"<c [^>]*>\s*(?:<f[^>]*/>|<f[^>]*>[^<]*</f>)\s*(?:<v\s*/>|<v></v>)?\s*</c>")
_BROKEN = (InvalidFileException, zipfile.BadZipFile, ParseError, XMLSyntaxError)
# openpyxl lets these escape from parts that do not hold what their names promise
_BROKEN_PARTS = (OSError, KeyError, ValueError, TypeError, AttributeError, IndexError)


def read(path: Path) -> Iterator[Document]:
    check_archive(path, "XLSX", "[Content_Types].xml")
    try:
        grids, warnings = _grids(path)
    except (*_BROKEN, *_BROKEN_PARTS) as error:
        raise UnreadableFile(
            f"{path.name}: the XLSX file is corrupt; open it in a spreadsheet program and save it again."
        ) from error
    if not grids:
        raise UnreadableFile(f"{path.name}: no visible sheet holds a cell.")
    blocks: list[Block] = []
    for grid in grids:
        if block := text_block(grid):
            blocks.extend([Block(grid.name, "heading", 1)] * (len(grids) > 1))
            blocks.append(block)
        prefix = f'"{grid.name}": ' if len(grids) > 1 else ""
        warnings.extend(prefix + note for note in grid.notes)
    yield Document(path.stem, "xlsx", tuple(blocks), tuple(grids), units=len(grids), warnings=tuple(warnings))


def _grids(path: Path) -> tuple[list[Grid], list[str]]:
    """Sheets are streamed, since a sheet of formatted empty cells would fill the memory otherwise."""
    book = load_workbook(path, read_only=True, data_only=True)
    grids: list[Grid] = []
    warnings: list[str] = []
    try:
        with zipfile.ZipFile(path) as archive:
            for sheet in book.worksheets:
                if sheet.sheet_state != "visible":
                    warnings.append(f'the hidden sheet "{sheet.title}" was left out')
                    continue
                part = archive.read(sheet._worksheet_path)  # merged ranges are not offered when streaming
                rows, cut = _rows(sheet)
                _spread_merged(rows, part)
                tables = tables_of(rows)
                if len(tables) > 1:
                    warnings.append(f'sheet "{sheet.title}" holds {len(tables)} tables, each read on its own')
                for n, table in enumerate(tables, 1):
                    name = clean(sheet.title) + (f" table {n}" if len(tables) > 1 else "")
                    if grid := build_grid(name, list(table.items())):
                        grids.append(grid)
                if cut:
                    warnings.append(f'sheet "{sheet.title}": cells beyond column {MAX_COLUMNS} were left out')
                if unsaved := len(_UNSAVED.findall(part)):
                    warnings.append(
                        f'sheet "{sheet.title}": {unsaved} formulas hold no saved value and were read as empty; '
                        "open and save the file in a spreadsheet program"
                    )
    finally:
        book.close()
    return grids, warnings


def _rows(sheet: Any) -> tuple[dict[int, list[str | None]], bool]:
    """Cells as text by row number, and whether columns were cut."""
    sheet.reset_dimensions()  # the stated range need not be true
    rows: dict[int, list[str | None]] = {}
    blank, cut = 0, False
    for number, cells in enumerate(sheet.iter_rows(), 1):
        line = [_text(cell) for cell in cells]
        while line and line[-1] is None:
            line.pop()
        cut = cut or len(line) > MAX_COLUMNS
        rows[number] = line[:MAX_COLUMNS]
        blank = 0 if line else blank + 1
        if blank > MAX_BLANK:
            break
    return rows, cut


def _spread_merged(rows: dict[int, list[str | None]], part: bytes) -> None:
    """A cell merged over rows holds for each of them; over columns it is said once."""
    for match in _MERGE.finditer(part):
        left, top, _, bottom = range_boundaries(match.group(1).decode())
        if left is None or top is None or bottom is None or not rows.get(top) or len(rows[top]) < left:
            continue
        value = rows[top][left - 1]
        for number in range(top + 1, min(bottom, max(rows)) + 1):
            line = rows.get(number)
            if line and len([c for c in line if c]):  # a row that is blank otherwise stays so
                line.extend([None] * (left - len(line)))
                line[left - 1] = value


def _text(cell: Any) -> str | None:
    """What the cell holds, in full precision; dates as ISO."""
    value = cell.value
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return _number(value, cell.number_format or "")
    if isinstance(value, datetime):
        whole = value.time() == time()
        return value.date().isoformat() if whole else value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    return clean(str(value)) or None


def _number(value: int | float, shown_as: str) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)
    if isinstance(value, int) and re.fullmatch(r"00+", shown_as):
        return f"{value:0{len(shown_as)}d}"  # a code that is stored as a number and shown with leading zeros
    return str(value)
