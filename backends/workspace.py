"""A workspace opened for reading: searches, profiles, passages. Indexes load at first use and follow the record."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backends.catalog import Catalog
from backends.dense import EXACT_UP_TO, ChromaIndex, DenseIndex, ExactIndex, sync_chroma
from backends.embeddings import Embedder, Vectors
from backends.embeddings.choice import check_dimension, check_made_by
from backends.errors import UnknownSource
from backends.spelling import repairs
from retrieval.bm25 import BM25, postings
from retrieval.tokenise import tokenise
from retrieval.types import Manifest, Passage

KEPT_MANIFESTS = 64
KEPT_VECTORS = 4_096


@dataclass(frozen=True)
class Filters:
    """What a search may see: sources pinned by name (all, if empty) and kinds of file."""

    scope: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    folder: str = ""

    def __bool__(self) -> bool:
        return bool(self.scope or self.kinds or self.folder)


@dataclass
class _Indexes:
    generation: int
    sparse: BM25
    sources: NDArray[np.str_]  # source of each row
    kinds: dict[str, str]
    dense: DenseIndex | None


class Workspace:
    """Reads one workspace folder. Raises NoWorkspace where there is none."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.folder = folder
        self.embedder = embedder
        self.catalog = Catalog(folder)
        self._lock = threading.Lock()
        self._indexes: _Indexes | None = None
        self._vectors: dict[str, Vectors] = {}  # of sentences: grading and answering read the same ones
        self._manifests: dict[tuple[int | str, ...], Manifest] = {}

    def manifest(self, scope: Sequence[str] = ()) -> Manifest:
        """What there is inside the scope; kept until the workspace changes."""
        key: tuple[int | str, ...] = (self.catalog.generation(), *scope)
        if key not in self._manifests:
            if len(self._manifests) >= KEPT_MANIFESTS:
                self._manifests.clear()
            self._manifests[key] = self.catalog.manifest(scope)
        return self._manifests[key]

    def resolve_scope(self, scope: Sequence[str]) -> list[str]:
        """Source names for what the caller pinned: a full name, or an unambiguous ending of one.

        Raises UnknownSource, which lists what there is.
        """
        if not scope:
            return []
        known = list(self.catalog.digests())
        out: list[str] = []
        for wanted in scope:
            if wanted in known:
                out.append(wanted)
                continue
            matches = [name for name in known if name.endswith("/" + wanted)]
            if len(matches) != 1:
                listed = ", ".join(sorted(matches or known)[:20]) + ("…" if len(matches or known) > 20 else "")
                problem = "names several sources" if matches else "is no source of this workspace"
                raise UnknownSource(f'"{wanted}" {problem}. Known: {listed or "none"}.')
            out.append(matches[0])
        return out

    def search_sparse(self, query: str, k: int, filters: Filters) -> list[tuple[int, float]]:
        indexes = self._current()
        return indexes.sparse.search(query, k, self._allowed(indexes, filters))

    def search_dense(self, query: str, k: int, filters: Filters) -> list[tuple[int, float]]:
        """Raises StaleIndex where the vectors were made by another model, EmbeddingsUnavailable where this one is away."""
        indexes = self._current()
        if not len(indexes.sparse) or not query.strip():
            return []
        self.check_embedder()
        vector = self.embedder.embed([query])[0]
        check_dimension(self.catalog, self.embedder, len(vector))
        return self._dense(indexes, len(vector)).search(vector, k, self._allowed(indexes, filters))

    def check_embedder(self) -> None:
        """Raises StaleIndex where the vectors were made by another model than this one."""
        check_made_by(self.catalog, self.embedder)

    def passages(self, numbers: Sequence[int]) -> dict[int, Passage]:
        return self.catalog.passages(numbers)

    def passages_by_id(self, ids: Sequence[str]) -> dict[str, str]:
        """Full text by chunk id; an id that is gone is left out."""
        numbers = self.catalog.chunk_numbers(list(ids))
        found = self.catalog.passages(list(numbers.values()))
        return {found[n]["id"]: found[n]["text"] for n in numbers.values() if n in found}

    def spelling(self, words: Sequence[str], language: str) -> dict[str, str]:
        """Repairs for the words that look misspelt: neither in any chunk nor in the language's dictionary."""
        frequency = self._current().sparse.frequency
        unknown = [w for w in words if (terms := tokenise(w)) and terms[0] not in frequency]
        return repairs(unknown, frequency, language)

    def opening_passages(self, sources: Sequence[str]) -> list[Passage]:
        """The first chunk of each source."""
        numbers = self.catalog.opening_chunks(sources)
        found = self.catalog.passages(numbers)
        return [found[n] for n in numbers if n in found]

    def idf(self, terms: Sequence[str]) -> dict[str, float]:
        """Inverse document frequency of index terms, and how rare a term of no chunk would be."""
        sparse = self._current().sparse
        return {term: sparse.idf(term) for term in terms}

    def frequency(self, terms: Sequence[str]) -> dict[str, int]:
        """In how many chunks each term stands."""
        sparse = self._current().sparse
        return {term: sparse.frequency.get(term, 0) for term in terms}

    def similarity(self, query: str, texts: Sequence[str]) -> list[float]:
        """Cosine of the query and each text, by the workspace's embedding model. Raises EmbeddingsUnavailable."""
        wanted = [query, *texts]
        new = [text for text in dict.fromkeys(wanted) if text not in self._vectors]
        if len(self._vectors) + len(new) > KEPT_VECTORS:
            self._vectors.clear()
            new = list(dict.fromkeys(wanted))
        self._vectors.update(zip(new, self.embedder.embed(new), strict=True))
        own = self._vectors[query]
        return [float(self._vectors[text] @ own) for text in texts]

    def _allowed(self, indexes: _Indexes, filters: Filters) -> NDArray[np.bool_] | None:
        if not filters:
            return None
        names = {
            source
            for source, kind in indexes.kinds.items()
            if (not filters.scope or source in filters.scope)
            and (not filters.kinds or kind in filters.kinds)
            and (not filters.folder or source.startswith(filters.folder.rstrip("/") + "/"))
        }
        return np.isin(indexes.sources, list(names)) if names else np.zeros(len(indexes.sources), dtype=bool)

    def _dense(self, indexes: _Indexes, dimension: int) -> DenseIndex:
        if indexes.dense is None:
            with self._lock:
                if indexes.dense is None:
                    dense: DenseIndex
                    if len(indexes.sparse) <= EXACT_UP_TO:
                        dense = ExactIndex(self.catalog, dimension)
                    else:
                        sync_chroma(self.catalog)
                        dense = ChromaIndex(self.catalog, indexes.sparse.numbers)
                    indexes.dense = dense
        assert indexes.dense is not None
        return indexes.dense

    def _current(self) -> _Indexes:
        """The indexes of the record's present generation, rebuilt when it has moved on."""
        generation = self.catalog.generation()
        with self._lock:
            if self._indexes is None or self._indexes.generation != generation:
                rows = list(self.catalog.terms())
                self._indexes = _Indexes(
                    generation,
                    BM25([postings((n, terms) for n, _, terms in rows)]),
                    np.asarray([source for _, source, _ in rows], dtype=np.str_),
                    {p["source"]: p["kind"] for p in self.catalog.manifest(max_sources=10**9)["sources"]},
                    None,
                )
            return self._indexes
