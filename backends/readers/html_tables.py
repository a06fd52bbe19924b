"""HTML tables as lines of cells."""

from __future__ import annotations

from collections.abc import Iterator

from lxml.html import HtmlElement

_MAX_SPAN = 100
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


def table_text(table: HtmlElement) -> str:
    """One line a row, cells joined by " | ". A cell that spans rows holds for each; one that spans columns is said once."""
    lines: list[str] = []
    below: dict[int, tuple[str, int]] = {}  # column: text and further rows of a cell that spans rows
    for row in _rows(table):
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
            text, column = _words(cell), len(line)
            if (down := _span(cell, "rowspan")) > 1:
                below[column] = (text, down - 1)
            line.extend([text, *[""] * (_span(cell, "colspan") - 1)])
        if any(line):
            lines.append(" | ".join(line))
    return "\n".join(lines)


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _cells(row: HtmlElement) -> Iterator[HtmlElement]:
    return (cell for cell in row if cell.tag in ("td", "th"))


def _words(cell: HtmlElement) -> str:
    """The words of a cell on one line; items of a list in it are set apart."""
    items = [" ".join(li.text_content().split()) for li in cell.iter("li")]
    return "; ".join(part for part in (" ".join("".join(_texts(cell)).split()), *items) if part)


def _texts(cell: HtmlElement) -> Iterator[str]:
    """Text outside of lists, with a blank where a block or break divides it."""
    yield cell.text or ""
    for child in cell:
        if isinstance(child.tag, str) and child.tag not in ("ul", "ol", "script", "style"):
            yield "" if child.tag in _INLINE else " "
            yield from _texts(child)
            yield "" if child.tag in _INLINE else " "
        yield child.tail or ""


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()
    return min(_MAX_SPAN, max(1, int(value))) if value.isdecimal() else 1
