"""Columns of prose that PDFium reads across, since the file draws them line by line: one column after the other again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.readers.pdf_lines import Line

FEWEST = 4  # lines of two columns, before anything is moved
WORDS = 3.5  # on average in each part of a line: cells of a table hold fewer
FILLED = 0.75  # of the column's width, by half of its lines at least


def in_columns(lines: Sequence[Line]) -> list[Line]:
    """The lines, with runs of two columns or more divided at the gap between them."""
    out: list[Line] = []
    at = 0
    while at < len(lines):
        end, gap = _run(lines, at)
        left = [part for line in lines[at:end] for part in _parts(line, gap) if part.right <= gap]
        right = [part for line in lines[at:end] for part in _parts(line, gap) if part.left >= gap]
        if sum(len(line.cells) > 1 for line in lines[at:end]) >= FEWEST and _is_prose(left) and _is_prose(right):
            out.extend(left)
            out.extend(in_columns(right))
            at = end
        else:
            out.append(lines[at])
            at += 1
    return out


def _run(lines: Sequence[Line], start: int) -> tuple[int, float]:
    """Where the run of lines ends that one gap divides, and the middle of that gap."""
    if len(lines[start].cells) < 2:
        return start + 1, 0.0
    low, high = lines[start].cells[0].right, lines[start].cells[1].left
    end = start + 1
    while end < len(lines):
        line = lines[end]
        step = lines[end - 1].bottom - line.bottom
        fits = [
            (max(low, left), min(high, right))
            for left, right in _gaps(line)
            if min(high, right) - max(low, left) >= 0.8 * line.size
        ]
        if not fits or not 0 < step < 3 * line.size or line.angle != lines[start].angle:
            break
        low, high = fits[0]
        end += 1
    return end, (low + high) / 2


def _gaps(line: Line) -> list[tuple[float, float]]:
    """What a line leaves free, also beside it."""
    edges = [float("-inf"), *(x for cell in line.cells for x in (cell.left, cell.right)), float("inf")]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _parts(line: Line, gap: float) -> list[Line]:
    """A line left and right of the gap."""
    parts = []
    for cells in ([c for c in line.cells if c.right <= gap], [c for c in line.cells if c.left >= gap]):
        if not cells:
            continue
        text = " ".join(cell.text for cell in cells)
        last = cells[-1] is line.cells[-1]
        hyphenated = line.hyphenated if last else text.endswith("-") and text[-2:-1].isalpha()
        text = text[:-1] if hyphenated and not last else text
        part = replace(line, text=text, left=cells[0].left, right=cells[-1].right, cells=tuple(cells))
        parts.append(replace(part, hyphenated=hyphenated, spaced=False))
    return parts


def _is_prose(lines: Sequence[Line]) -> bool:
    """Long lines that mostly fill their column."""
    if len(lines) < FEWEST:
        return False
    width = max(line.right for line in lines) - min(line.left for line in lines)
    words = sum(max(len(line.text.split()), len(line.text) / 6) for line in lines) / len(lines)
    filled = sum(line.right - line.left >= FILLED * width for line in lines)
    return words >= WORDS and filled >= len(lines) / 2
