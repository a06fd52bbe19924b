"""CSV and TSV, whatever the delimiter, with the oddities noted."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from backends.errors import UnreadableFile
from backends.readers.decoding import read_text
from backends.readers.grids import Row, build_grid, text_block
from retrieval.types import Document

_DELIMITERS = (",", ";", "\t", "|")
_SNIFFED = 200  # records
_RUNAWAY = 100  # lines in one cell: then a quote was never closed
_FIELD_LIMIT = 16 * 1024 * 1024


def read(path: Path) -> Iterator[Document]:
    text = read_text(path)
    delimiter, skip = _delimiter(text, path.suffix.lower())
    csv.field_size_limit(_FIELD_LIMIT)
    notes: tuple[str, ...] = ()
    try:
        rows = _parse(text, delimiter)
        if any((c or "").count("\n") > _RUNAWAY for _, cells in rows for c in cells):
            rows = _parse(text, delimiter, quoting=csv.QUOTE_NONE)
            notes = ("a quote is never closed; quotes were read as plain characters",)
    except csv.Error as error:
        raise UnreadableFile(f"{path.name}: the table cannot be read ({error}).") from error
    grid = build_grid(path.stem, rows[skip:], typed=True)
    if grid is None:
        raise UnreadableFile(f"{path.name}: the file is empty (it holds no cell).")
    block = text_block(grid)
    yield Document(path.stem, "csv", (block,) if block else (), (grid,), warnings=(*notes, *grid.notes))


def _parse(text: str, delimiter: str, quoting: int = csv.QUOTE_MINIMAL, limit: int | None = None) -> list[Row]:
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=quoting,  # type: ignore[arg-type]
        skipinitialspace=f'{delimiter} "' in text,
    )
    rows: list[Row] = []
    before = 0
    for cells in reader:
        rows.append((before + 1, cells))  # a record may span several lines: it is found at its first
        before = reader.line_num
        if limit and len(rows) >= limit:
            break
    return rows


def _delimiter(text: str, suffix: str) -> tuple[str, int]:
    """The delimiter under which most records have the same number of cells, above one; and rows to skip."""
    first = text[:5].lower()
    if first.startswith("sep=") and len(text) > 4 and text[4:5] != "\n":
        return text[4], 1
    best, score = ("\t" if suffix == ".tsv" else ","), 0.0
    for delimiter in _DELIMITERS:
        try:
            found = _parse(text[:_FIELD_LIMIT], delimiter, limit=_SNIFFED)
        except csv.Error:
            continue
        widths = Counter(len(cells) for _, cells in found if any(cells))
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        share = count / max(1, widths.total())
        if width > 1 and share * (1 + width / 100) > score + 1e-9:
            best, score = delimiter, share * (1 + width / 100)
    return best, 0
