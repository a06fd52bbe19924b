"""Texts to unit vectors: one file a kind of model, `registry` to make one from settings, `choice` for a workspace's own."""

from backends.embeddings.base import Embedder, Vectors
from backends.embeddings.word_llama import WordLlama

__all__ = ["Embedder", "Vectors", "WordLlama"]
