"""EPUB: the chapters in the order of the spine, each under its heading."""

from __future__ import annotations

import html
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lxml import etree
from lxml import html as lxml_html
from lxml.html import HtmlElement

from backends.errors import UnreadableFile
from backends.readers.archives import check_archive
from backends.readers.epub_package import CONTAINER, read_package
from backends.readers.html import content, page_text, parse
from retrieval.types import Block, Document

_TYPE = "{http://www.idpf.org/2007/ops}type"
_DECLARATION = re.compile(r"\A\s*<\?xml.*?\?>", re.S)
_NAMED = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)([A-Za-z]\w*);")


def read(path: Path) -> Iterator[Document]:
    check_archive(path, "EPUB", CONTAINER)
    warnings: list[str] = []
    blocks: list[Block] = []
    try:
        with zipfile.ZipFile(path) as archive:
            package = read_package(archive, path.name)
            for chapter in package.chapters:
                try:
                    blocks.extend(_chapter(archive.read(chapter), path.name, package.labels.get(chapter, "")))
                except UnreadableFile as error:
                    reason = str(error).removeprefix(f"{path.name}: ")
                    warnings.append(f"the chapter {chapter} could not be read: {reason}")
    except (etree.XMLSyntaxError, zipfile.BadZipFile, KeyError) as error:
        raise UnreadableFile(f"{path.name}: the EPUB file is corrupt; get or export it again.") from error
    if not blocks:
        why = f" ({warnings[0]})" if warnings else " (only pictures?)"
        raise UnreadableFile(f"{path.name}: no text found{why}.")
    first = next((b.text for b in blocks if b.kind == "heading"), "")
    yield Document(
        package.title or first or path.stem,
        "epub",
        tuple(blocks),
        units=len(package.chapters),
        warnings=(*package.warnings, *warnings),
        metadata=package.metadata,
    )


def _chapter(raw: bytes, name: str, label: str) -> list[Block]:
    """The blocks of a chapter. Where it does not begin with a heading, the table of contents has one for it."""
    if not raw.strip():
        return []
    root = _parsed(page_text(raw, name), name)
    for contents in root.xpath("//nav"):
        contents.drop_tree()
    for link in root.iter("a"):
        if "noteref" in link.get(_TYPE, link.get("epub:type", "")).split():
            _bracketed(link)
    blocks = [replace(block, line=None) for block in content(root, name, whole=True)]  # lines of a part say nothing
    if label and blocks and blocks[0].kind != "heading":
        said = label.casefold()
        blocks = [
            Block(label, "heading", 1),
            *(b for b in blocks if b.kind != "heading" or b.text.casefold() != said),
        ]
    return blocks


def _parsed(text: str, name: str) -> HtmlElement:
    """As XML, since a parser for HTML takes `<title/>` for the beginning of an endless title; as HTML where it is no XML."""
    if "<!ENTITY" not in text:
        named = _NAMED.sub(lambda match: html.escape(html.unescape(match.group())), text)
        parser = lxml_html.XHTMLParser(resolve_entities=False, no_network=True, remove_comments=True)
        try:
            root = lxml_html.document_fromstring(
                _DECLARATION.sub("", named).encode(), parser=parser, ensure_head_body=False
            )
            lxml_html.xhtml_to_html(root)
            return root
        except (etree.XMLSyntaxError, etree.ParserError):
            pass
    return parse(text, name)


def _bracketed(link: HtmlElement) -> None:
    """The mark of a note is told from the word before it."""
    mark = "".join(link.itertext()).strip().strip("[]()")
    for child in list(link):
        link.remove(child)
    link.text = f"[{mark}]"
