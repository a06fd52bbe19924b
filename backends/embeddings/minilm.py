"""all-MiniLM-L6-v2 as Chroma ships it (ONNX, on the CPU). Its files are looked for, never downloaded."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from backends.embeddings.base import Vectors, unit_rows, worded
from backends.errors import EmbeddingsUnavailable

BATCH = 32
FILES = ("model.onnx", "tokenizer.json")
FETCH = "python -c \"from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2 as M; M()(['x'])\""


class MiniLM:
    """Sentence vectors of a small transformer (384 dimensions); a text counts up to its first 256 tokens.

    Chroma's own embedding function gives the same vectors, but pads every text to 256 tokens and downloads what it
    does not find. So only its place, tokenizer and session are taken, and a batch is padded to its longest text.
    """

    name = "minilm/all-MiniLM-L6-v2"
    dimension = 384

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._parts: tuple[Any, Any] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises EmbeddingsUnavailable where the model's files are missing or damaged."""
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        order = worded(texts)
        for start in range(0, len(order), BATCH):
            part = order[start : start + BATCH]
            out[part] = unit_rows(self._means([_sendable(texts[i]) for i in part]))
        return out

    def _means(self, texts: list[str]) -> NDArray[np.float32]:
        """Mean of each text's token vectors (texts, 384)."""
        tokenizer, session = self._loaded()
        encoded = tokenizer.encode_batch(texts)
        ids = np.asarray([e.ids for e in encoded], dtype=np.int64)
        mask = np.asarray([e.attention_mask for e in encoded], dtype=np.int64)
        hidden = session.run(
            None, {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        )[0]  # fmt: skip
        held = mask[:, :, None].astype(np.float32)
        means: NDArray[np.float32] = (hidden * held).sum(axis=1) / np.maximum(held.sum(axis=1), 1.0)
        return means

    def _loaded(self) -> tuple[Any, Any]:
        """Tokenizer and session, loaded once a process."""
        with self._lock:
            if self._parts is None:
                self._parts = _load()
            return self._parts


def _load() -> tuple[Any, Any]:
    from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2

    folder = Path(ONNXMiniLM_L6_V2.DOWNLOAD_PATH) / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME
    if lost := [name for name in FILES if not (folder / name).is_file()]:
        raise EmbeddingsUnavailable(
            f"MiniLM cannot be used: {' and '.join(lost)} not found in {folder}, and nothing is downloaded unasked. "
            f"Copy that folder from a machine that has it, or let Chroma fetch it once: {FETCH}"
        )
    try:
        function = ONNXMiniLM_L6_V2(preferred_providers=["CPUExecutionProvider"])
        tokenizer, session = function.tokenizer, function.model
    except Exception:  # noqa: BLE001 - the tokenizer and the runtime raise bare exceptions of their own
        session = None
    if session is None:
        raise EmbeddingsUnavailable(
            f"MiniLM cannot be used: the files in {folder} are damaged. Delete that folder and fetch it anew: {FETCH}"
        )
    tokenizer.enable_padding(pad_id=0, pad_token="[PAD]")  # to the longest of a batch
    return tokenizer, session


def _sendable(text: str) -> str:
    """The text without lone surrogates, which the tokenizer cannot take."""
    return text.encode(errors="replace").decode()
