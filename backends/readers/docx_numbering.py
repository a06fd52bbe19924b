"""The numbers of list items and clauses in DOCX, which Word computes and does not store."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from docx.oxml.ns import qn

from backends.readers.numerals import numeral

_BULLETS = ("bullet", "none")


@dataclass(frozen=True)
class Mark:
    """The mark of a list item ("" for a bullet), and its depth from 0."""

    text: str
    depth: int


@dataclass(frozen=True)
class _Level:
    form: str
    text: str
    start: int


class Numbering:
    """Counts along while the paragraphs are asked for in order."""

    def __init__(self, file: Any) -> None:
        self._levels: dict[str, dict[int, _Level]] = {}
        self._list: dict[str, str] = {}  # numId: the abstract list whose counters it shares
        self._counts: dict[str, dict[int, int]] = {}
        try:
            root = file.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return  # python-docx says so where the file has no numbering
        for abstract in root.iter(qn("w:abstractNum")):
            levels = {int(lvl.get(qn("w:ilvl"), "0")): _level(lvl) for lvl in abstract.iter(qn("w:lvl"))}
            self._levels[abstract.get(qn("w:abstractNumId"))] = levels
        for num in root.findall(qn("w:num")):
            self._define(num)

    def _define(self, num: Any) -> None:
        number, abstract = num.get(qn("w:numId")), value(num.find(qn("w:abstractNumId")))
        starts = {
            int(o.get(qn("w:ilvl"), "0")): int(value(o.find(qn("w:startOverride"))))
            for o in num.findall(qn("w:lvlOverride"))
            if o.find(qn("w:startOverride")) is not None
        }
        if starts:  # a list of its own, that begins anew
            own = f"{abstract}/{number}"
            levels = self._levels.get(abstract, {})
            self._levels[own] = {n: _Level(v.form, v.text, starts.get(n, v.start)) for n, v in levels.items()}
            abstract = own
        self._list[number] = abstract

    def mark(self, p: Any, style: Any) -> Mark | None:
        """The paragraph's mark; None where it is no list item. Counts it."""
        number, depth = _reference(p.find(qn("w:pPr")))
        while number is None and style is not None:
            number, depth = _reference(style.element.find(qn("w:pPr")))
            style = getattr(style, "base_style", None)
        if number is None or number == "0":
            return None
        depth = depth or 0
        name = self._list.get(number, "")
        levels = self._levels.get(name, {})
        counts = self._counts.setdefault(name, {})
        for deeper in [d for d in counts if d > depth]:
            del counts[deeper]
        level = levels.get(depth, _Level("bullet", "", 1))
        counts[depth] = counts.get(depth, level.start - 1) + 1
        if level.form in _BULLETS:
            return Mark("", depth)

        def shown(match: re.Match[str]) -> str:
            at = int(match.group(1)) - 1
            of = levels.get(at, _Level("decimal", "", 1))
            return numeral(counts.get(at, of.start), of.form)

        return Mark(re.sub(r"%(\d)", shown, level.text).strip(), depth)


def value(element: Any) -> str:
    """The w:val of an element, "" where there is none."""
    return (element.get(qn("w:val")) or "") if element is not None else ""


def _reference(properties: Any) -> tuple[str | None, int | None]:
    found = properties.find(qn("w:numPr")) if properties is not None else None
    if found is None:
        return None, None
    number, level = found.find(qn("w:numId")), value(found.find(qn("w:ilvl")))
    return (value(number) or None) if number is not None else None, int(level) if level.isdecimal() else None


def _level(lvl: Any) -> _Level:
    start = value(lvl.find(qn("w:start")))
    return _Level(
        value(lvl.find(qn("w:numFmt"))) or "decimal",
        value(lvl.find(qn("w:lvlText"))),
        int(start) if start.isdecimal() else 1,
    )
