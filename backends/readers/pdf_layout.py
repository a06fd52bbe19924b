"""The lines of PDF pages into blocks: headings stand out, paragraphs become whole."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from backends.readers.embedded import table_blocks
from backends.readers.pdf_lines import Line
from backends.readers.pdf_tables import joined_tables
from retrieval.types import Block, BlockKind

LARGER = 1.15  # times the body's size: then a short line is a heading
LONGEST_HEADING = 100  # characters
MOST_HEADING_LINES = 3
APART = 1.4  # times the usual distance of lines: then a paragraph ends
_NUMBERED = re.compile(r"((?:§+\s?)?(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*)(\.?)\s+(?=[^\W\d_])(.{3,})")
_ITEM = re.compile(r"[•●▪◦‣–*-]\s|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)]\s|§\s?\d|\d{1,2}(?:\.\d{1,2}){1,3}\.?\s")
_BULLET = re.compile(r"^[•●▪◦‣]\s*")
_ENDED = re.compile(r"[.!?:;。！？][\"”»’)\]]*$")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uff00-\uffef\u3000-\u303f]")
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff]")


@dataclass(frozen=True)
class _Look:
    """How the document is set: the size of its body, and the sizes above it, largest first."""

    body: float
    sizes: tuple[float, ...]


def blocks_of(pages: Sequence[Sequence[Line]]) -> Iterator[Block]:
    """The blocks of all pages in reading order; a paragraph that a page break divides stays with its first page."""
    look = _look(pages)
    words = set(re.findall(r"\w+(?:-\w+)+", " ".join(line.text for page in pages for line in page)))
    last: Block | None = None
    for number, lines in enumerate(joined_tables(pages), 1):
        for first, block in enumerate(_page_blocks(lines, look, words)):
            block = replace(block, page=number)
            if first == 0 and last and _runs_on(last, block):
                last = replace(last, text=_join(last.text, block.text, False, words))
                continue
            if last:
                yield last
            last = block
    if last:
        yield last


def _look(pages: Sequence[Sequence[Line]]) -> _Look:
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page:
            weights[line.size] += len(line.text)
    body = weights.most_common(1)[0][0] if weights else 10.0
    lines = [line for page in pages for line in page]
    by_size = Counter(line.size for line in lines)
    usual = {size for size, count in by_size.items() if count > max(4, len(lines) / 4)}  # rows of a form, not headings
    sizes = {line.size for line in lines if _is_larger(line, body)} - usual
    return _Look(body, tuple(sorted(sizes, reverse=True)))


def _is_larger(line: Line, body: float) -> bool:
    letters = sum(c.isalpha() for c in line.text)
    return line.size >= LARGER * body and len(line.text) <= LONGEST_HEADING and letters >= max(2, len(line.text) / 2.5)


def _page_blocks(lines: Sequence[Line], look: _Look, words: set[str]) -> Iterator[Block]:
    pitch = _pitch(lines)
    group: list[Line] = []
    level = 0  # of the heading that the group is, 0 for a paragraph
    for at, line in enumerate(lines):
        if line.table:
            if group:
                yield _block(group, level, lines, words)
                group = []
            yield from table_blocks(
                line.table.rows, line.table.headers, notes=line.table.notes, continues=line.table.continues
            )
            continue
        found = _heading_level(lines, at, look, pitch)
        if group:
            same = found == level and line.size == group[-1].size if level else False
            goes_on = (
                same and _near(group[-1], line, pitch * line.size / look.body) and not _NUMBERED.match(line.text)
                if level or found
                else _continues(group[-1], line, pitch, _right_edge(lines, group[-1]))
            )
            if not goes_on:
                yield _block(group, level, lines, words)
                group = []
        if not group:
            level = found
        group.append(line)
    if group:
        yield _block(group, level, lines, words)


def _heading_level(lines: Sequence[Line], at: int, look: _Look, pitch: float) -> int:
    line = lines[at]
    if line.size in look.sizes and _is_larger(line, look.body):
        return min(6, look.sizes.index(line.size) + 1)
    match = _NUMBERED.fullmatch(line.text)
    if not match or len(line.text) > LONGEST_HEADING or _ENDED.search(line.text) or line.size < 0.95 * look.body:
        return 0
    number, dot, words = match.groups()
    if re.search(r"[$€£|]|\d[.,]\d", words) or not (words[0].isupper() or _CJK.match(words)):
        return 0
    if not (line.bold or _stands_alone(lines, at, pitch)) or (dot and "." not in number and not line.bold):
        return 0
    if not line.bold and _runs_over(lines, at):
        return 0  # a clause whose sentence goes on in the next line
    if number.isalpha() and not line.bold:
        return 0  # "A Manual" may be a sentence's beginning
    return min(6, len(look.sizes) + max(1, number.count(".")))


def _runs_over(lines: Sequence[Line], at: int) -> bool:
    """Does a line fill its column, and the next one take its sentence up?"""
    line = lines[at]
    following = lines[at + 1].text if at + 1 < len(lines) else ""
    return following[:1].islower() or (_is_full(line, _right_edge(lines, line)) and bool(following))


def _stands_alone(lines: Sequence[Line], at: int, pitch: float) -> bool:
    """More room above than the lines of a paragraph have, and than below: it belongs to what follows."""
    line = lines[at]
    above = lines[at - 1].bottom - line.bottom if at else float("inf")
    if at + 1 == len(lines):
        return False
    below = line.bottom - lines[at + 1].bottom
    above = float("inf") if above <= 0 else above
    return above > APART * pitch and 0 < below < 0.95 * above


def _pitch(lines: Sequence[Line]) -> float:
    """The usual distance of two lines of a paragraph on this page."""
    gaps = [a.bottom - b.bottom for a, b in pairwise(lines) if abs(a.size - b.size) < 0.5]
    near = [g for a, g in zip(lines, gaps, strict=False) if 0.8 * a.size < g < 2 * a.size]
    return statistics.median_low(near) if near else 1.2 * (lines[0].size if lines else 10)


def _near(before: Line, line: Line, pitch: float) -> bool:
    return -1 < before.bottom - line.bottom <= APART * pitch


def _right_edge(lines: Sequence[Line], of: Line) -> float:
    """Where the column of a line ends."""
    return max(line.right for line in lines if abs(line.left - of.left) < 60)


def _is_full(line: Line, edge: float) -> bool:
    return (not line.spaced and line.right >= edge - 0.15 * (edge - line.left)) or bool(
        _RIGHT_TO_LEFT.search(line.text)
    )


def _continues(before: Line, line: Line, pitch: float, edge: float) -> bool:
    """Whether a line goes on with the paragraph of the one before."""
    if before.hyphenated and not line.bottom > before.top + 400:
        return True
    if abs(before.size - line.size) > 0.08 * before.size and min(len(before.text), len(line.text)) > 2:
        return False
    if before.bottom - line.bottom < -1:  # further up: the next column
        return not _ENDED.search(before.text) and line.text[:1].islower()
    if before.bold != line.bold and not _is_full(before, edge):
        return False
    ended = bool(_ENDED.search(before.text))
    if not _near(before, line, pitch):
        return False
    if _ITEM.match(line.text) and (ended or not _is_full(before, edge) or _BULLET.match(line.text)):
        return False  # else a number that the line break happened to put in front
    short = before.right < edge - 0.25 * (edge - before.left) and not _RIGHT_TO_LEFT.search(before.text)
    indented = 6 < line.left - before.left < 60
    return not (ended and (short or indented))


def _block(group: Sequence[Line], level: int, lines: Sequence[Line], words: set[str]) -> Block:
    text = group[0].text
    if level and (len(group) > MOST_HEADING_LINES or sum(len(line.text) for line in group) > 1.5 * LONGEST_HEADING):
        level = 0
    widest = max(line.right for line in group)
    prose = len(group) > 2 and sum(line.right for line in group[:-1]) > 0.93 * widest * (len(group) - 1)
    for before, line in pairwise(group):
        if (
            level
            or before.hyphenated
            or (not line.spaced and _is_full(before, widest if prose else _right_edge(lines, before)))
        ):
            text = _join(text, line.text, before.hyphenated, words)
        else:
            text += "\n" + line.text  # it ended early on purpose: rows of a table, lines of an address
    if level:
        return Block(text, "heading", level)
    kind: BlockKind = "list_item" if _ITEM.match(text) else "paragraph"
    return Block(_BULLET.sub("", text), kind)


def _join(text: str, more: str, hyphenated: bool, words: set[str]) -> str:
    """Two lines of a paragraph. A hyphen stays where the word is written with it elsewhere, or a name follows."""
    if hyphenated:
        start, end = re.search(r"[\w-]*$", text), re.match(r"[\w-]*", more)
        compound = f"{start.group() if start else ''}-{end.group() if end else ''}"
        return text + ("-" if compound in words or not more[:1].islower() else "") + more
    if _CJK.search(text[-1:]) and _CJK.match(more):
        return text + more
    return f"{text} {more}"


def _runs_on(last: Block, block: Block) -> bool:
    return (
        last.kind in ("paragraph", "list_item")
        and block.kind == "paragraph"
        and not _ENDED.search(last.text)
        and block.text[:1].islower()
        and "\n" not in last.text[-80:]
    )
