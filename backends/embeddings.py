"""Texts to unit vectors. The embedded default needs no server and no download: wordllama carries its weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """`name` and `dimension` are stored with the index: another name means that the index must be rebuilt."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, one row a text; a text without words gives a row of zeros."""
        ...


class WordLlama:
    """Static token vectors, averaged (wordllama, 256 dimensions)."""

    name = "wordllama/l2_supercat_256"
    dimension = 256

    @cached_property
    def _model(self) -> Any:
        import wordllama

        # the package looks for its bundled tokenizer in the wrong folder unless told where it lies itself
        return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # sorted by length, since a batch is padded to its longest text; an empty text would become NaN
        order = sorted((i for i, text in enumerate(texts) if text.strip()), key=lambda i: len(texts[i]))
        if order:
            raw = np.asarray(self._model.embed([texts[i] for i in order]), dtype=np.float32)
            norms = np.linalg.norm(raw, axis=1, keepdims=True)
            out[order] = np.divide(raw, norms, out=np.zeros_like(raw), where=norms > 0)
        return out
