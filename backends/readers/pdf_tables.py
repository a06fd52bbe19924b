"""Tables in their place among the lines of PDF pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from backends.readers.pdf_aligned import aligned_tables
from backends.readers.pdf_columns import in_columns
from backends.readers.pdf_lines import Line, Table

SAME = 5.0  # points by which the sides of a table may differ on the page where it goes on


def with_tables(lines: Sequence[Line], ruled: Sequence[Table]) -> list[Line]:
    """The lines of a page, each table in place of its lines, and columns of prose one after the other."""
    kept: list[Line] = []
    placed: list[Table] = []
    for line in lines:
        table = next((t for t in ruled if _is_within(line, t)), None)
        if table is None:
            kept.append(line)
            continue
        if table not in placed:
            placed.append(table)
            kept.append(_standing_for(table, line))
        outside = [c for c in line.cells if c.right < table.box[0] or c.left > table.box[1]]
        if outside:
            text = " ".join(c.text for c in outside)
            kept.append(replace(line, text=text, left=outside[0].left, right=outside[-1].right, cells=tuple(outside)))
    kept = in_columns(kept)
    for start, end, table in reversed(aligned_tables(kept)):
        kept[start:end] = [_standing_for(table, kept[start])]
    return kept


def joined_tables(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages where a table that goes on from the page before says so, under the same header."""
    out: list[list[Line]] = []
    last: Table | None = None
    for page in pages:
        lines = list(page)
        table = lines[0].table if lines else None
        if last and table and _goes_on(last, table):
            header = last.rows[: max(1, last.headers)]
            rows = table.rows if table.rows[: len(header)] == header else (*header, *table.rows)
            table = replace(table, rows=rows, headers=len(header), continues=True)
            lines[0] = replace(lines[0], table=table)
        out.append(lines)
        if lines:
            last = table if len(lines) == 1 else lines[-1].table
    return out


def _goes_on(last: Table, table: Table) -> bool:
    sides = abs(last.box[0] - table.box[0]) < SAME and abs(last.box[1] - table.box[1]) < SAME
    return sides and len(last.rows[0]) == len(table.rows[0])


def _is_within(line: Line, table: Table) -> bool:
    left, right, bottom, top = table.box
    level = bottom < (line.bottom + line.top) / 2 < top
    return level and not line.table and any(left <= (c.left + c.right) / 2 <= right for c in line.cells)


def _standing_for(table: Table, line: Line) -> Line:
    left, right, bottom, top = table.box
    return Line("", left, right, bottom, top, line.size, angle=line.angle, table=table)
