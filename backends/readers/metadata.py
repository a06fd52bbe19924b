"""What a file states about itself, under the same names for every format: author, created, modified, language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from backends.readers.dates import read_dates
from backends.readers.decoding import clean

_CORE_PROPERTIES = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_STAMP = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ].*)?", re.S)
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*")


def stated(**values: str | None) -> dict[str, str]:
    """The values that are there, in the order given, on one line each and without control characters."""
    folded = {key: " ".join(clean(value or "").split()) for key, value in values.items()}
    return {key: value for key, value in folded.items() if value}


def iso_date(value: date | str | None) -> str | None:
    """The day of a date as YYYY-MM-DD, in the time zone it was written in; None where it cannot be told.

    >>> iso_date("Fri, 1 Mar 2024 23:30:00 +0100"), iso_date("2024-03-01T10:00:00Z"), iso_date("03/04/2024")
    ('2024-03-01', '2024-03-01', None)
    """
    if isinstance(value, datetime):
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    text = " ".join((value or "").split())
    if not text:
        return None
    stamp = _STAMP.fullmatch(text)
    reading = read_dates([stamp.group(1) if stamp else text])
    if reading and reading.type == "DATE":
        return reading.values[0]
    if "," in text or ":" in text:  # as in mail; without either, the parser takes almost anything for a date
        try:
            return parsedate_to_datetime(text).date().isoformat()
        except (ValueError, TypeError, IndexError):
            return None
    return None


def language_tag(value: str | None) -> str | None:
    """A language as files name it ("en", "pt-BR"); None for what is no such tag.

    >>> language_tag("pt_BR"), language_tag("English, mostly")
    ('pt-BR', None)
    """
    text = (value or "").strip()
    return text.replace("_", "-") if _LANGUAGE.fullmatch(text) else None


def office_properties(package: Any) -> Any:
    """The core properties of an OOXML package as python-docx opens it; None where it has none.

    The libraries would make some up, with today's date.
    """
    try:
        package.part_related_by(_CORE_PROPERTIES)
    except KeyError:
        return None
    return package.core_properties


def office_metadata(properties: Any) -> dict[str, str]:
    if properties is None:
        return {}
    return stated(
        author=properties.author,
        created=iso_date(properties.created),
        modified=iso_date(properties.modified),
        language=language_tag(properties.language),
    )


def unclear_dates(found: Mapping[str, str | None], said: Iterable[str]) -> tuple[str, ...]:
    """A warning for each date that the file states but that could not be read. `said` are the keys that could."""
    return tuple(
        f'the date "{" ".join(clean(text).split())[:40]}" ({key}) is not clear and was left out'
        for key, text in found.items()
        if text and text.strip() and key not in said
    )
