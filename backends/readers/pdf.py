"""PDF: pages into paragraphs and headings, with page numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pypdfium2 as pdfium

from backends.errors import UnreadableFile
from backends.readers.pdf_layout import blocks_of
from backends.readers.pdf_lines import Line, page_lines
from backends.readers.pdf_metadata import pdf_metadata
from retrieval.types import Document

_WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD


def read(path: Path) -> Iterator[Document]:
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
        pages, broken = _pages(file)
        stated = " ".join(file.get_metadata_value("Title").split())
        metadata, unclear = pdf_metadata(file)
    finally:
        file.close()
    empty = [n for n, lines in enumerate(pages, 1) if not lines and n not in broken]
    if not any(pages):
        raise UnreadableFile(f"{path.name}: no text found (a scan?); recognise its text (OCR) first.")
    warnings = [f"page {n} cannot be read" for n in broken]
    warnings.extend(f"page {n} holds no text (a scan?)" for n in empty)
    warnings.extend(unclear)
    blocks = tuple(blocks_of(pages))
    first = next((b.text for b in blocks[:5] if b.kind == "heading" and b.page == 1 and not b.text[0].isdecimal()), "")
    title = stated if stated and not _looks_made_up(stated) else first
    yield Document(title or path.stem, "pdf", blocks, units=len(pages), warnings=tuple(warnings), metadata=metadata)


def _pages(file: pdfium.PdfDocument) -> tuple[list[list[Line]], list[int]]:
    pages: list[list[Line]] = []
    broken: list[int] = []
    for index in range(len(file)):
        try:
            page = file[index]
            pages.append(page_lines(page))
            page.close()
        except pdfium.PdfiumError:
            pages.append([])
            broken.append(index + 1)
    return pages, broken


def _looks_made_up(title: str) -> bool:
    """Titles that a program filled in say nothing."""
    low = title.lower()
    programs = ("untitled", "microsoft word", "(anonymous)", "unspecified")
    return low.startswith(programs) or low.endswith((".doc", ".docx", ".indd", ".tex", ".pdf"))
