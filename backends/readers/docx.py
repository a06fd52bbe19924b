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
from backends.readers.docx_numbering import Numbering, value
from backends.readers.metadata import office_metadata, office_properties
from retrieval.types import Block, Document

_P, _TBL, _TR, _TC = qn("w:p"), qn("w:tbl"), qn("w:tr"), qn("w:tc")
_TEXT = {qn("w:t"), qn("m:t")}
_SKIPPED = {
    qn("w:del"),
    qn("w:moveFrom"),
    qn("w:instrText"),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}
_SIGNS = {qn("w:tab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|rubrik|titolo)\s*([1-9])", re.I)


def read(path: Path) -> Iterator[Document]:
    check_archive(path, "DOCX", "word/document.xml")
    try:
        file = open_docx(str(path))
        blocks = tuple(_Reader(file).blocks())
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
    yield Document(first or stated or path.stem, "docx", blocks, metadata=office_metadata(properties))


class _Reader:
    def __init__(self, file: Any) -> None:
        self.body = file.element.body
        self.styles = {style.style_id: style for style in file.styles}
        self.numbering = Numbering(file)

    def blocks(self) -> Iterator[Block]:
        for element in _content(self.body):
            if element.tag == _P:
                yield from self._paragraph(element)
            else:
                yield from self._table(element)

    def _paragraph(self, p: Any) -> Iterator[Block]:
        style = self._style(p)
        numbered = self.numbering.mark(p, style)
        text = _text(p)
        if not text:
            yield from self._boxes(p)
            return
        mark = f"{numbered.text} " if numbered and numbered.text else ""
        if level := _heading_level(p, style):
            yield Block(mark + " ".join(text.split()), "heading", level)
        elif numbered:
            yield Block(mark + text, "list_item", numbered.depth)
        else:
            yield Block(text)
        yield from self._boxes(p)

    def _boxes(self, p: Any) -> Iterator[Block]:
        """Text boxes hang on a paragraph, but are read on their own."""
        for box in p.iter(qn("w:txbxContent")):
            if not any(a.tag in _SKIPPED for a in box.iterancestors()):
                for inner in _content(box):
                    yield from self._paragraph(inner) if inner.tag == _P else self._table(inner)

    def _table(self, table: Any) -> Iterator[Block]:
        """A table of one cell is a frame around paragraphs."""
        rows = [list(_cells(row)) for row in _deep(table, _TR)]
        if sum(len(row) for row in rows) == 1:
            for element in _content(rows[0][0]):
                yield from self._paragraph(element) if element.tag == _P else self._table(element)
            return
        lines = [" | ".join(line) for row in rows if any(line := _line(row))]
        if lines:
            yield Block("\n".join(lines), "table")

    def _style(self, p: Any) -> Any:
        found = p.find(f"{qn('w:pPr')}/{qn('w:pStyle')}")
        return self.styles.get(value(found)) if found is not None else None


def _content(parent: Any) -> Iterator[Any]:
    """Paragraphs and tables, also those inside content controls and insertions."""
    for child in parent:
        if child.tag in (_P, _TBL):
            yield child
        elif child.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml"), qn("w:smartTag")):
            yield from _content(child)


def _deep(parent: Any, tag: str) -> Iterator[Any]:
    """Children of a tag, also those inside content controls, but not those of a table inside."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in (qn("w:sdt"), qn("w:sdtContent"), qn("w:ins"), qn("w:customXml")):
            yield from _deep(child, tag)


def _cells(row: Any) -> Iterator[Any]:
    return _deep(row, _TC)


def _line(row: list[Any]) -> list[str]:
    """The cells of a row. A merged cell is said once, where it begins; the rest of it stays empty."""
    out: list[str] = []
    for cell in row:
        properties = cell.find(qn("w:tcPr"))
        merge = properties.find(qn("w:vMerge")) if properties is not None else None
        span = properties.find(qn("w:gridSpan")) if properties is not None else None
        continued = merge is not None and value(merge) != "restart"
        words = "" if continued else " ".join(" ".join(_text(p) for p in cell.iter(_P)).split())
        width = int(value(span)) if span is not None and value(span).isdecimal() else 1
        out.extend([words, *[""] * (width - 1)])
    return out


def _text(p: Any) -> str:
    """The words of a paragraph: insertions and formulas in, deletions and text boxes out."""
    parts: list[str] = []
    _gather(p, parts)
    lines = (" ".join(line.split()) for line in clean("".join(parts)).split("\n"))
    return "\n".join(line for line in lines if line)


def _gather(element: Any, parts: list[str]) -> None:
    for child in element:
        if child.tag in _TEXT:
            parts.append(child.text or "")
        elif child.tag in _SIGNS:
            parts.append(_SIGNS[child.tag])
        elif child.tag not in _SKIPPED and child.tag != qn("w:txbxContent") and isinstance(child.tag, str):
            _gather(child, parts)


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
