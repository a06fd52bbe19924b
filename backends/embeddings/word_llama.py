"""WordLlama, the default: needs no server and no download, since the package carries its weights."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from backends.embeddings.base import Vectors, unit_rows, worded


class WordLlama:
    """Static token vectors, averaged (wordllama, 256 dimensions)."""

    name = "wordllama/l2_supercat_256"
    dimension = 256

    @cached_property
    def _model(self) -> Any:
        root = logging.getLogger()
        before, level = list(root.handlers), root.level
        import wordllama

        root.handlers[:] = before  # the package sets up the logging of whoever imports it, which is theirs to do
        root.setLevel(level)
        # the package looks for its bundled tokenizer in the wrong folder unless told where it lies itself
        return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)

    def embed(self, texts: Sequence[str]) -> Vectors:
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # an empty text would become NaN; in order of length, so that a batch is not padded to its one long text
        order = sorted(worded(texts), key=lambda i: len(texts[i]))
        if order:
            out[order] = unit_rows(np.asarray(self._model.embed([texts[i] for i in order]), dtype=np.float32))
        return out
