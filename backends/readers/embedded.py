"""Tables inside documents: each a text block in its place, and beside it a grid named after its caption or heading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from backends.readers.grids import build_grid
from retrieval.types import Block, Grid

MOST_PROSE = 150  # characters of a cell on average: more is a page laid out by a table
LONGEST_NAME = 60  # characters
LONGEST_PLACE = 80
LONGEST_CAPTION = 100
_LABEL = re.compile(r"(?:table|tab\.|tabelle|tableau|tabla|tabella|tabela|表)\s*[\dIVXA-Z][\w.-]*(?<![.-])", re.I)
_NUMBER = re.compile(r"[-+(]?\s?[$€£¥]?\s?\d[\d.,\s]*\s?(?:%|[$€£¥])?\)?")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(frozen=True)
class TableBlock(Block):
    """A table block with its grid, which has no name and place yet, and its caption ("" where it has none).

    `continues`: its rows belong to the grid of the table before.
    """

    grid: Grid | None = None
    caption: str = ""
    continues: bool = False


def table_blocks(
    rows: Sequence[Sequence[str | None]],
    headers: int = 0,
    caption: str = "",
    page: int | None = None,
    line: int | None = None,
    notes: tuple[str, ...] = (),
    continues: bool = False,
) -> Iterator[Block]:
    """Caption, titles above the header, and the rows under one header line; a grid only where the rows are data.

    `headers` is how many rows at the top are said to be headers: they become one. With 0 nothing is said, and the
    first row that looks like a header is taken for one.
    """
    lines = [[" ".join((cell or "").split()) for cell in row] for row in rows]
    lines = [row for row in lines if any(row)]
    headers = min(headers, len(lines))
    said = headers > 0
    titles: list[str] = []
    while len(lines) > 1 and headers and _is_title(lines[0], headers):
        titles.append(lines.pop(0)[0])
        headers -= 1
    if headers > 1:
        lines[:headers] = [_joined(lines[:headers])]
        headers = 1
    missing = not headers and (_is_data(lines) or (said and not _heads_numbers(lines)))
    grid = _grid(lines, headers, missing)
    if grid and not headers and not missing and (above := grid.first_row - 2):
        titles.extend(next(c for c in row if c) for row in lines[:above])
        lines = lines[above:]
        grid = _grid(lines, headers, missing)
    for text in (caption, *titles):
        if text:
            yield Block(text, page=page, line=line)
    if not lines:
        return
    text = "\n".join(" | ".join(row) for row in lines)
    if grid is None:
        yield Block(text, "table", page=page, line=line)
    else:
        grid = replace(grid, notes=(*notes, *grid.notes))
        caption = caption or next(iter(titles), "")
        yield TableBlock(text, "table", page=page, line=line, grid=grid, caption=caption, continues=continues)


def with_grids(blocks: Iterable[Block]) -> tuple[tuple[Block, ...], tuple[Grid, ...]]:
    """Plain blocks, and the grids among them under names that differ, each with its place ("p. 3, § 4 Fees")."""
    found = list(blocks)
    grids: list[Grid] = []
    names: set[str] = set()
    heading = ""
    for n, block in enumerate(found):
        if block.kind == "heading":
            heading = block.text
        if not isinstance(block, TableBlock):
            continue
        if block.grid and block.continues and grids and grids[-1].header == block.grid.header:
            grids[-1] = _longer(grids[-1], block.grid, block.page)
        elif block.grid:
            caption = block.caption or _caption(found, n)
            name = _differing(_short(caption or heading or "table", LONGEST_NAME), names)
            grids.append(replace(block.grid, name=name, place=_place(block, heading, caption)))
        found[n] = Block(block.text, block.kind, block.level, block.page, block.line, block.spot)
    return tuple(found), tuple(grids)


def _longer(grid: Grid, more: Grid, page: int | None) -> Grid:
    notes = (*grid.notes, *more.notes, f"it goes on on page {page}")
    return replace(grid, rows=grid.rows + more.rows, notes=tuple(dict.fromkeys(notes)))


def grid_warnings(grids: Sequence[Grid]) -> tuple[str, ...]:
    """What was assumed about the tables, for whoever takes the file in."""
    return tuple(f'table "{grid.name}" ({grid.place}): {note}' for grid in grids for note in grid.notes)


def _grid(lines: Sequence[Sequence[str]], headers: int, missing: bool) -> Grid | None:
    width = max((len(row) for row in lines), default=0)
    if len(lines) < 2 or width < 2:
        return None
    filled = [cell for row in lines for cell in row if cell]
    if not headers and (sum(map(len, filled)) > MOST_PROSE * len(filled) or _is_form(lines)):
        return None
    numbered = list(enumerate(lines, 1))
    if missing:
        numbered.insert(0, (0, [f"column_{n}" for n in range(1, width + 1)]))
    elif headers and sum(map(bool, lines[0])) == 1:  # else it would be taken for a title
        numbered[0] = (1, [cell or f"column_{n}" for n, cell in enumerate(lines[0], 1)])
    grid = build_grid("", numbered)
    if grid is None or not grid.rows or len(grid.header) < 2:
        return None
    return replace(grid, notes=("it has no header row; its columns are numbered", *grid.notes)) if missing else grid


def _is_title(row: Sequence[str], headers: int) -> bool:
    """One text over the whole width, or one cell above further header rows."""
    return len(row) > 1 and len({cell for cell in row if cell}) == 1 and (all(row) or headers > 1)


def _is_form(lines: Sequence[Sequence[str]]) -> bool:
    """Labels that end in a colon beside what is filled in for them."""
    labels = [row[0] for row in lines if row[0]]
    return sum(label.endswith((":", "：")) for label in labels) > len(labels) / 2


def _is_data(lines: Sequence[Sequence[str]]) -> bool:
    """Does the first row hold a number where the others do? Years may well be headers."""
    return any(_is_number(lines[0][n]) and not _YEAR.fullmatch(lines[0][n]) for n in _numeric_columns(lines))


def _heads_numbers(lines: Sequence[Sequence[str]]) -> bool:
    """Does the first row hold words over numbers?"""
    return any(lines[0][n] and not _is_number(lines[0][n]) for n in _numeric_columns(lines))


def _numeric_columns(lines: Sequence[Sequence[str]]) -> list[int]:
    """Columns of the first row that hold mostly numbers below it."""
    columns = ([row[n] for row in lines[1:] if n < len(row) and row[n]] for n in range(len(lines[0]) if lines else 0))
    return [n for n, below in enumerate(columns) if below and sum(map(_is_number, below)) > len(below) / 2]


def _is_number(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text))


def _joined(rows: Sequence[Sequence[str]]) -> list[str]:
    """Several header rows as one: what stands over a column, from above, said once."""
    width = max(len(row) for row in rows)
    columns = ([row[n] for row in rows if n < len(row) and row[n]] for n in range(width))
    return [" ".join(dict.fromkeys(parts)) for parts in columns]


def _caption(blocks: Sequence[Block], at: int) -> str:
    """The line right above a table, if it says "Table 3 …" or is short and no sentence; or such a label below."""
    above = _line_of(blocks, at - 1, blocks[at].page, -1)
    if _LABEL.match(above):
        return above
    below = _line_of(blocks, at + 1, blocks[at].page, 0)
    if _LABEL.match(below) and not (at + 2 < len(blocks) and blocks[at + 2].kind == "table"):
        return below
    if above.endswith((".", "!", "?", "。")) or len(above) > LONGEST_CAPTION:
        return ""
    named = above.endswith((":", "：")) or (not re.search(r"[:：]", above) and "\n" not in blocks[at - 1].text)
    return above.rstrip(":：") if at and named else ""


def _line_of(blocks: Sequence[Block], at: int, page: int | None, line: int) -> str:
    """A line of a paragraph on the same page, "" for any other block."""
    if not 0 <= at < len(blocks) or blocks[at].kind != "paragraph" or blocks[at].page != page:
        return ""
    return blocks[at].text.split("\n")[line].strip()


def _place(block: Block, heading: str, caption: str) -> str:
    parts = [f"p. {block.page}"] if block.page is not None else []
    if heading:
        parts.append(f"{'§ ' if heading[0].isdecimal() else ''}{_short(heading, LONGEST_PLACE)}")
    if label := _LABEL.match(caption):
        parts.append(label.group())
    if not parts and block.line is not None:
        parts.append(f"line {block.line}")
    return ", ".join(parts)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rsplit(' ', 1)[0].rstrip()}…"


def _differing(name: str, taken: set[str]) -> str:
    base, n = name, 2
    while name.casefold() in taken:
        name, n = f"{base} {n}", n + 1
    taken.add(name.casefold())
    return name
