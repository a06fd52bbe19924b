"""The words of a DOCX paragraph as they stand once every change is accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

from backends.readers.decoding import clean
from backends.readers.docx_math import formula

P, TBL, TC, BOX = qn("w:p"), qn("w:tbl"), qn("w:tc"), qn("w:txbxContent")
NOTES = (qn("w:footnoteReference"), qn("w:endnoteReference"))
_INSIDE = {qn(f"w:{name}") for name in ("sdt", "sdtContent", "ins", "moveTo", "customXml", "smartTag")}
UNREAD = {
    qn("w:del"),
    qn("w:moveFrom"),
    qn("w:instrText"),
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback",
}
_SIGNS = {qn("w:tab"): " ", qn("w:ptab"): " ", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}


def children(parent: Any, *tags: str) -> Iterator[Any]:
    """Children of these tags, also those inside content controls and insertions."""
    for child in parent:
        if child.tag in tags:
            yield child
        elif child.tag in _INSIDE:
            yield from children(child, *tags)


def text_of(p: Any) -> str:
    """The words of a paragraph, a line for each of its lines: insertions and formulas in, deletions and text boxes out."""
    parts: list[str] = []
    _gather(p, parts)
    lines = (" ".join(line.split()) for line in clean("".join(parts)).split("\n"))
    return "\n".join(line for line in lines if line)


def is_read(element: Any) -> bool:
    """Neither deleted nor a second version, for older programs, of what stands beside it."""
    return not any(above.tag in UNREAD for above in element.iterancestors())


def is_deleted(element: Any, properties: str) -> bool:
    """Is a paragraph's mark or a table's row taken out by a tracked change?"""
    found = element.find(properties)
    return found is not None and any(found.find(qn(f"w:{name}")) is not None for name in ("del", "moveFrom"))


def is_on(element: Any) -> bool:
    """Is a property such as w:vanish there, and not switched off?"""
    return element is not None and element.get(qn("w:val"), "1") not in ("0", "false", "off")


def _gather(element: Any, parts: list[str]) -> None:
    for child in element:
        if child.tag == qn("w:t"):
            parts.append(child.text or "")
        elif child.tag == qn("m:oMath"):
            parts.append(formula(child))
        elif child.tag in _SIGNS:
            parts.append(_SIGNS[child.tag])
        elif child.tag == qn("w:r") and is_on(child.find(f"{qn('w:rPr')}/{qn('w:vanish')}")):
            continue
        elif isinstance(child.tag, str) and child.tag not in UNREAD and child.tag not in (BOX, TBL):
            _gather(child, parts)
