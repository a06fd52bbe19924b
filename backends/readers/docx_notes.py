"""What a DOCX file keeps beside its body: footnotes, endnotes, headers, footers, comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from docx.oxml import parse_xml
from docx.oxml.ns import qn

from backends.readers.docx_text import NOTES, P, is_read, text_of
from retrieval.types import Block

_KINDS = {NOTES[0]: ("footnotes", "Footnote"), NOTES[1]: ("endnotes", "Endnote")}
_PAGE_WORDS = re.compile(
    r"[\W\d_]*(?:(?:page|seite|blatt|página|pagina|sida|side|strona|of|von|de|di|av|af|z|p)\b[\W\d_]*)*", re.I
)


class Notes:
    """Footnotes and endnotes, numbered in the order in which the text refers to them."""

    def __init__(self, file: Any) -> None:
        self._texts = {kind: dict(_notes(file, part)) for kind, (part, _) in _KINDS.items()}
        self._counts = dict.fromkeys(_KINDS, 0)

    def of(self, element: Any) -> Iterator[Block]:
        """The notes that an element refers to, each a paragraph."""
        for reference in element.iter(*NOTES):
            text = self._texts[reference.tag].get(reference.get(qn("w:id")))
            if text and is_read(reference):
                self._counts[reference.tag] += 1
                yield Block(f"{_KINDS[reference.tag][1]} {self._counts[reference.tag]}: {text}")


def headers_and_footers(file: Any) -> tuple[list[str], list[str]]:
    """The paragraphs of all headers and of all footers, each once, without those that only count pages."""
    found: dict[str, dict[str, None]] = {"header": {}, "footer": {}}
    for rel in file.part.rels.values():
        kind = rel.reltype.rsplit("/", 1)[-1]
        if kind in found and not rel.is_external:
            for p in parse_xml(rel.target_part.blob).iter(P):
                text = text_of(p)
                if is_read(p) and not _PAGE_WORDS.fullmatch(text):
                    found[kind][text] = None
    return list(found["header"]), list(found["footer"])


def comment_count(file: Any) -> int:
    return sum(1 for part in _parts(file, "comments") for _ in part.iter(qn("w:comment")))


def _notes(file: Any, part: str) -> Iterator[tuple[str, str]]:
    for root in _parts(file, part):
        for note in root:
            if note.get(qn("w:type")) in (None, "normal"):  # the others are the lines that set them apart
                text = " ".join(text_of(p) for p in note.iter(P) if is_read(p))
                yield note.get(qn("w:id")), text.strip()


def _parts(file: Any, kind: str) -> Iterator[Any]:
    for rel in file.part.rels.values():
        if rel.reltype.endswith(f"/{kind}") and not rel.is_external:
            yield parse_xml(rel.target_part.blob)
