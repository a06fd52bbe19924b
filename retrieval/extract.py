"""Which sentences make an extractive answer. Verbatim, in a fixed order, never more than were sought."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from retrieval.sentences import sentences
from retrieval.signals import Candidate
from retrieval.tokenise import tokenise
from retrieval.types import Passage

NEAR = 0.78  # ⚙ a further sentence must score this share of the best
MAX_FACT_SENTENCES = 3
SIDE = 0.6  # ⚙ a side of a comparison must score this share of the best


def pick_fact(ranked: Sequence[Candidate], passages: Sequence[Passage], weight: Mapping[str, float]) -> list[Candidate]:
    """The best sentence, what it introduces, and others that come close and add terms of the question or a second source."""
    if not ranked:
        return []
    best = ranked[0]
    chosen = [best, *following(best, passages)]
    covered = set(tokenise(best.text))
    for candidate in ranked[1:12]:
        if len(chosen) >= MAX_FACT_SENTENCES or candidate.score < NEAR * best.score:
            break
        new = {t for t in tokenise(candidate.text) if t in weight} - covered
        if new and not _repeats(candidate.text, chosen):
            chosen.append(candidate)
            covered |= set(tokenise(candidate.text))
    return chosen


def pick_listed(ranked: Sequence[Candidate], passages: Sequence[Passage], count: int) -> list[Candidate]:
    """`count` items: the lines of the list or table that holds the best match, then the best ones elsewhere."""
    best_passage = ranked[0].passage if ranked else 0
    inside = [c for c in ranked if c.passage == best_passage and _is_item(c.text)]
    order = {text: n for n, text in enumerate(sentences(passages[best_passage]["text"]))} if passages else {}
    items = sorted(inside, key=lambda c: order.get(c.text, 0)) if len(inside) >= count else inside
    items += [c for c in ranked if c not in items and not c.text.rstrip().endswith((":", "?"))]
    kept: list[Candidate] = []
    for candidate in items:
        if len(kept) == count:
            break
        if not _repeats(candidate.text, kept):
            kept.append(candidate)
    return kept


def pick_across(ranked: Sequence[Candidate], passages: Sequence[Passage], sides: int) -> list[Candidate]:
    """The best sentence of each source, at most `sides` of them: what a comparison or a synthesis sets side by side."""
    kept: dict[str, Candidate] = {}
    for candidate in ranked:
        source = passages[candidate.passage]["source"]
        if candidate.score < SIDE * ranked[0].score:
            break
        if source not in kept and not candidate.text.rstrip().endswith("?") and len(candidate.text.split()) > 3:
            kept[source] = candidate
    return list(kept.values())[:sides]


def following(candidate: Candidate, passages: Sequence[Passage], most: int = 6) -> list[Candidate]:
    """What a sentence introduces: the lines after one that ends in a colon or a question mark."""
    if not candidate.text.rstrip().endswith((":", "?")):
        return []
    lines = sentences(passages[candidate.passage]["text"])
    start = lines.index(candidate.text) + 1
    take = most if candidate.text.rstrip().endswith(":") else 1
    return [
        Candidate(candidate.passage, text, candidate.coverage, 0.0, 0.0, candidate.score)
        for text in lines[start : start + take]
    ]


def _is_item(text: str) -> bool:
    """Does a line look like one of a list: marked, a table row, or a term with its meaning?"""
    return (
        bool(re.match(r"\s*(?:[-*•]|\d+[.)]|\([a-z0-9]{1,3}\)|[A-Z][\w-]*\d)", text)) or " | " in text or ": " in text
    )


def _repeats(text: str, chosen: Sequence[Candidate]) -> bool:
    words = set(tokenise(text))
    return any(len(words & set(tokenise(c.text))) >= 0.8 * max(1, len(words)) for c in chosen)
