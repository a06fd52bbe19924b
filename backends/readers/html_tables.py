"""HTML tables as lines of cells."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.html import HtmlElement

from backends.readers.html_text import formula, is_hidden

_MAX_SPAN = 100
_UNREAD = {"ul", "ol", "script", "style", "template", "svg"}
_INLINE = {"a", "abbr", "b", "cite", "code", "em", "font", "i", "kbd", "mark", "q", "s", "small", "span", "strong", "sub",
           "sup", "time", "u", "var"}  # fmt: skip


def is_data_table(table: HtmlElement) -> bool:
    """Tables that only lay out a page hold other tables or headings, or are one column or one row wide."""
    if table.get("role") in ("presentation", "none"):
        return False
    if table.xpath("boolean(.//h1|.//h2|.//h3|.//pre)"):
        return False
    if table.xpath("boolean(.//table)") and not table.xpath("boolean(.//th)"):
        return False
    rows = list(_rows(table))
    return len(rows) > 1 and max(len(list(_cells(r))) for r in rows) > 1


def table_rows(table: HtmlElement) -> tuple[list[list[str]], int, tuple[str, ...]]:
    """The rows, how many of them are headers, and notes.

    A cell that spans rows holds for each; one that spans columns is said once, or above each if it is a header.
    A table with its headers in the first column is turned, so that each heads its column.
    """
    found = list(_rows(table))
    headers = next((n for n, row in enumerate(found) if not _is_header(row)), len(found))
    headers = headers if headers < len(found) else min(1, headers)
    rows = _spread(found, headers)
    if headers == 0 and len(rows) > 1 and max(map(len, rows)) > 2 and all(_is_headed(row) for row in found):
        width = max(map(len, rows))
        turned = [[row[n] if n < len(row) else "" for row in rows] for n in range(width)]
        return turned, 1, ("its headers stood in the first column; it was turned",)
    return rows, headers, ()


def is_form(table: HtmlElement) -> bool:
    """Two columns, the first of them a header in every row: names and values, not records."""
    rows = list(_rows(table))
    return max(len(list(_cells(row))) for row in rows) == 2 and all(
        _is_headed(row) or len(list(_cells(row))) == 1 for row in rows
    )


def _spread(found: list[HtmlElement], headers: int) -> list[list[str]]:
    rows: list[list[str]] = []
    below: dict[int, tuple[str, int]] = {}  # column: text and further rows of a cell that spans rows
    for n, row in enumerate(found):
        line: list[str] = []
        cells = _cells(row)
        while True:
            while len(line) in below:
                column = len(line)
                text, left = below.pop(column)
                line.append(text)
                if left > 1:
                    below[column] = (text, left - 1)
            cell = next(cells, None)
            if cell is None:
                break
            text, column, width = _words(cell), len(line), _span(cell, "colspan")
            said = [text] * width if n < headers else [text, *[""] * (width - 1)]
            if (down := _span(cell, "rowspan")) > 1:
                below.update({column + at: (part, down - 1) for at, part in enumerate(said)})
            line.extend(said)
        rows.append(line)
    return rows


def _is_header(row: HtmlElement) -> bool:
    cells = list(_cells(row))
    parent = row.getparent()
    within = parent is not None and parent.tag == "thead"
    return bool(cells) and (within or all(c.tag == "th" for c in cells))


def _is_headed(row: HtmlElement) -> bool:
    """A header in front of values."""
    cells = list(_cells(row))
    return len(cells) > 1 and cells[0].tag == "th" and all(c.tag == "td" for c in cells[1:])


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    """The rows as they are shown: the foot comes last, wherever it is written."""
    parts = [part for part in table if part.tag in ("tr", "thead", "tbody", "tfoot") and not is_hidden(part)]
    for part in sorted(parts, key=lambda part: part.tag == "tfoot"):
        yield from (row for row in ([part] if part.tag == "tr" else part) if row.tag == "tr" and not is_hidden(row))


def _cells(row: HtmlElement) -> Iterator[HtmlElement]:
    return (cell for cell in row if cell.tag in ("td", "th") and not is_hidden(cell))


def _words(cell: HtmlElement) -> str:
    """The words of a cell on one line; items of a list in it are set apart."""
    items = [" ".join("".join(_texts(li)).split()) for li in cell.iter("li") if not is_hidden(li)]
    return "; ".join(part for part in (" ".join("".join(_texts(cell)).split()), *items) if part)


def _texts(cell: HtmlElement) -> Iterator[str]:
    """Text outside of lists, with a blank where a block or break divides it."""
    yield cell.text or ""
    for child in cell:
        if child.tag == "math":
            yield formula(child)
        elif isinstance(child.tag, str) and child.tag not in _UNREAD and not is_hidden(child):
            yield "" if child.tag in _INLINE else " "
            yield from _texts(child)
            yield "" if child.tag in _INLINE else " "
        yield child.tail or ""


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(_MAX_SPAN, max(1, int(value))) if value.isdecimal() else 1
