"""Rows as they were found, into a grid with one header, and a note on everything that was changed on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from retrieval.types import Block, Grid

Row = tuple[int, Sequence[str | None]]  # the row's number, as a person counts, and its cells

TEXT_ROWS = 100  # a grid of at most this many rows can be searched as text, too
_LISTED = 5


def build_grid(name: str, found: Sequence[Row], typed: bool = False) -> Grid | None:
    """The grid of the rows found; None where every cell is empty. The first row that fits is the header.

    `typed` is for rows that somebody typed, as in CSV: those that begin with "#" are comments, short ones are a fault.
    """
    rows = [(number, [_cell(c) for c in cells]) for number, cells in found]
    filled = [(number, cells) for number, cells in rows if any(cells)]
    notes: list[str] = []
    if typed:
        remarks = [number for number, cells in filled if _is_comment(cells)]
        if remarks and len(remarks) < len(filled):
            notes.append(f"{_rows(remarks)} left out as comment{'s' * (len(remarks) > 1)} (#)")
            filled = [(number, cells) for number, cells in filled if number not in set(remarks)]
    if not filled:
        return None
    usual = Counter(_count(cells) for _, cells in filled).most_common(1)[0][0]
    titles = 0
    while titles < len(filled) - 1 and usual > 1 and _count(filled[titles][1]) == 1:
        titles += 1
    for number, cells in filled[:titles]:
        notes.append(f'{_rows([number])} left out as a title: "{next(c for c in cells if c)[:80]}"')
    (header_row, first), body = filled[titles], filled[titles + 1 :]
    if header_row > rows[0][0] and titles == 0 and not notes:
        notes.append(f"the header stands in row {header_row}; the blank rows above it are left out")
    width = _width(first)
    wide = max(width, *(_width(cells) for _, cells in body)) if body else width
    short = [number for number, cells in body if typed and len(cells) < width]
    long = [number for number, cells in body if _width(cells) > width]
    names, renamed = _unique([*first[:width], *[None] * (wide - width)], width)
    notes.extend(renamed)
    if short:
        notes.append(f"{_rows(short)} filled up with empty cells (fewer cells than the header)")
    if long:
        notes.append(
            f"{_rows(long)} longer than the header; the extra cells are in {', '.join(names[width:][:_LISTED])}"
        )
    last = body[-1][0] if body else header_row
    blank = [n for n, cells in rows if n > header_row and not any(cells) and (n < last or (typed and len(cells) > 1))]
    if blank:
        notes.append(f"{_rows(blank)} left out as blank")
    table = tuple((*line[:wide], *[None] * (wide - len(line))) for _, line in body)
    names, table = _without_empty(names, first, table)
    return Grid(name, tuple(names), table, body[0][0] if body else header_row + 1, tuple(notes))


def text_block(grid: Grid) -> Block | None:
    """A small grid as a table block, so that it can be found by its words; None for a long one."""
    if len(grid.rows) > TEXT_ROWS:
        return None
    lines = [" | ".join(" ".join((c or "").split()) for c in row) for row in (grid.header, *grid.rows)]
    return Block("\n".join(lines), "table", line=grid.first_row - 1)


def _cell(text: str | None) -> str | None:
    return (text.strip() or None) if text else None


def _is_comment(cells: Sequence[str | None]) -> bool:
    """A header may begin with "#", too, but then it has further cells."""
    return bool(cells[0] and cells[0].startswith("#") and _count(cells) == 1)


def _count(cells: Sequence[str | None]) -> int:
    return sum(1 for c in cells if c)


def _width(cells: Sequence[str | None]) -> int:
    return max((n for n, c in enumerate(cells, 1) if c), default=0)


def _unique(header: Sequence[str | None], width: int) -> tuple[list[str], list[str]]:
    """Column names that differ also without case, and notes on those that were made up."""
    taken = {h.casefold() for h in header if h}
    seen: set[str] = set()
    names: list[str] = []
    notes: list[str] = []
    for n, found in enumerate(header, 1):
        base = " ".join(found.split()) if found else f"column_{n}"
        name, count = base, 2
        while name.casefold() in seen or ((name != base or not found) and name.casefold() in taken):
            name, count = f"{base}_{count}", count + 1
        seen.add(name.casefold())
        names.append(name)
        if found and name != base:
            notes.append(f'column {n} is named {name}, since "{base}" occurs twice')
        elif not found and n <= width:
            notes.append(f"column {n} has no header and is named {name}")
    return names, notes


def _without_empty(
    names: list[str], header: Sequence[str | None], rows: tuple[tuple[str | None, ...], ...]
) -> tuple[list[str], tuple[tuple[str | None, ...], ...]]:
    """Columns with neither a header nor a value say nothing."""
    keep = [n for n in range(len(names)) if (n < len(header) and header[n]) or any(row[n] for row in rows)]
    if len(keep) == len(names):
        return names, rows
    return [names[n] for n in keep], tuple(tuple(row[n] for n in keep) for row in rows)


def _rows(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"row {numbers[0]} was"
    more = f" and {len(numbers) - _LISTED} more" if len(numbers) > _LISTED else ""
    return f"rows {', '.join(map(str, numbers[:_LISTED]))}{more} were"
