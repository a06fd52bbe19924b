"""HTML: the main content in reading order, without what surrounds it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html
from lxml.html import HtmlElement

from backends.errors import UnreadableFile
from backends.readers.decoding import decode
from backends.readers.html_metadata import head_metadata
from backends.readers.html_tables import is_data_table, table_text
from retrieval.types import Block, Document

_CHARSET = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w-]+)|<\?xml[^>]{0,80}?encoding=["']([\w-]+)""", re.I
)
_DROPPED = {
    "script", "style", "noscript", "template", "svg", "iframe", "object", "nav", "aside", "footer", "button",
    "select", "head", "canvas", "audio", "video", "math",
}  # fmt: skip
_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search"}
_NOISE = re.compile(
    r"(?:^|\s)(?:navbox\S*|mw-editsection|mw-jump-link|toc|vector-(?:dropdown|column|toc|header|menu|page-toolbar|sticky)\S*|sidebar\S*|"
    r"infobox-image|hatnote|mw-portlet\S*|mw-hidden\S*|breadcrumbs?|catlinks|cookie\S*|noprint|"
    r"reflist|metadata|printfooter|skip-link|sr-only|visually-hidden)(?:\s|$)"
)
_BLOCKS = {
    "p", "div", "section", "article", "main", "body", "html", "header", "form", "fieldset", "legend", "label", "figure",
    "figcaption", "blockquote", "address", "details", "summary", "center", "table", "tr", "td", "th", "tbody", "thead",
    "tfoot", "caption", "dl", "hr", "ul", "ol", "menu", "hgroup", "nav", "footer", "aside",
}  # fmt: skip
_INLINE_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def read(path: Path) -> Iterator[Document]:
    root = parse(page_text(path.read_bytes(), path.name), path.name)
    blocks = content(root, path.name)
    if not blocks:
        raise UnreadableFile(f"{path.name}: no text found between the tags.")
    stated = _fold(root.findtext(".//title") or "")
    first = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    metadata, warnings = head_metadata(root)
    yield Document(first or stated or path.stem, "html", tuple(blocks), warnings=warnings, metadata=metadata)


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
        blocks = [] if whole else _Walk(strict=True).run(_main(root))
        if not any(b.kind != "heading" for b in blocks):
            blocks = _Walk(strict=False).run(root)  # better the frame than nothing
    except RecursionError as error:
        raise UnreadableFile(f"{name}: the tags are nested too deeply to be read.") from error
    return blocks


def _main(root: HtmlElement) -> HtmlElement:
    """The element that says it is the main content, if it holds most of the text; else the body."""
    body = root.find("body")
    whole = body if body is not None else root
    length = len(_fold(" ".join(whole.itertext())))
    for query in ("//main", "//*[@role='main']", "//article"):
        found = [e for e in root.xpath(query) if isinstance(e, HtmlElement)]
        if len(found) == 1 and len(_fold(found[0].text_content())) > 0.25 * length:
            return found[0]
    return whole


class _Walk:
    """Goes through elements in order; inline text gathers until a block begins or ends."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict  # leave out navigation and the like
        self.blocks: list[Block] = []
        self.words: list[str] = []
        self.line: int | None = None
        self.depth = -1
        self.item: str | None = None  # the mark of a list item that has no text yet

    def run(self, root: HtmlElement) -> list[Block]:
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
            self._add(_fold(_text(element)), "heading", int(tag[1]), element)
        elif tag == "pre":
            self._flush()
            self._add(element.text_content().strip("\n"), "code", 0, element)
        elif tag == "table" and is_data_table(element):
            self._flush()
            caption = element.find("caption")
            if caption is not None:
                self._add(_fold(_text(caption)), "paragraph", 0, element)
            self._add(table_text(element), "table", 0, element)
        elif tag in ("ul", "ol", "menu"):
            self._list(element, tag)
        elif tag in ("dt", "dd"):
            self._definition(element, tag)
        elif tag in _BLOCKS or tag == "li":
            # blocks that only set words side by side, as forms do, are one paragraph
            together = tag in ("div", "p") and _is_row(element)
            self._flush()
            if together:
                self._say(_text(element), element)
            else:
                self._children(element)
            self._flush()
        else:
            self._children(element)

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
        if tag in _DROPPED and (self.strict or tag not in ("nav", "aside", "footer")):
            return True
        if element.get("hidden") is not None or _INLINE_STYLE.search(element.get("style", "")):
            return True
        if not self.strict:
            return False
        if tag == "header":  # of the page: one within the content holds its title
            return not any(a.tag in ("main", "article", "section") for a in element.iterancestors())
        return element.get("role") in _ROLES or bool(_NOISE.search(element.get("class", "")))

    def _say(self, text: str | None, element: HtmlElement) -> None:
        if text:
            if not self.words or not "".join(self.words).strip():
                self.line = element.sourceline
            self.words.append(" ".join(re.split(r"\s+", text)))

    def _flush(self) -> None:
        lines = (_fold(line) for line in "".join(self.words).split("\n"))
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
        and len(_text(element)) < 200
    )


def _text(element: HtmlElement) -> str:
    """The words of an element, with a blank where a block or break divides them, without a wiki's edit links."""
    parts = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str) and child.tag not in _DROPPED and not _NOISE.search(child.get("class", "")):
            gap = " " if child.tag in _BLOCKS or child.tag == "br" else ""
            parts.extend((gap, _text(child), gap))
        parts.append(child.tail or "")
    return "".join(parts)


def _numeral(number: int, style: str) -> str:
    if style in ("a", "A") and 1 <= number <= 26:
        return chr(ord(style) + number - 1)
    return str(number)


def _fold(text: str) -> str:
    return " ".join(text.split())
