"""The commands with embedding models other than the default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2
from embeddings_standin import Reply, StandIn, standing_in
from typer.testing import CliRunner

from perquire.cli import app

runner = CliRunner()
KEY = "sk-sesame-4711"


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    """An endpoint and a key in the environment; which kind is meant, each call says."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with standing_in() as stand_in:
        monkeypatch.setenv("OPENAI_BASE_URL", stand_in.url)
        yield stand_in


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dock.md").write_text("# Dock\n\nThe dry dock closes at dusk.\n\nPX-311 means that the gate is open.\n")

    def call(*args: str, **env: str) -> Any:
        return runner.invoke(app, list(args), env={f"PERQUIRE_EMBEDDINGS__{k.upper()}": v for k, v in env.items()})

    return call


def finding(run: Any, **env: str) -> Any:
    result = run("doctor", "--json", **env)
    assert KEY not in result.output
    return next(f for f in json.loads(result.stdout)["findings"] if f["part"] == "embeddings")


def test_a_workspace_is_asked_with_the_model_that_made_it(run: Any, endpoint: StandIn) -> None:
    assert run("ingest", "dock.md", kind="openai", model="m").exit_code == 0
    assert json.loads(run("status", "--json").stdout)["embedder"] == "openai/m"
    for args in (["search", "PX-311", "--json"], ["ask", "What does PX-311 mean?", "--json"]):
        before = len(endpoint.sent)
        answer = json.loads(run(*args).stdout)
        assert answer["warnings"] == []
        assert len(endpoint.sent) > before
    assert "unchanged" in run("ingest", "dock.md").stdout
    refused = run("ingest", "dock.md", kind="wordllama")
    assert refused.exit_code == 1
    assert "was made by openai/m, the configured model is wordllama/l2_supercat_256" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_an_endpoint_that_is_away(run: Any, endpoint: StandIn) -> None:
    assert run("ingest", "dock.md", kind="openai", model="m").exit_code == 0
    endpoint.replies = [Reply(401)]
    found = json.loads(run("search", "PX-311", "--json").stdout)
    assert found["passages"][0]["source"] == "dock.md"
    assert "OPENAI_API_KEY" in found["warnings"][0]
    assert "warning   Searched by words alone." in run("search", "PX-311").stdout
    asked = run("ask", "What does PX-311 mean?")
    assert "the gate is open" in asked.stdout
    assert "warning   Searched by words alone." in asked.stdout
    Path("more.md").write_text("# More\n\nThe wet dock is open.\n")
    ingest = run("ingest", "more.md")
    assert ingest.exit_code == 1
    assert "OPENAI_API_KEY" in ingest.stderr
    assert KEY not in found["warnings"][0] + asked.output + ingest.output
    assert run("remove", "dock.md").exit_code == 0


def test_doctor_tries_the_model_in_use(run: Any, endpoint: StandIn) -> None:
    assert finding(run)["says"] == "wordllama/l2_supercat_256, 256 dimensions"
    assert endpoint.sent == []
    run("ingest", "dock.md", kind="openai", model="m")
    shown = finding(run)
    host = endpoint.url.removeprefix("http://").removesuffix("/v1")
    assert (shown["state"], shown["says"]) == ("ok", f"openai/m, 8 dimensions, by {host}")
    stale = finding(run, kind="wordllama")
    assert stale["state"] == "broken"
    assert "was made by openai/m" in stale["says"]
    endpoint.replies = [Reply(404)]
    gone = finding(run)
    assert gone["state"] == "broken"
    assert "PERQUIRE_EMBEDDINGS__MODEL" in gone["says"]
    endpoint.replies = [Reply(body=lambda texts: {"data": [{"embedding": [1.0, 2.0]} for _ in texts]})]
    assert "serve the old model again" in finding(run)["says"]


def test_doctor_says_what_is_configured_wrongly(run: Any) -> None:
    assert "PERQUIRE_EMBEDDINGS__MODEL" in finding(run, kind="openai")["says"]
    assert 'Setting "embeddings.kind"' in finding(run, kind="none")["says"]


def test_minilm_without_its_files(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path / "none")
    result = run("ingest", "dock.md", kind="minilm")
    assert result.exit_code == 1
    assert "nothing is downloaded unasked" in result.stderr
    assert finding(run, kind="minilm")["state"] == "broken"
    assert run("ingest", "dock.md").exit_code == 0  # the failed attempt settled nothing
