"""The type of a column of text: a number or a date only where every value is one, else the text as it stands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from backends.readers.dates import read_dates
from backends.readers.numbers import read_numbers

EMPTY = frozenset({"", "n/a", "#n/a", "na", "-", "–", "—", "null", "none", "nan"})


@dataclass(frozen=True)
class Converted:
    """A column ready to be cast: its DuckDB type, values as DuckDB reads them, and what was assumed, as a sentence."""

    type: str
    values: tuple[str | None, ...]
    assumption: str = ""


def convert(name: str, values: Sequence[str | None]) -> Converted:
    """Reads a column as numbers, then as dates; where neither fits, it stays text, and why is told if it was close."""
    texts = [(v or "").strip() for v in values]
    present = [text for text in texts if text.casefold() not in EMPTY]
    kept = tuple(v if v and v.strip() else None for v in values)
    if not present:
        return Converted("VARCHAR", kept)
    for read in (read_numbers, read_dates):
        found = read(present)
        if found is None:
            continue
        notes = list(found.notes)
        if found.type is None:  # nearly, but it would be a guess
            return Converted("VARCHAR", kept, f"`{name}`: {'; '.join(notes)}; kept as text")
        marks = Counter(t for t in texts if t and t.casefold() in EMPTY)
        if marks:
            said = ", ".join(f'"{mark}"' for mark in marks)
            notes.append(f"{marks.total()} of {len(texts)} values ({said}) read as empty")
        remaining = iter(found.values)
        converted = tuple(next(remaining) if t.casefold() not in EMPTY else None for t in texts)
        return Converted(found.type, converted, f"`{name}`: {'; '.join(notes)}" if notes else "")
    return Converted("VARCHAR", kept)
