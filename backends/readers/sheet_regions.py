"""Sheets that hold several tables, apart from each other by blank rows or columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

Rows = Mapping[int, Sequence[str | None]]
_NUMBER = re.compile(r"[-+(]?[$€£]?\s?\d[\d.,]*\s?%?\)?|\d{4}-\d{2}-\d{2}.*")


def tables_of(rows: Rows) -> list[dict[int, list[str | None]]]:
    """The tables of a sheet by row number; one where it is not plain that there are more.

    A table begins after a blank row only where words stand over numbers, or the first header comes again; beside a
    blank column only where its rows are others than its neighbour's, or it has the same header.
    """
    found = [table for band in _bands(rows) for table in _side_by_side(band)]
    return found if len(found) > 1 else [{n: list(cells) for n, cells in rows.items()}]


def _bands(rows: Rows) -> Iterator[dict[int, list[str | None]]]:
    band: dict[int, list[str | None]] = {}
    first: list[str] = []
    blank = False
    for number, cells in rows.items():
        if not any(cells):
            blank = True
            continue
        words = [c for c in cells if c]
        if blank and len(band) > 1 and (words == first or _heads(rows, number)):
            yield band
            band = {}
        blank = False
        first = first or words
        band[number] = list(cells)
    if band:
        yield band


def _heads(rows: Rows, number: int) -> bool:
    """Two words or more, and a number right below one of them."""
    header, below = rows[number], rows.get(number + 1, ())
    words = [c for c in header if c]
    if len(words) < 2 or any(_NUMBER.fullmatch(c) for c in words):
        return False
    return any(h and c and _NUMBER.fullmatch(c) for h, c in zip(header, below, strict=False))


def _side_by_side(band: dict[int, list[str | None]]) -> list[dict[int, list[str | None]]]:
    width = max(len(cells) for cells in band.values())
    filled = [any(n < len(cells) and cells[n] for cells in band.values()) for n in range(width)]
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for n, full in enumerate([*filled, False]):
        if full and start is None:
            start = n
        elif not full and start is not None:
            spans.append((start, n))
            start = None
    parts = [
        {number: cells[left:right] for number, cells in band.items() if any(cells[left:right])} for left, right in spans
    ]
    first_rows = {next(iter(part)) for part in parts} | {max(part) for part in parts}
    headers = [[c for c in next(iter(part.values())) if c] for part in parts]
    shifted = len(first_rows) > 2
    repeated = len(parts) > 1 and all(header == headers[0] for header in headers)
    large = all(len(part) > 1 and right - left > 1 for part, (left, right) in zip(parts, spans, strict=True))
    return parts if len(parts) > 1 and large and (shifted or repeated) else [_cropped(band)]


def _cropped(band: dict[int, list[str | None]]) -> dict[int, list[str | None]]:
    """Without blank columns on the left."""
    left = min(next(n for n, c in enumerate(cells) if c) for cells in band.values())
    return {number: cells[left:] for number, cells in band.items()}
