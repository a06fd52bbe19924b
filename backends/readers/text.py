"""Plain text of any size: paragraphs by blank lines, each with its line; underlined titles are headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from backends.readers.parts import in_parts
from backends.readers.text_lines import LONGEST_LINE, TextLines
from retrieval.types import Block, Document

_UNDERLINE = re.compile(r"([=\-~^\"'#*+])\1{2,}\s*")
_OWN_LINE = re.compile(r"\s*(?:[-*•–·>|\[]|\(?[0-9A-Za-z]{1,3}[.)]\s|\d{1,4}[-:/.]\d|§|\S[^:]{0,30}:\s)")
_WRAPPED_FROM = 50  # characters: a shorter line was ended on purpose
_MOST_LINES = 30  # of one paragraph, so that a piece of a log still knows its line


def read(path: Path) -> Iterator[Document]:
    """One document; of a long text several, each after the first `continues` it. The last one has the warnings."""
    lines = TextLines(path)
    title = ""
    before: Document | None = None
    for part in in_parts(_blocks(lines, unwrap=path.suffix.lower() != ".log")):
        if before:
            yield before
        title = title or next((b.text for b in part if b.kind == "heading"), path.stem)
        before = Document(title, "text", part, units=0 if before else 1, continues=before is not None)
    if before:
        yield replace(before, warnings=lines.warnings)


def _blocks(lines: TextLines, unwrap: bool) -> Iterator[Block]:
    marks: list[str] = []
    for start, begins, paragraph in _paragraphs(lines):
        if begins and len(paragraph) >= 2 and _is_title(paragraph[0], paragraph[1]):
            mark = paragraph[1][0]
            if mark not in marks:
                marks.append(mark)
            yield Block(paragraph[0].strip(), "heading", min(6, marks.index(mark) + 1), line=start)
            start, paragraph = start + 2, paragraph[2:]
        if paragraph:
            yield Block(joined(paragraph, unwrap), line=start)


def paragraphs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that are not blank, a long one in pieces, with the number of the first."""
    lines = enumerate(text.replace("\f", "\n").split("\n"), 1)
    return ((start, run) for start, _, run in _paragraphs(lines))


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, bool, list[str]]]:
    """Runs of lines that are not blank, a long one in pieces: number of the first, whether a run begins, lines."""
    start, begins, run, chars = 0, True, list[str](), 0
    for number, line in lines:
        full = len(run) == _MOST_LINES or chars > LONGEST_LINE
        if run and (full or not line.strip()):
            yield start, begins, run
            begins, run, chars = False, [], 0
        if line.strip():
            start = start if run else number
            run.append(line.rstrip())
            chars += len(line)
        else:
            begins = True
    if run:
        yield start, begins, run


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
