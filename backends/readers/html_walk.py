"""HTML elements into blocks, in reading order."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

from backends.readers.embedded import table_blocks
from backends.readers.html_frame import is_frame
from backends.readers.html_tables import is_data_table, is_form, table_rows
from backends.readers.html_text import BLOCKS, DROPPED, code_of, fold, formula, is_hidden, text_of
from retrieval.types import Block

_FILLED_IN = ("", "text", "number", "date", "email", "tel", "url")


class Walk:
    """Goes through elements in order; inline text gathers until a block begins or ends."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict  # leave out navigation and the like
        self.length = 0  # of the text of all that is walked through
        self.blocks: list[Block] = []
        self.words: list[str] = []
        self.line: int | None = None
        self.depth = -1
        self.item: str | None = None  # the mark of a list item that has no text yet

    def run(self, root: HtmlElement) -> list[Block]:
        self.length = sum(map(len, root.xpath(".//text()[not(ancestor::script or ancestor::style)]")))
        self._children(root)
        self._flush()
        return self.blocks

    def _children(self, element: HtmlElement) -> None:
        self._say(element.text, element)
        for child in element:
            if isinstance(child.tag, str):
                self._visit(child)
            self._say(child.tail, element)

    def _visit(self, element: HtmlElement) -> None:
        tag = str(element.tag).lower()
        if self._skipped(element, tag):
            return
        if tag == "br":
            self.words.append("\n")
        elif re.fullmatch(r"h[1-6]", tag):
            self._flush()
            self._add(fold(text_of(element)), "heading", int(tag[1]), element)
        elif tag == "pre":
            self._flush()
            self._add(code_of(element).strip("\n"), "code", 0, element)
        elif tag == "math":
            self._say(formula(element), element)
        elif tag == "input":
            if element.get("type", "").lower() in _FILLED_IN:
                self._say(f" {element.get('value', '')} ", element)
        elif tag == "table" and is_data_table(element):
            self._table(element)
        elif tag in ("ul", "ol", "menu"):
            self._list(element, tag)
        elif tag in ("dt", "dd"):
            self._definition(element, tag)
        elif tag in BLOCKS or tag == "li":
            # blocks that only set words side by side, as forms do, are one paragraph
            together = tag in ("div", "p") and _is_row(element)
            self._flush()
            if together:
                self._say(text_of(element), element)
            else:
                self._children(element)
            self._flush()
        else:
            self._children(element)

    def _table(self, element: HtmlElement) -> None:
        self._flush()
        found = element.find("caption")
        caption = fold(text_of(found)) if found is not None else ""
        rows, headers, notes = table_rows(element)
        line = element.sourceline
        if not is_form(element):
            self.blocks.extend(table_blocks(rows, headers, caption, line=line, notes=notes))
            return
        self._add(caption, "paragraph", 0, element)
        self._add("\n".join(" | ".join(row) for row in rows if any(row)), "table", 0, element)

    def _list(self, element: HtmlElement, tag: str) -> None:
        self._flush()
        self.depth += 1
        number = int(start) if (start := element.get("start", "")).isdecimal() else 1
        for child in element:
            if child.tag != "li":
                if isinstance(child.tag, str):
                    self._visit(child)
                continue
            if self._skipped(child, "li"):
                continue
            value = child.get("value", "")
            number = int(value) if value.isdecimal() else number
            self.item = f"{_numeral(number, element.get('type', '1'))}. " if tag == "ol" else ""
            self._children(child)
            self._flush()
            self.item = None
            number += 1
        self.depth -= 1

    def _definition(self, element: HtmlElement, tag: str) -> None:
        if tag == "dt":
            self._flush()
            self._children(element)
            self.words.append(": ")
            return
        if self.words and self.words[-1] != ": ":
            self._flush()
        self._children(element)
        self._flush()

    def _skipped(self, element: HtmlElement, tag: str) -> bool:
        return tag in DROPPED or is_hidden(element) or (self.strict and is_frame(element, tag, self.length))

    def _say(self, text: str | None, element: HtmlElement) -> None:
        if text:
            if not self.words or not "".join(self.words).strip():
                self.line = element.sourceline
            self.words.append(" ".join(re.split(r"\s+", text)))

    def _flush(self) -> None:
        lines = (fold(line) for line in "".join(self.words).split("\n"))
        text = "\n".join(line for line in lines if line).strip()
        self.words = []
        if not text:
            return
        if self.item is not None:
            self.blocks.append(Block(self.item + text, "list_item", self.depth, line=self.line))
            self.item = None
        else:
            self.blocks.append(Block(text, line=self.line))

    def _add(self, text: str, kind: str, level: int, element: HtmlElement) -> None:
        if text.strip():
            self.blocks.append(Block(text, kind, level, line=element.sourceline))  # type: ignore[arg-type]


def _is_row(element: HtmlElement) -> bool:
    """A label beside its value: children that hold only words, in a block that holds no other block."""
    children = [c for c in element if isinstance(c.tag, str)]
    return (
        len(children) in (2, 3)
        and all(c.tag in ("div", "span", "label", "b", "strong") and not len(c) for c in children)
        and any(c.tag == "div" for c in children)
        and len(text_of(element)) < 200
    )


def _numeral(number: int, style: str) -> str:
    if style in ("a", "A") and 1 <= number <= 26:
        return chr(ord(style) + number - 1)
    return str(number)
