"""Nearest chunks by cosine: an exact scan of the record's vectors while there are few, Chroma's index above.

Up to `EXACT_UP_TO` vectors an exact scan is faster than loading Chroma (its import alone costs more than a thousand
queries), finds the true neighbours, and takes any filter; every chunk is in Chroma all the same.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from backends.catalog import Catalog
from backends.embeddings import Vectors
from backends.errors import PerquireError

EXACT_UP_TO = 20_000
COLLECTION = "chunks"


@runtime_checkable
class DenseIndex(Protocol):
    def search(self, vector: Vectors, k: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        """(chunk number, cosine) of the k nearest chunks, nearest first. `allowed` is by row, in index order."""
        ...


class ExactIndex:
    """A matrix of unit vectors (rows, dimension), scanned whole."""

    def __init__(self, catalog: Catalog, dimension: int) -> None:
        rows = list(catalog.vectors())
        self.numbers = np.asarray([n for n, _ in rows], dtype=np.int64)
        self.matrix = np.frombuffer(b"".join(v for _, v in rows), dtype=np.float32).reshape(len(rows), dimension)

    def search(self, vector: Vectors, k: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        if not len(self.numbers) or not vector.any():
            return []
        scores = self.matrix @ vector
        if allowed is not None:
            scores = np.where(allowed, scores, -np.inf)
        k = min(k, len(scores))
        best = np.argpartition(-scores, k - 1)[:k]
        best = best[np.lexsort((best, -scores[best]))]
        return [(int(self.numbers[i]), float(scores[i])) for i in best if np.isfinite(scores[i])]


class ChromaIndex:
    """The same over Chroma's HNSW graph; what it returns is looked up in the record, so a stale id is never shown."""

    def __init__(self, catalog: Catalog, numbers: NDArray[np.int64]) -> None:
        self.catalog = catalog
        self.numbers = numbers
        self.collection = open_collection(catalog.folder)

    def search(self, vector: Vectors, k: int, allowed: NDArray[np.bool_] | None = None) -> list[tuple[int, float]]:
        if not vector.any():
            return []
        where: dict[str, Any] | None = None
        if allowed is not None:
            names = {p["source"] for p in self.catalog.passages(self.numbers[allowed].tolist()).values()}
            where = {"source": {"$in": sorted(_alias(name) for name in names)}}
        found = self.collection.query(query_embeddings=[vector], n_results=k, where=where, include=["distances"])
        ids = found["ids"][0]
        numbers = self.catalog.chunk_numbers(ids)
        return [(numbers[i], 1.0 - float(d)) for i, d in zip(ids, found["distances"][0], strict=True) if i in numbers]


def open_collection(folder: Path) -> Any:
    """Chroma's collection of a workspace, in cosine space; another space is refused, never read as similarity."""
    client = _client(folder)
    collection = client.get_or_create_collection(
        COLLECTION, configuration={"hnsw": {"space": "cosine"}}, embedding_function=None
    )
    space = (collection.configuration["hnsw"] or {}).get("space")
    if space != "cosine":
        raise PerquireError(f"{folder / 'chroma'} was made in {space} space, not cosine: ingest into a new workspace.")
    return collection


def start_afresh(catalog: Catalog) -> None:
    """Drops what Chroma keeps of an empty workspace: a collection takes vectors of one length for ever."""
    assert not catalog.count("chunks")
    if (catalog.folder / "chroma").exists():
        client = _client(catalog.folder)
        if COLLECTION in {c.name for c in client.list_collections()}:
            client.delete_collection(COLLECTION)
    if entries := catalog.outbox():
        catalog.clear_outbox(entries[-1][0])


def _client(folder: Path) -> Any:
    import chromadb
    from chromadb.config import Settings

    path = (folder / "chroma").resolve()  # Chroma keeps its clients by this name, also when the process moves
    return chromadb.PersistentClient(str(path), settings=Settings(anonymized_telemetry=False))


def _alias(source: str) -> str:
    """A source's name as Chroma keeps it, whose log outlives what is deleted: a name must not stay in it."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def sync_chroma(catalog: Catalog) -> int:
    """Brings Chroma up to the record by the outbox; returns the entries applied. Safe to repeat after a crash."""
    entries = catalog.outbox()
    if not entries:
        return 0
    collection = open_collection(catalog.folder)
    batch = collection._client.get_max_batch_size()
    removed = list(dict.fromkeys(i for _, i, op, _ in entries if op == "remove"))
    for start in range(0, len(removed), batch):
        collection.delete(ids=removed[start : start + batch])  # delete, then write: add() keeps an old id in silence
    added = {i: vector for _, i, op, vector in entries if op == "add" and vector is not None}
    passages = {p["id"]: p["source"] for p in catalog.passages(catalog.chunk_numbers(list(added)).values()).values()}
    ids = list(added)
    for start in range(0, len(ids), batch):
        part = ids[start : start + batch]
        collection.upsert(
            ids=part,
            embeddings=[np.frombuffer(added[i], dtype=np.float32) for i in part],
            metadatas=[{"source": _alias(passages[i])} for i in part],
        )
    catalog.clear_outbox(entries[-1][0])
    return len(entries)
