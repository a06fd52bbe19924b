"""What a PDF states about itself: author, dates and language."""

from __future__ import annotations

import re

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from backends.readers.metadata import iso_date, language_tag, stated, unclear_dates

_DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")


def pdf_metadata(file: pdfium.PdfDocument) -> tuple[dict[str, str], tuple[str, ...]]:
    """The metadata, and warnings for dates that are not clear."""
    dates = {"created": file.get_metadata_value("CreationDate"), "modified": file.get_metadata_value("ModDate")}
    metadata = stated(
        author=file.get_metadata_value("Author"),
        created=_date(dates["created"]),
        modified=_date(dates["modified"]),
        language=language_tag(_language(file)),
    )
    return metadata, unclear_dates(dates, metadata)


def _date(text: str) -> str | None:
    """PDF writes D:YYYYMMDD and the time; a missing month or day means the first."""
    if match := _DATE.match(text):
        return iso_date("-".join((match[1], match[2] or "01", match[3] or "01")))
    return iso_date(text)


def _language(file: pdfium.PdfDocument) -> str:
    length = pdfium_c.FPDFCatalog_GetLanguage(file, None, 0)  # bytes of UTF-16, with the closing NUL
    buffer = (pdfium_c.FPDF_WCHAR * (length // 2))()
    pdfium_c.FPDFCatalog_GetLanguage(file, buffer, length)
    return bytes(buffer).decode("utf-16-le", errors="ignore").rstrip("\0")
