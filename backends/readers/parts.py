"""Long documents in parts, so that neither a reader nor whoever takes its documents holds all of one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from retrieval.types import Block

PART_CHARS = 1_000_000


def in_parts(blocks: Iterable[Block], size: int = PART_CHARS) -> Iterator[tuple[Block, ...]]:
    """Blocks in runs of about `size` characters; each later run begins with the headings that it stands under.

    A short document is one run, and one without blocks is one empty run. No run ends with a heading.
    """
    path: list[Block] = []  # the headings above the present block, outermost first
    part: list[Block] = []
    chars = 0
    for block in blocks:
        heading = block.kind == "heading"
        if heading:
            while path and path[-1].level >= block.level:
                path.pop()
        if chars >= size and part[-1].kind != "heading":
            yield tuple(part)
            part, chars = list(path), 0
        if heading:
            path.append(block)
        part.append(block)
        chars += len(block.text)
    yield tuple(part)
