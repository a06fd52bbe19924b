"""BM25 over the whole workspace: rank_bm25 where it is small, bm25s (which ranks the same, and is faster) above."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from retrieval.tokenise import tokenise

K1, B, DELTA = 1.5, 0.75, 1.0
RANK_BM25_UP_TO = 5_000  # chunks; rank_bm25 scans them all: about 3 ms a query there, 50 ms at ten times as many


class SparseIndex:
    """BM25+ scores of the chunks. `numbers[i]` is the chunk number of row i.

    Lv and Zhai, "Lower-Bounding Term Frequency Normalization", CIKM 2011.
    """

    def __init__(self, rows: Iterable[tuple[int, str]], rank_bm25_up_to: int = RANK_BM25_UP_TO) -> None:
        numbers: list[int] = []
        corpus: list[list[str]] = []
        for number, terms in rows:
            numbers.append(number)
            corpus.append(terms.split(" ") if terms else [""])
        self.numbers = np.asarray(numbers, dtype=np.int64)
        self.frequency: dict[str, int] = {}
        for document in corpus:
            for term in set(document):
                self.frequency[term] = self.frequency.get(term, 0) + 1
        self._small: Any = None
        self._large: Any = None
        if not corpus:
            return
        if len(corpus) <= rank_bm25_up_to:
            from rank_bm25 import BM25Plus

            self._small = BM25Plus(corpus, k1=K1, b=B, delta=DELTA)
        else:
            import bm25s

            logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells of every index at DEBUG
            self._large = bm25s.BM25(method="bm25+", k1=K1, b=B, delta=DELTA)
            self._large.index(corpus, show_progress=False)

    def __len__(self) -> int:
        return len(self.numbers)

    def idf(self, term: str) -> float:
        """ln((N + 1) / df), as in BM25+; a term that no chunk holds counts as one that a single chunk holds."""
        return float(np.log((len(self) + 1) / max(self.frequency.get(term, 0), 1)))

    def search(self, query: str, k: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """(chunk number, score) of the best k chunks that hold a term of the query, best first."""
        terms = [t for t in dict.fromkeys(tokenise(query)) if t in self.frequency]
        if not terms:
            return []
        scores = self._scores(terms)
        if allowed is not None:
            scores = np.where(allowed, scores, 0.0)
        k = min(k, len(scores))
        best = np.argpartition(-scores, k - 1)[:k]
        best = best[np.lexsort((best, -scores[best]))]
        return [(int(self.numbers[i]), float(scores[i])) for i in best if scores[i] > 0]

    def _scores(self, terms: Sequence[str]) -> NDArray[np.float64]:
        """Scores above what a chunk without any of the terms gets: BM25+ gives every chunk idf x delta a term."""
        index = self._small if self._small is not None else self._large
        base = DELTA * sum(self.idf(term) for term in terms)
        above = np.asarray(index.get_scores(list(terms)), dtype=np.float64) - base
        above = np.round(above, 4)  # both libraries agree to here: a tie is a tie in each
        return np.where(above > 0, above, 0.0)
