"""What an embedding model is to the rest, and what its rows look like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """`name` is stored with the index: another name is another space, and means that the index must be rebuilt.

    Not to be checked by isinstance: looking at `dimension` may ask a service.
    """

    name: str

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text; a text without words gives a row of zeros.

        Raises EmbeddingsUnavailable where the model cannot be reached or loaded.
        """
        ...


def unit_rows(raw: NDArray[Any]) -> Vectors:
    """Rows of length 1 (float32); a row of zeros stays one."""
    norms = np.linalg.norm(raw, axis=1, keepdims=True)
    rows: Vectors = np.divide(raw, norms, out=np.zeros_like(raw), where=norms > 0).astype(np.float32)
    return rows


def worded(texts: Sequence[str]) -> list[int]:
    """Which texts hold anything, shortest first: a batch is padded to its longest text."""
    return sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
