"""Which embedding model a workspace gets: its own, until another is named; and never two in one index."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embeddings_standin import Reply, StandIn, standing_in

from backends.catalog import Catalog
from backends.embeddings import Vectors, WordLlama
from backends.embeddings.choice import embedder_of
from backends.errors import EmbeddingsUnavailable, StaleIndex
from backends.ingest import Ingestor
from backends.library import Library
from backends.settings import EmbeddingSettings, Settings
from backends.workspace import Filters

WORDLLAMA, MINILM = "wordllama/l2_supercat_256", "minilm/all-MiniLM-L6-v2"


class Flat:
    """In MiniLM's place: its name and length, and no files."""

    name = MINILM
    dimension = 384

    def embed(self, texts: Any) -> Vectors:
        return np.full((len(texts), 384), 384**-0.5, dtype=np.float32)


@pytest.fixture
def endpoint() -> Iterator[StandIn]:
    with standing_in() as stand_in:
        yield stand_in


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "dock.md").write_text("# Dock\n\nThe dry dock closes at dusk.\n")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def settings(**embeddings: Any) -> Settings:
    return Settings(embeddings=EmbeddingSettings(**embeddings))


def served(endpoint: StandIn, **more: Any) -> Settings:
    return settings(**{"kind": "openai", "model": "m", "base_url": endpoint.url, **more})


def name_for(folder: Path, given: Settings) -> str:
    return embedder_of(folder, given).name


def test_a_new_workspace_gets_the_configured_model(folder: Path) -> None:
    assert name_for(folder, settings()) == WORDLLAMA
    assert name_for(folder, settings(kind="minilm")) == MINILM


@pytest.mark.parametrize("made_by", [WordLlama(), Flat()])
def test_a_workspace_keeps_its_model_until_another_is_named(folder: Path, files: Path, made_by: Any) -> None:
    Ingestor(folder, made_by).ingest([files])
    assert name_for(folder, settings()) == made_by.name
    assert name_for(folder, settings(timeout_s=5)) == made_by.name
    other = "minilm" if made_by.name == WORDLLAMA else "wordllama"
    named = embedder_of(folder, settings(kind=other))
    assert named.name != made_by.name
    with pytest.raises(StaleIndex, match=r"unset kind, model and dimension .* or ingest into a new workspace"):
        Ingestor(folder, named)
    workspace = Library(folder, settings=settings(kind=other)).workspace()
    with pytest.raises(StaleIndex, match=made_by.name):
        workspace.search_dense("dock", 3, Filters())


def test_a_workspace_from_before_models_were_noted_whole_is_known_by_the_name(folder: Path, files: Path) -> None:
    Ingestor(folder, Flat()).ingest([files])
    Catalog(folder).set("embedder_settings", "")
    assert name_for(folder, settings()) == MINILM


def test_a_served_model_is_reopened_with_no_more_than_its_endpoint(
    endpoint: StandIn, folder: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-sesame-4711")
    Ingestor(folder, embedder_of(folder, served(endpoint, dimension=8))).ingest([files])
    assert endpoint.sent[-1]["dimensions"] == 8
    for given in (settings(base_url=endpoint.url), served(endpoint, dimension=8), Settings(base_url=endpoint.url)):
        before = len(endpoint.sent)
        found = Library(folder, settings=given).workspace().search_dense("dock", 3, Filters())
        assert len(found) == 1
        assert len(endpoint.sent) == before + 1  # the question; no probe
        assert endpoint.sent[-1]["model"] == "m"
        assert endpoint.sent[-1]["dimensions"] == 8
    held = b"".join(p.read_bytes() for p in folder.rglob("*") if p.is_file())
    assert b"sesame" not in held
    assert b"127.0.0.1" not in held


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ({"kind": "openai"}, "openai/m"),  # no model said: its own
        ({"kind": "openai", "model": "other"}, "openai/other"),
        ({"model": "other"}, "openai/other"),
        ({"kind": "openai", "model": "m", "dimension": 16}, "openai/m/16"),
        ({"kind": "wordllama", "model": "m"}, WORDLLAMA),
    ],
)
def test_what_is_said_of_a_served_model_counts(
    endpoint: StandIn, folder: Path, files: Path, said: Any, name: str
) -> None:
    Ingestor(folder, embedder_of(folder, served(endpoint))).ingest([files])
    assert name_for(folder, settings(**said)) == name


def test_an_empty_workspace_takes_another_model_whatever_the_length_of_its_vectors(folder: Path, files: Path) -> None:
    Ingestor(folder, WordLlama()).ingest([files])
    Ingestor(folder).remove(["dock.md"])
    Ingestor(folder, Flat()).ingest([files])
    assert name_for(folder, settings()) == MINILM
    assert Catalog(folder).dimension() == 384
    assert Catalog(folder).count("outbox") == 0


def test_removal_needs_no_model(endpoint: StandIn, folder: Path, files: Path) -> None:
    Ingestor(folder, embedder_of(folder, served(endpoint))).ingest([files])
    endpoint.replies = [Reply(500)]
    assert Ingestor(folder).remove(["dock.md"]) == ["dock.md"]


def test_a_model_that_fails_leaves_no_mark(endpoint: StandIn, folder: Path, files: Path) -> None:
    endpoint.replies = [Reply(401)]
    with pytest.raises(EmbeddingsUnavailable, match="OPENAI_API_KEY"):
        Ingestor(folder, embedder_of(folder, served(endpoint))).ingest([files])
    assert name_for(folder, settings()) == WORDLLAMA
    assert Catalog(folder).count("files") == 0


def test_the_same_name_with_other_vectors_is_noticed(endpoint: StandIn, folder: Path, files: Path) -> None:
    Ingestor(folder, embedder_of(folder, served(endpoint))).ingest([files])
    endpoint.replies = [Reply(body=lambda texts: {"data": [{"embedding": [1.0, 2.0]} for _ in texts]})]
    with pytest.raises(StaleIndex, match="8 dimensions, openai/m makes 2 now"):
        Library(folder, settings=served(endpoint)).workspace().search_dense("dock", 3, Filters())
    (files / "more.md").write_text("# More\n\nThe wet dock is open.\n")
    with pytest.raises(StaleIndex, match="8 dimensions"):
        Ingestor(folder, embedder_of(folder, served(endpoint))).ingest([files])
    assert Catalog(folder).count("sources") == 1


def test_local_only_refuses_the_remembered_endpoint_and_still_searches_words(
    endpoint: StandIn, folder: Path, files: Path
) -> None:
    Ingestor(folder, embedder_of(folder, served(endpoint))).ingest([files])
    away = Settings(local_only=True, embeddings=EmbeddingSettings(base_url="https://models.example/v1"))
    workspace = Library(folder, settings=away).workspace()
    with pytest.raises(EmbeddingsUnavailable, match=r"models\.example are refused: local_only is set"):
        workspace.search_dense("dock", 3, Filters())
    assert workspace.search_sparse("dock", 3, Filters())


def test_an_open_library_follows_a_workspace_that_changes_its_model(folder: Path, files: Path) -> None:
    Ingestor(folder, WordLlama()).ingest([files])
    library = Library(folder, settings=settings())
    first = library.workspace()
    assert library.workspace() is first
    Ingestor(folder).remove(["dock.md"])
    Ingestor(folder, Flat()).ingest([files])
    assert library.workspace().embedder.name == MINILM


def test_a_given_embedder_wins_and_asks_no_settings(folder: Path, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Ingestor(folder, WordLlama()).ingest([files])
    monkeypatch.setenv("PERQUIRE_SETTINGS", "/nowhere.toml")  # reading it would fail
    own = WordLlama()
    assert Library(folder, own).workspace().embedder is own


def test_workspaces_of_one_model_share_it(tmp_path: Path, files: Path) -> None:
    for name in ("a", "b"):
        Ingestor(tmp_path / name, WordLlama()).ingest([files])
    library = Library(settings=settings())
    spaces = [library.workspace(str(tmp_path / name)) for name in ("a", "b")]
    assert spaces[0].embedder is spaces[1].embedder
