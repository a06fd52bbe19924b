"""Embedding models by the kind that the settings name. A new one: a class, and a line here."""

from __future__ import annotations

import os
from collections.abc import Callable

from pydantic import SecretStr

from backends.embeddings.base import Embedder
from backends.embeddings.minilm import MiniLM
from backends.embeddings.openai_compatible import OpenAIEmbeddings
from backends.embeddings.word_llama import WordLlama
from backends.errors import BadSettings
from backends.settings import OPENAI, EmbeddingSettings

DEFAULT_KEY_NAME = "OPENAI_API_KEY"


def _openai(settings: EmbeddingSettings, local_only: bool) -> Embedder:
    if not settings.model:
        raise BadSettings(
            "Embeddings of kind openai need a model's name: set model under [embeddings] in perquire.toml, or "
            "PERQUIRE_EMBEDDINGS__MODEL."
        )
    key_name = settings.api_key_env or DEFAULT_KEY_NAME
    return OpenAIEmbeddings(
        model=settings.model,
        base_url=settings.base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI,
        api_key=SecretStr(os.environ.get(key_name, "")),
        key_name=key_name,
        dimension=settings.dimension,
        timeout_s=settings.timeout_s,
        local_only=local_only,
    )


# a model that runs in this process needs no settings, and its name tells all
EMBEDDED: dict[str, Callable[[], Embedder]] = {
    "wordllama": WordLlama,
    "minilm": MiniLM,
}
SERVED: dict[str, Callable[[EmbeddingSettings, bool], Embedder]] = {
    "openai": _openai,
}


def embedder_for(settings: EmbeddingSettings, local_only: bool = False) -> Embedder:
    """The model that the settings describe; nothing is loaded or asked yet. Raises BadSettings where a name is missing.

    `model` and `dimension` are for served models; the embedded ones have theirs.
    """
    if settings.kind in EMBEDDED:
        return EMBEDDED[settings.kind]()
    return SERVED[settings.kind](settings, local_only)


def settings_named(name: str) -> EmbeddingSettings | None:
    """The settings of an embedded model by the name that it gave an index; None for any other."""
    kinds = {embedder().name: kind for kind, embedder in EMBEDDED.items()}
    return EmbeddingSettings.model_validate({"kind": kinds[name]}) if name in kinds else None


def how_to_reopen(embedder: Embedder) -> EmbeddingSettings | None:
    """What makes an equal model again: kind, name and dimension, never an address or a key. None for a stranger's."""
    if isinstance(embedder, OpenAIEmbeddings):
        return EmbeddingSettings(kind="openai", model=embedder.model, dimension=embedder.asked_dimension)
    return settings_named(embedder.name)
