"""Running headers, footers and page numbers: what most pages of a PDF repeat at their edges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from backends.readers.pdf_lines import Line

_LISTED = 5
_SHOWN = 60  # characters


def without_edges(pages: Sequence[Sequence[Line]]) -> tuple[list[list[Line]], tuple[str, ...]]:
    """Pages without the lines that most of them share (or every second one, left and right), and what these said."""
    filled = [page for page in pages if page]
    if len(filled) < 3:
        return [list(page) for page in pages], ()
    seen = Counter(key for page in filled for key in {_key(line) for line in _edges(page)})
    often = {key for key, count in seen.items() if count >= max(3, 0.45 * len(filled))}
    kept: list[list[Line]] = []
    dropped: dict[tuple[str, float], str] = {}
    for page in pages:
        edges = _edges(page)
        kept.append([line for line in page if _key(line) not in often or line not in edges])
        for line in edges:
            if _key(line) in often:
                dropped.setdefault(_key(line), line.text[:_SHOWN])
    if not any(kept):  # the pages hold nothing else
        return [list(page) for page in pages], ()
    said = ", ".join(f'"{text}"' for text in list(dropped.values())[:_LISTED])
    more = f" and {len(dropped) - _LISTED} more" if len(dropped) > _LISTED else ""
    return kept, (f"left out as what repeats at the edge of the pages: {said}{more}",) if dropped else ()


def _edges(page: Sequence[Line]) -> list[Line]:
    """The two highest and the two lowest lines of those that run as most do."""
    by_height = sorted((x for x in page if not x.table and x.angle == page[0].angle), key=lambda line: line.bottom)
    return [*by_height[:2], *by_height[-2:]]


def _key(line: Line) -> tuple[str, float]:
    """Page numbers differ. Set large, a number tells chapters apart, and such a line is no header."""
    small = line.size < 12
    return re.sub(r"\d+", "#", line.text) if small else line.text, round(line.size)
