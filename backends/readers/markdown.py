"""Markdown, by its tokens: headings, paragraphs, list items, code and tables with their lines."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from backends.readers.decoding import read_text
from backends.readers.embedded import grid_warnings, table_blocks, with_grids
from backends.readers.front_matter import front_matter
from backends.readers.html import content, parse
from retrieval.types import Block, Document

_CLAUSE = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})\)\s|§\s?\d|\d{1,2}(?:\.\d{1,2})+\.?\s")
_PIPE = re.compile(r"(?<!\\)\|")
_TAG = re.compile(r"<!--.*?-->|<(script|style)\b.*?</\1>|<[^>]*>", re.S | re.I)


def read(path: Path) -> Iterator[Document]:
    text = read_text(path)
    front = front_matter(text)
    offset = text.count("\n", 0, front.end)
    text = text[front.end :]
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    # it is text, too: who wrote a page, and when, is asked and cited like what the page says
    said = (Block(front.text.strip(), line=2),) if front.text.strip() else ()
    blocks, tables = with_grids((*said, *_blocks(tokens, offset, text.split("\n"), path.name)))
    first = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    title = front.metadata.get("title") or first or path.stem
    warnings = (*((front.broken,) if front.broken else ()), *grid_warnings(tables))
    yield Document(title, "markdown", blocks, tables, warnings=warnings, metadata=front.metadata)


def _blocks(tokens: Sequence[Token], offset: int, source: Sequence[str], name: str) -> Iterator[Block]:
    depth, marker = -1, ""
    opened = ""  # the heading or item that the next inline text belongs to
    rows: list[list[str]] = []
    line = table_line = 0
    for token in tokens:
        if token.map and token.type != "inline":
            line = token.map[0] + 1 + offset
        match token.type:
            case "ordered_list_open" | "bullet_list_open":
                depth += 1
            case "ordered_list_close" | "bullet_list_close":
                depth -= 1
            case "list_item_open":
                opened, marker = "item", f"{token.info}{token.markup} " if token.info else ""
            case "heading_open":
                opened = token.tag
            case "table_open":
                rows, table_line = [], line
            case "tr_open":
                rows.append([])
            case "tr_close" if rows[1:]:
                rows[-1].extend(_surplus(source[line - 1 - offset], len(rows[-1])))
            case "th_open" | "td_open":
                opened = "cell"
            case "table_close":
                yield from table_blocks(rows, headers=1, line=table_line)
            case "fence" | "code_block":
                yield Block(token.content.rstrip("\n"), "code", line=line)
            case "html_block" if "<table" in token.content.lower():
                inner = content(parse(token.content, name), name, whole=True)
                yield from (replace(block, line=line + (block.line or 1) - 1) for block in inner)
            case "html_block":
                if text := _fold(html.unescape(_TAG.sub(" ", token.content))):
                    yield Block(text, line=line)
            case "inline":
                text = _plain(token.children or [])
                if opened == "cell":
                    rows[-1].append(_fold(text))
                elif text and opened.startswith("h"):
                    yield Block(_fold(text), "heading", int(opened[1]), line=line)
                elif text and opened == "item":
                    yield Block(marker + text, "list_item", depth, line=line)
                elif text:
                    yield Block(text, line=line)
                opened = ""


def _surplus(row: str, taken: int) -> list[str]:
    """Cells beyond the header's, which the Markdown parser leaves out."""
    return [cell.strip() for cell in _PIPE.split(row.strip().removeprefix("|").removesuffix("|"))[taken:]]


def _plain(children: Sequence[Token]) -> str:
    """The words of inline tokens, without their marks."""
    parts: list[str] = []
    for child, following in zip_longest(children, children[1:]):
        match child.type:
            case "softbreak":
                clause = following is not None and _CLAUSE.match(following.content)
                parts.append("\n" if clause else " ")  # clauses on lines of their own stay apart
            case "hardbreak":
                parts.append("\n")
            case "html_inline":
                parts.append("\n" if child.content.lower().startswith("<br") else "")
            case _:
                parts.append(child.content)  # entities are decoded already
    return "\n".join(_fold(line) for line in "".join(parts).split("\n")).strip()


def _fold(text: str) -> str:
    return " ".join(text.split())
