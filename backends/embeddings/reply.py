"""What an embeddings endpoint sent back, held against what was asked."""

from __future__ import annotations

import json

import numpy as np
from numpy.typing import NDArray

from backends.embeddings.endpoint import Malformed


def vectors_of(body: bytes, count: int, dimension: int | None) -> NDArray[np.float64]:
    """The reply's vectors in the order of the texts (count, dimension). Raises Malformed for anything else."""
    try:
        data = json.loads(body)["data"]
        indexes = [item.get("index", n) for n, item in enumerate(data)]
        if sorted(indexes) != list(range(count)):
            raise Malformed(f"vectors for {len(data)} texts where {count} were sent")
        rows = [data[n]["embedding"] for n in np.argsort(indexes)]
        if any(isinstance(row[0], list) for row in rows):  # llama.cpp does so with a chat model, or without pooling
            raise Malformed("vectors of single tokens, as no embedding model does,")
        raw = np.asarray(rows, dtype=np.float64)
        if raw.ndim != 2 or not raw.shape[1]:
            raise Malformed("no vectors")
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError):
        raise Malformed("no vectors") from None
    if dimension and raw.shape[1] != dimension:
        raise Malformed(f"vectors of {raw.shape[1]} dimensions where {dimension} are expected")
    if not np.isfinite(raw).all() or np.abs(raw).max() > np.finfo(np.float32).max:
        raise Malformed("vectors that hold no numbers")
    return raw
