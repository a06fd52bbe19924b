"""BM25+ over postings: which rows hold a term, and how often.

Several parts make one index (a large one that lies still, and what came since), and rows may be gone from them; the
weights are always those of the rows that are there, so an index in parts ranks exactly as one that was made anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from retrieval.tokenise import tokenise

K1, B = 1.5, 0.75
DECIMALS = 4  # of a score: what differs by less is a tie, however it was summed


@dataclass(frozen=True)
class Postings:
    """Rows by term. `rows[offsets[t]:offsets[t + 1]]` hold term t, each as often as `counts` says at the same place.

    `numbers` (rows,) are the chunk numbers, `lengths` (rows,) their lengths in terms, `terms` each term's t.
    """

    numbers: NDArray[np.int64]
    lengths: NDArray[np.float32]
    terms: dict[str, int]
    offsets: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.numbers)


def postings(chunks: Iterable[tuple[int, str]]) -> Postings:
    """Postings of (chunk number, its index terms joined by blanks), rows in the order given."""
    numbers: list[int] = []
    lengths: list[int] = []
    held: dict[str, list[tuple[int, int]]] = {}
    for row, (number, joined) in enumerate(chunks):
        terms = joined.split(" ") if joined else []
        numbers.append(number)
        lengths.append(max(1, len(terms)))
        for term, count in Counter(terms).items():
            held.setdefault(term, []).append((row, min(count, 0xFFFF)))
    flat = np.asarray([pair for pairs in held.values() for pair in pairs], dtype=np.int64).reshape(-1, 2)
    return Postings(
        np.asarray(numbers, dtype=np.int64),
        np.asarray(lengths, dtype=np.float32),
        {term: t for t, term in enumerate(held)},
        np.cumsum([0, *(len(pairs) for pairs in held.values())], dtype=np.int64),
        flat[:, 0].astype(np.int32),
        flat[:, 1].astype(np.uint16),
    )


class BM25:
    """One index of several parts, without the chunks whose numbers are `gone`.

    Ranks as BM25+ does: Lv and Zhai, "Lower-Bounding Term Frequency Normalization", CIKM 2011. Its constant, which every
    chunk gets for every term of the query, changes no order and is left out: a chunk without any of the terms has 0.
    """

    def __init__(self, parts: Sequence[Postings], gone: AbstractSet[int] = frozenset()) -> None:
        self.parts = list(parts)
        self.numbers = np.concatenate([np.empty(0, np.int64), *(part.numbers for part in parts)])
        self._there = [~np.isin(part.numbers, list(gone)) for part in parts]
        self._count = int(sum(there.sum() for there in self._there))
        total = sum(float(part.lengths[there].sum()) for part, there in zip(parts, self._there, strict=True))
        average = total / self._count if self._count else 1.0
        self._norms = [K1 * (1 - B + B * part.lengths.astype(np.float64) / average) for part in parts]

    def __len__(self) -> int:
        """Chunks that are there."""
        return self._count

    @cached_property
    def frequency(self) -> dict[str, int]:
        """In how many chunks each term stands; terms of no chunk are not listed."""
        out: Counter[str] = Counter()
        for part, there in zip(self.parts, self._there, strict=True):
            if len(part.rows):
                counts = np.add.reduceat(there[part.rows].astype(np.int64), part.offsets[:-1])
                out.update({term: int(counts[t]) for term, t in part.terms.items() if counts[t]})
        return dict(out)

    def idf(self, term: str) -> float:
        """ln((N + 1) / df), as in BM25+; a term that no chunk holds counts as one that a single chunk holds."""
        return float(np.log((len(self) + 1) / max(self.frequency.get(term, 0), 1)))

    def search(self, query: str, k: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """(chunk number, score) of the best k chunks that hold a term of the query, best first; ties as they stand.

        `allowed` is by row, the parts one after the other.
        """
        scores = np.round(self._scores([t for t in dict.fromkeys(tokenise(query)) if t in self.frequency]), DECIMALS)
        if allowed is not None:
            scores = np.where(allowed, scores, 0.0)
        held = np.flatnonzero(scores > 0)
        if len(held) > k:
            held = held[np.argpartition(-scores[held], k - 1)]
            held = held[scores[held] >= scores[held[k - 1]]]  # with all that tie with the last
        best = held[np.lexsort((held, -scores[held]))][:k]
        return [(int(self.numbers[row]), float(scores[row])) for row in best]

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Of every row, the parts one after the other."""
        scores = np.zeros(len(self.numbers))
        start = 0
        for part, there, norm in zip(self.parts, self._there, self._norms, strict=True):
            own = scores[start : start + len(part)]
            for term in terms:
                t = part.terms.get(term)
                if t is not None:
                    at = slice(part.offsets[t], part.offsets[t + 1])
                    rows, counts = part.rows[at], part.counts[at].astype(np.float64)
                    own[rows] += self.idf(term) * counts * (K1 + 1) / (counts + norm[rows])
            own[~there] = 0.0
            start += len(part)
        return scores
