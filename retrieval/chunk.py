"""Documents into chunks: passages of about one size that keep what belongs together, and know where they stand.

A chunk never crosses a heading or a page. Clauses and list items stay whole with their markers, a line that
introduces a list stays with it, and each chunk of a table repeats the table's header.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from retrieval.sentences import sentences
from retrieval.types import Block, BlockKind, Chunk, Document

SIZE = 120  # words
WHOLE = 1.5  # times the size: up to here a paragraph or item is not divided
WHOLE_CODE = 2.0
WHOLE_BEIR = 300  # words: passages of a benchmark are judged whole
REMNANT = 0.25  # times the size: a shorter last chunk joins the one before
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_MARKER_ONLY = re.compile(
    r"[(\[]?(?:§\s?)?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,4})(?:\.\d{1,3})*[.)\]]{0,2}(?:\([a-z0-9]{1,3}\))*"
)
_LONGEST_PLACE = 80  # characters of a heading


@dataclass(frozen=True)
class _Piece:
    """Text that is not divided any further. `rows` are the first and last row of a table that it holds."""

    text: str
    kind: BlockKind
    words: float
    page: int | None = None
    line: int | None = None
    spot: str = ""
    rows: tuple[int, int] | None = None


def chunk(document: Document, size: int = SIZE) -> list[Chunk]:
    """The chunks of a document in reading order; `size` is in words, two CJK characters counting as one."""
    if document.kind == "beir":
        text = "\n".join(block.text for block in document.blocks)
        if text and count_words(text) <= WHOLE_BEIR:
            return [Chunk(text)]
    out: list[Chunk] = []
    lonely: list[Block] = []  # headings that neither a text nor a deeper heading follows
    sections = list(_sections(document.blocks))
    for n, (path, blocks) in enumerate(sections):
        following = sections[n + 1][0] if n + 1 < len(sections) else ()
        if blocks:
            out.extend(_lone_headings(document, lonely))
            lonely = []
            out.extend(_section(document, path, blocks, size))
        elif path and path != following[: len(path)]:
            lonely.append(path[-1])
    if not out:
        lonely = [block for block in document.blocks if block.kind == "heading"]
        return _packed(document, (), [_whole(block) for block in lonely], size)
    out.extend(_lone_headings(document, lonely))
    return out


def count_words(text: str) -> float:
    """Words by white space; two CJK characters count as one.

    >>> count_words("two words 船舶")
    3.0
    """
    cjk = len(_CJK.findall(text))
    return len(_CJK.sub(" ", text).split()) + cjk / 2 if cjk else float(len(text.split()))


def _sections(blocks: Sequence[Block]) -> Iterator[tuple[tuple[Block, ...], list[Block]]]:
    """Runs of blocks between headings, each with the headings above it, outermost first."""
    path: list[Block] = []
    body: list[Block] = []
    for block in blocks:
        if block.kind != "heading":
            body.append(block)
            continue
        if path or body:
            yield tuple(path), body
        body = []
        while path and path[-1].level >= block.level:
            path.pop()
        path.append(block)
    if path or body:
        yield tuple(path), body


def _lone_headings(document: Document, headings: Sequence[Block]) -> list[Chunk]:
    """Headings without a body are said, too, unless the title says it."""
    said = [h for h in headings if h.text != document.title]
    if not said:
        return []
    text = "\n".join(h.text for h in said)
    return [Chunk(text, (), _place(document, (), _whole(said[0])), said[0].page)]


def _section(document: Document, path: tuple[Block, ...], blocks: Sequence[Block], size: int) -> list[Chunk]:
    pieces = [piece for block in blocks for piece in _pieces(document, block, size)]
    return _packed(document, path, pieces, size)


def _packed(document: Document, path: tuple[Block, ...], pieces: Sequence[_Piece], size: int) -> list[Chunk]:
    """Pieces put together up to the size."""
    groups: list[list[_Piece]] = []
    for piece in pieces:
        if groups and _joins(groups[-1], piece, size):
            groups[-1].append(piece)
            continue
        carried: list[_Piece] = []
        if groups:
            # what introduces the piece goes with it, be it alone or at the end of a group
            while groups[-1] and _introduces(groups[-1][-1], piece):
                carried.insert(0, groups[-1].pop())
            if not groups[-1]:
                groups.pop()
        groups.append([*carried, piece])
    if len(groups) > 1 and _is_remnant(groups[-2], groups[-1], size):
        groups[-2:] = [[*groups[-2], *groups[-1]]]
    headings = tuple(h.text for h in path)
    return [
        Chunk("\n".join(p.text for p in group), headings, _place(document, path, *group), group[0].page)
        for group in groups
    ]


def _joins(group: Sequence[_Piece], piece: _Piece, size: int) -> bool:
    last = group[-1]
    if last.page != piece.page and not _introduces(last, piece):
        return False
    if piece.rows or last.rows:
        return not last.rows and all(_introduces(p, piece) for p in group)
    return _total(group) + piece.words <= size


def _introduces(piece: _Piece, following: _Piece) -> bool:
    """A line that ends in a colon or is nothing but a clause marker; a caption, too, if a table follows."""
    if piece.kind in ("table", "code"):
        return False
    short = piece.words <= 30
    return short and (
        piece.text.rstrip().endswith((":", "："))
        or bool(_MARKER_ONLY.fullmatch(piece.text))
        or bool(following.rows and piece.words <= 15)
    )


def _is_remnant(before: Sequence[_Piece], last: Sequence[_Piece], size: int) -> bool:
    plain = not any(p.rows for p in (*before, *last)) and before[-1].page == last[0].page
    return plain and _total(last) < REMNANT * size and _total(before) + _total(last) <= WHOLE * size


def _total(group: Sequence[_Piece]) -> float:
    return sum(p.words for p in group)


def _whole(block: Block) -> _Piece:
    return _Piece(block.text, block.kind, count_words(block.text), block.page, block.line, block.spot)


def _pieces(document: Document, block: Block, size: int) -> Iterator[_Piece]:
    """A block as it is, or where it is too long: rows under their header, lines of code, sentences."""
    if block.kind == "table":
        yield from _table_pieces(document, block, size)
        return
    words = count_words(block.text)
    if words <= size * (WHOLE_CODE if block.kind == "code" else WHOLE):
        yield _Piece(block.text, block.kind, words, block.page, block.line, block.spot)
        return
    parts = block.text.split("\n") if block.kind == "code" else sentences(block.text)
    line, counted = block.line, 0
    for start, end in _filled(block.text, _spans(block.text, parts, size), size):
        text = block.text[start:end]
        if line is not None:
            line, counted = line + block.text.count("\n", counted, start), start
        yield _Piece(text, block.kind, count_words(text), block.page, line, block.spot)


def _spans(text: str, parts: Sequence[str], size: int) -> Iterator[tuple[int, int]]:
    """Where the parts stand in the text; a part that is far too long on its own is cut between words."""
    at = 0
    for part in parts:
        start = text.index(part, at)
        at = start + len(part)
        yield from _cut(text, start, at, size) if part.strip() else ()


def _cut(text: str, start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    if count_words(text[start:end]) <= WHOLE * size:
        yield start, end
        return
    for match in re.finditer(rf"\S{{1,{2 * size}}}", text[start:end]):  # CJK has hardly any blanks
        yield start + match.start(), start + match.end()


def _filled(text: str, spans: Iterator[tuple[int, int]], size: int) -> Iterator[tuple[int, int]]:
    """Neighbouring spans joined up to the size."""
    current: tuple[int, int] | None = None
    total = 0.0
    for start, end in spans:
        words = count_words(text[start:end])
        if current and total + words > size:
            yield current
            current = None
        total = total + words if current else words
        current = (current[0] if current else start, end)
    if current:
        yield current


def _table_pieces(document: Document, block: Block, size: int) -> Iterator[_Piece]:
    """Rows counted as a person does: in the file for a CSV or sheet, else from the header as row 1."""
    header, *rows = block.text.split("\n")
    top = block.line if document.kind in ("csv", "xlsx") and block.line is not None else 1
    head = count_words(header)
    start = 0
    current: list[str] = []
    total = head
    for n, row in enumerate(rows):
        words = count_words(row)
        if current and total + words > max(size, 1.25 * head):
            yield _table_piece(block, header, current, top + 1 + start, total)
            start, current, total = n, [], head
        current.append(row)
        total += words
    yield _table_piece(block, header, current, top + 1 + start, total)


def _table_piece(block: Block, header: str, rows: Sequence[str], first: int, words: float) -> _Piece:
    text = "\n".join((header, *rows))
    return _Piece(text, "table", words, block.page, block.line, block.spot, (first, max(first, first + len(rows) - 1)))


def _place(document: Document, path: tuple[Block, ...], *pieces: _Piece) -> str:
    """Page or slide, spot, heading and rows, as far as there are any; else the line."""
    parts: list[str] = []
    if pieces[0].page is not None:
        parts.append(f"{'slide' if document.kind == 'pptx' else 'p.'} {pieces[0].page}")
    if spots := list(dict.fromkeys(p.spot for p in pieces if p.spot)):
        parts.append(spots[0] if len(spots) == 1 else f"{spots[0]}-{spots[-1]}")
    if path:
        heading = path[-1].text
        heading = heading if len(heading) <= _LONGEST_PLACE else heading[: _LONGEST_PLACE - 1].rstrip() + "…"
        parts.append(f"§ {heading}" if heading[0].isdecimal() else heading)
    for rows in (p.rows for p in pieces if p.rows):
        parts.append(f"rows {rows[0]}-{rows[1]}" if rows[1] > rows[0] else f"row {rows[0]}")
    if not parts and pieces[0].line is not None:
        parts.append(f"line {pieces[0].line}")
    return ", ".join(parts)
