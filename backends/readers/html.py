"""HTML: the main content in reading order, without what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html
from lxml.html import HtmlElement

from backends.errors import UnreadableFile
from backends.readers.decoding import decode
from backends.readers.embedded import grid_warnings, with_grids
from backends.readers.html_frame import main_content
from backends.readers.html_metadata import head_metadata
from backends.readers.html_text import fold
from backends.readers.html_walk import Walk
from retrieval.types import Block, Document

_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]+)|<\?xml[^>]{0,80}?encoding=["']([\w-]+)""", re.I
)


def read(path: Path) -> Iterator[Document]:
    root = parse(page_text(path.read_bytes(), path.name), path.name)
    blocks = content(root, path.name)
    if not blocks:
        raise UnreadableFile(f"{path.name}: no text found between the tags.")
    metadata, warnings = head_metadata(root)
    text, tables = with_grids(blocks)
    warnings += grid_warnings(tables)
    yield Document(_title(root, text) or path.stem, "html", text, tables, warnings=warnings, metadata=metadata)


def page_text(raw: bytes, name: str) -> str:
    """The text of a page, which may state its own encoding. Raises UnreadableFile as `decode` does."""
    found = _CHARSET.search(raw[:4096])
    stated = next((g for g in found.groups() if g), b"").decode("ascii", "ignore") if found else None
    return decode(raw, name, stated)


def parse(text: str, name: str) -> HtmlElement:
    """The root of a page, however broken. Raises UnreadableFile where nothing of it is HTML."""
    try:
        return lxml_html.document_fromstring(
            text.encode(), parser=lxml_html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True)
        )
    except (etree.ParserError, etree.XMLSyntaxError) as error:
        raise UnreadableFile(f"{name}: the HTML cannot be parsed ({error}).") from error


def content(root: HtmlElement, name: str, whole: bool = False) -> list[Block]:
    """The blocks of the main content, or of the whole page, menus and all. Raises UnreadableFile for endless nesting."""
    try:
        blocks = [] if whole else Walk(strict=True).run(main_content(root))
        if not any(b.kind != "heading" for b in blocks):
            blocks = Walk(strict=False).run(root)  # better the frame than nothing
    except RecursionError as error:
        raise UnreadableFile(f"{name}: the tags are nested too deeply to be read.") from error
    return blocks


def _title(root: HtmlElement, blocks: Sequence[Block]) -> str:
    """As the page is shared, but without the site's name beside its heading; else its heading or its window's title."""
    shared = fold(str(root.xpath("string(//meta[@property='og:title']/@content)")))
    first = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    return first if first and first in shared else shared or first or fold(root.findtext(".//title") or "")
