"""Plain text: paragraphs by blank lines, each with its line; underlined titles are headings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from backends.readers.decoding import read_text
from retrieval.types import Block, Document

_UNDERLINE = re.compile(r"([=\-~^\"'#*+])\1{2,}\s*")
_OWN_LINE = re.compile(r"\s*(?:[-*•–·>|\[]|\(?[0-9A-Za-z]{1,3}[.)]\s|\d{1,4}[-:/.]\d|§|\S[^:]{0,30}:\s)")
_WRAPPED_FROM = 50  # characters: a shorter line was ended on purpose
_MOST_LINES = 30  # of one paragraph, so that a piece of a log still knows its line


def read(path: Path) -> Iterator[Document]:
    unwrap = path.suffix.lower() != ".log"
    blocks: list[Block] = []
    marks: list[str] = []
    for start, lines in paragraphs(read_text(path)):
        if len(lines) >= 2 and _is_title(lines[0], lines[1]):
            if lines[1][0] not in marks:
                marks.append(lines[1][0])
            blocks.append(Block(lines[0].strip(), "heading", min(6, marks.index(lines[1][0]) + 1), line=start))
            start, lines = start + 2, lines[2:]
        for skip in range(0, len(lines), _MOST_LINES):
            text = joined(lines[skip : skip + _MOST_LINES], unwrap)
            blocks.append(Block(text, line=start + skip))
    title = next((b.text for b in blocks if b.kind == "heading"), path.stem)
    yield Document(title, "text", tuple(blocks))


def paragraphs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that are not blank, with the number of the first."""
    start, lines = 0, list[str]()
    for number, line in enumerate(text.replace("\f", "\n").split("\n"), 1):
        if line.strip():
            start = start if lines else number
            lines.append(line.rstrip())
        elif lines:
            yield start, lines
            lines = []
    if lines:
        yield start, lines


def _is_title(line: str, under: str) -> bool:
    return bool(_UNDERLINE.fullmatch(under)) and len(under.strip()) >= 0.8 * len(line.strip()) and len(line) < 100


def joined(lines: list[str], unwrap: bool) -> str:
    """Lines that were broken only to fit a width become one again, so that sentences stay whole."""
    out = lines[0].strip()
    full = max(_WRAPPED_FROM, 0.75 * max(len(line) for line in lines))
    for before, line in pairwise(lines):
        wrapped = unwrap and len(before) >= full and not _OWN_LINE.match(line)
        out += (" " if wrapped else "\n") + line.strip()
    return out
