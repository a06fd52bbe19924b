"""The pages of a PDF as lines with tables in their place; what is only a picture is recognised if the caller asks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2 as pdfium
import pypdfium2.raw as raw

from backends.readers.ocr import RecognitionFailed, check_ocr, recognise
from backends.readers.options import ReadOptions
from backends.readers.pdf_lines import Line, page_lines
from backends.readers.pdf_rules import Rules
from backends.readers.pdf_tables import with_tables

HARDLY = 40  # letters: a picture with fewer beside it is a scan with a stamp or a page number
COVERED = 0.6  # of the page, by one picture


@dataclass
class Pages:
    """Lines page by page, and the numbers (from 1) of the pages that could not be read as they should."""

    lines: list[list[Line]] = field(default_factory=list)
    broken: list[int] = field(default_factory=list)
    scanned: list[int] = field(default_factory=list)  # without text, or with hardly any beside a picture
    recognised: list[int] = field(default_factory=list)
    failed: dict[int, str] = field(default_factory=dict)
    unruled: list[int] = field(default_factory=list)  # whose rules could not be read

    def warnings(self) -> list[str]:
        out = [f"page {n} cannot be read" for n in self.broken]
        for n in self.scanned:
            why = f"; {self.failed[n]}" if n in self.failed else ""
            hardly = "hardly any" if self.lines[n - 1] else "no"
            out.append(f"page {n} holds {hardly} text (a scan?){why}")
        if self.recognised:
            out.append(f"{_numbered(self.recognised)} recognised by OCR, which may misread")
        if self.unruled:
            out.append(f"the rules of tables on {_pages(self.unruled)} cannot be read")
        return out


def read_pages(file: pdfium.PdfDocument, path: Path, options: ReadOptions) -> Pages:
    """Raises UnreadableFile where OCR is asked for, needed, and not installed."""
    pages = Pages()
    with Rules(path) as rules:
        for index in range(len(file)):
            try:
                page = file[index]
                pages.lines.append(_page(page, index, rules, pages, path, options))
                page.close()
            except pdfium.PdfiumError:
                pages.lines.append([])
                pages.broken.append(index + 1)
        pages.unruled = rules.failed
    return pages


def _page(page: pdfium.PdfPage, index: int, rules: Rules, pages: Pages, path: Path, options: ReadOptions) -> list[Line]:
    text_page = page.get_textpage()
    lines = page_lines(text_page)
    tables = rules.tables(page, text_page, index, lines)
    text_page.close()
    if _is_scan(page, lines):
        found = _recognised(page, index, pages, path, options) if options.ocr else []
        if found:
            pages.recognised.append(index + 1)
            return with_tables(found, [])
        pages.scanned.append(index + 1)
    return with_tables(lines, tables)


def _recognised(page: pdfium.PdfPage, index: int, pages: Pages, path: Path, options: ReadOptions) -> list[Line]:
    if not pages.recognised and not pages.failed:
        check_ocr(options.ocr, path.name)
    try:
        return recognise(page, options.ocr)
    except RecognitionFailed as error:
        pages.failed[index + 1] = str(error)
        return []


def _is_scan(page: pdfium.PdfPage, lines: Sequence[Line]) -> bool:
    if not lines:
        return True
    if sum(c.isalpha() for line in lines for c in line.text) >= HARDLY:
        return False
    width, height = page.get_size()
    for picture in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        with suppress(pdfium.PdfiumError):
            left, bottom, right, top = picture.get_bounds()
            if (right - left) * (top - bottom) >= COVERED * width * height:
                return True
    return False


def _numbered(numbers: Sequence[int]) -> str:
    return f"{_pages(numbers)} {'were' if len(numbers) > 1 else 'was'}"


def _pages(numbers: Sequence[int]) -> str:
    return f"page{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
