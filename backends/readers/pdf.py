"""PDF: pages into paragraphs and headings, with page numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2 as pdfium

from backends.errors import UnreadableFile
from backends.readers.embedded import grid_warnings, with_grids
from backends.readers.options import AS_IT_IS, ReadOptions
from backends.readers.pdf_edges import without_edges
from backends.readers.pdf_layout import blocks_of
from backends.readers.pdf_metadata import pdf_metadata
from backends.readers.pdf_pages import read_pages
from retrieval.types import Document

_WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD


def read(path: Path, options: ReadOptions = AS_IT_IS) -> Iterator[Document]:
    with path.open("rb") as stream:
        if b"%PDF-" not in stream.read(1024):
            raise UnreadableFile(f"{path.name}: not a PDF (the content does not match the file's suffix).")
    try:
        file = pdfium.PdfDocument(path)  # tries the empty password: a file locked against change only can be read
    except pdfium.PdfiumError as error:
        if error.err_code == _WRONG_PASSWORD:
            raise UnreadableFile(f"{path.name}: the PDF needs a password; save a copy without one.") from error
        raise UnreadableFile(f"{path.name}: the PDF is corrupt; open it in a viewer and save it again.") from error
    try:
        pages = read_pages(file, path, options)
        stated = " ".join(file.get_metadata_value("Title").split())
        metadata, unclear = pdf_metadata(file)
    finally:
        file.close()
    if not any(pages.lines):
        asked = "" if options.ocr else "; recognise its text (OCR) first"
        raise UnreadableFile(f"{path.name}: no text found (a scan?){asked}.")
    lines, repeated = without_edges(pages.lines)
    blocks, tables = with_grids(blocks_of(lines))
    warnings = (*pages.warnings(), *repeated, *unclear, *grid_warnings(tables))
    first = next((b.text for b in blocks[:5] if b.kind == "heading" and b.page == 1 and not b.text[0].isdecimal()), "")
    title = stated if stated and not _looks_made_up(stated) else first
    title = title or path.stem
    yield Document(title, "pdf", blocks, tables, units=len(lines), warnings=warnings, metadata=metadata)


def _looks_made_up(title: str) -> bool:
    """Titles that a program filled in say nothing."""
    low = title.lower()
    programs = ("untitled", "microsoft word", "(anonymous)", "unspecified")
    return low.startswith(programs) or low.endswith((".doc", ".docx", ".indd", ".tex", ".pdf"))
