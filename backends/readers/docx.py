"""DOCX: paragraphs, list items, headings and tables in the order of the body."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docx import Document as open_docx
from docx.opc.exceptions import OpcError
from docx.oxml.ns import qn
from lxml.etree import XMLSyntaxError

from backends.errors import UnreadableFile
from backends.readers.archives import check_archive
from backends.readers.decoding import clean
from backends.readers.docx_notes import Notes, comment_count, headers_and_footers
from backends.readers.docx_numbering import Numbering, value
from backends.readers.docx_tables import cells_of, header_rows, rows_of, words_of
from backends.readers.docx_text import BOX, TBL, P, children, is_deleted, is_on, is_read, text_of
from backends.readers.embedded import grid_warnings, table_blocks, with_grids
from backends.readers.metadata import office_metadata, office_properties
from retrieval.types import Block, Document

_CONTENTS = re.compile(r"toc (?:heading|\d)", re.I)
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|rubrik|titolo)\s*([1-9])", re.I)


def read(path: Path) -> Iterator[Document]:
    check_archive(path, "DOCX", "word/document.xml")
    try:
        file = open_docx(str(path))
        reader = _Reader(file)
        blocks, tables = with_grids(reader.blocks())
        warnings = tuple(reader.warnings())
    except (OpcError, zipfile.BadZipFile, XMLSyntaxError, KeyError, ValueError, AttributeError) as error:
        # the last three are what python-docx lets through where parts or attributes are missing
        raise UnreadableFile(
            f"{path.name}: the DOCX file is corrupt; open it in its program and save it again."
        ) from error
    if not blocks:
        raise UnreadableFile(f"{path.name}: no text found (only pictures?).")
    properties = office_properties(file.part.package)
    stated = clean(properties.title or "").strip() if properties else ""
    first = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    title = first or stated or path.stem
    warnings += grid_warnings(tables)
    yield Document(title, "docx", blocks, tables, warnings=warnings, metadata=office_metadata(properties))


class _Reader:
    def __init__(self, file: Any) -> None:
        self.file = file
        self.body = file.element.body
        self.styles = {style.style_id: style for style in file.styles}
        self.numbering = Numbering(file)
        self.notes = Notes(file)
        self.contents = False  # was a table of contents met?

    def blocks(self) -> Iterator[Block]:
        headers, footers = headers_and_footers(self.file)
        yield from map(Block, headers)
        yield from self._content(self.body)
        yield from map(Block, footers)

    def warnings(self) -> Iterator[str]:
        if count := comment_count(self.file):
            yield f"{count} comment{'s were' if count > 1 else ' was'} left out"
        if any(is_on(mark) for mark in self.body.iter(qn("w:vanish")) if mark.getparent().getparent().tag == qn("w:r")):
            yield "hidden text was left out"
        if self.body.find(f".//{qn('w:del')}") is not None or self.body.find(f".//{qn('w:ins')}") is not None:
            yield "tracked changes were read as accepted"
        if self.body.find(f".//{qn('w:altChunk')}") is not None:
            yield "a file that is embedded in the text was left out"
        if self.contents:
            yield "the table of contents was left out"

    def _content(self, parent: Any) -> Iterator[Block]:
        for element in children(parent, P, TBL):
            yield from self._paragraph(element) if element.tag == P else self._table(element)
            if element.tag == P:
                yield from self.notes.of(element)

    def _paragraph(self, p: Any) -> Iterator[Block]:
        text = text_of(p)
        if not text and is_deleted(p, f"{qn('w:pPr')}/{qn('w:rPr')}"):
            return  # and it does not count
        style = self._style(p)
        if style is not None and _CONTENTS.match(style.name or ""):
            self.contents = True
            return
        numbered = self.numbering.mark(p, style)
        if text:
            mark = f"{numbered.text} " if numbered and numbered.text else ""
            if level := _heading_level(p, style):
                yield Block(mark + " ".join(text.split()), "heading", level)
            elif numbered:
                yield Block(mark + text, "list_item", numbered.depth)
            else:
                yield Block(text)
        for box in p.iter(BOX):  # text boxes hang on a paragraph, but are read on their own
            if is_read(box):
                yield from self._content(box)

    def _table(self, table: Any) -> Iterator[Block]:
        """A table of one column, or of one row of texts, is a frame around paragraphs."""
        rows = rows_of(table)
        cells = [cell for row in rows for cell in cells_of(row)]
        framed = len(rows) == 1 and any(len([p for p in cell.iter(P) if text_of(p)]) > 1 for cell in cells)
        if framed or all(len(cells_of(row)) == 1 for row in rows):
            for cell in cells:
                yield from self._content(cell)
            return
        headers = header_rows(rows)
        yield from table_blocks(words_of(rows, headers), headers)
        for row in rows:
            yield from self.notes.of(row)
        for cell in cells:
            for inner in children(cell, TBL):
                yield from self._table(inner)

    def _style(self, p: Any) -> Any:
        found = p.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return self.styles.get(value(found)) if found is not None else None


def _heading_level(p: Any, style: Any) -> int:
    """1 to 6 by the paragraph's outline level or its style's name (or that of one it is based on), else 0."""
    outline = p.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
    while outline is None and style is not None:
        name = style.name or ""
        if found := _HEADING.match(name):
            return min(6, int(found.group(1)))
        if name.lower() in ("title", "titel", "titre"):
            return 1
        outline = style.element.find(f"{qn('w:pPr')}/{qn('w:outlineLvl')}")
        style = getattr(style, "base_style", None)
    level = int(value(outline)) + 1 if outline is not None else 0
    return min(6, level) if level <= 9 else 0
