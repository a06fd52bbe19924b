"""Passages without repeats, and spread over their sources."""

from __future__ import annotations

from collections.abc import Sequence

from retrieval.types import Passage


def distinct(passages: Sequence[Passage]) -> list[Passage]:
    """The passages in order, each id once."""
    return list({p["id"]: p for p in passages}.values())


def balance_sources(passages: Sequence[Passage], k: int, per_source: int) -> list[Passage]:
    """The first k with at most `per_source` of one source, in rank order; what is over fills up where k is not reached."""
    taken: dict[str, int] = {}
    kept: list[Passage] = []
    over: list[Passage] = []
    for passage in passages:
        source = passage["source"]
        if taken.get(source, 0) < per_source:
            taken[source] = taken.get(source, 0) + 1
            kept.append(passage)
        else:
            over.append(passage)
    return (kept + over)[:k]
