"""Dates as people write them; day or month first only where the column leaves no doubt."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from functools import lru_cache

from backends.readers.readings import Reading

_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?")
_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")
_DOTTED = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})")  # written so only with the day first
_NUMERIC = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})")
_DAY_NAMED = re.compile(r"(\d{1,2})[. -]+([A-Za-z]{3,9})\.?,?[ -]+(\d{4})")
_NAMED_DAY = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2}),? (\d{4})")
_MIDNIGHT = re.compile(r"[T ]+0{1,2}:00(?::00(?:\.0+)?)?$")
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


def read_dates(values: Sequence[str]) -> Reading | None:
    """None where a value is no date; a reading without a type where day and month cannot be told apart."""
    if all(_STAMP.fullmatch(v) or _ISO.fullmatch(v) for v in values) and any(_STAMP.fullmatch(v) for v in values):
        return _stamps(values)
    values = [_MIDNIGHT.sub("", v) for v in values]  # as spreadsheets write dates
    if _date(values[0], True) is None and _date(values[0], False) is None:
        return None  # most columns of text end here
    day_first = [_date(v, True) for v in values]
    month_first = [_date(v, False) for v in values]
    numeric = sum(bool(_NUMERIC.fullmatch(v)) for v in values)
    if None not in day_first and (None in month_first or day_first == month_first):
        found, note = day_first, "day first"
    elif None not in month_first and None in day_first:
        found, note = month_first, "month first"
    elif None not in day_first:
        return Reading(None, notes=(f"{numeric} of {len(values)} values may have the day or the month first",))
    else:
        if numeric and all(a or b for a, b in zip(day_first, month_first, strict=True)):
            return Reading(None, notes=("some dates have the day first, others the month",))
        return None
    notes = [f"{numeric} of {len(values)} values read as {note}"] if numeric else []
    words = sum(any(c.isalpha() for c in v) for v in values)
    dotted = sum(bool(_DOTTED.fullmatch(v)) for v in values)
    if dotted:
        notes.append(f"{dotted} of {len(values)} values read as day.month.year")
    if words and words < len(values):
        notes.append(f"{words} of {len(values)} dates name the month, the others do not; all were read as dates")
    return Reading("DATE", tuple(d.isoformat() for d in found if d), tuple(notes))


def _stamps(values: Sequence[str]) -> Reading | None:
    try:
        return Reading("TIMESTAMP", tuple(datetime.fromisoformat(v).isoformat(sep=" ") for v in values))
    except ValueError:
        return None


@lru_cache(maxsize=50_000)
def _date(value: str, day_first: bool) -> date | None:
    if m := _ISO.fullmatch(value) or _YEAR_FIRST.fullmatch(value):
        return _valid(m[1], m[2], m[3])
    if m := _DOTTED.fullmatch(value):
        return _valid(m[3], m[2], m[1])
    if m := _NUMERIC.fullmatch(value):
        return _valid(m[4], m[3], m[1]) if day_first else _valid(m[4], m[1], m[3])
    if m := _DAY_NAMED.fullmatch(value):
        return _valid(m[3], _month(m[2]), m[1])
    if m := _NAMED_DAY.fullmatch(value):
        return _valid(m[3], _month(m[1]), m[2])
    return None


def _month(name: str) -> str:
    low = name.lower()
    fits = [n for n, month in enumerate(_MONTHS, 1) if month.startswith(low) or (low == "sept" and n == 9)]
    return str(fits[0]) if len(fits) == 1 else "0"


def _valid(year: str, month: str, day: str) -> date | None:
    try:
        return date(int(year), int(month), int(day))
    except ValueError:
        return None
