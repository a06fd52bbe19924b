"""What is remembered of endpoints, in files of every condition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backends.endpoint_memory import EndpointMemory, default_memory

URL = "https://user:secret@models.example/v1?key=secret"


def test_the_next_process_knows_what_this_one_learnt(tmp_path: Path) -> None:
    file = tmp_path / "new folder" / "endpoints.json"
    first = EndpointMemory(file, URL, "m")
    first.keep_mode("tool")
    first.keep_refused("temperature")
    second = EndpointMemory(file, URL, "m")
    assert (second.mode, second.refused) == ("tool", frozenset({"temperature"}))


def test_no_login_is_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    EndpointMemory(file, URL, "m").keep_mode("tool")
    assert "secret" not in file.read_text()
    assert "user" not in file.read_text()
    assert "models.example" in file.read_text()


def test_endpoints_and_models_are_kept_apart(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    EndpointMemory(file, URL, "a").keep_mode("tool")
    EndpointMemory(file, URL, "b").keep_mode("json")
    EndpointMemory(file, "http://127.0.0.1:1/v1", "a").keep_mode("json_schema")
    assert EndpointMemory(file, URL, "a").mode == "tool"
    assert EndpointMemory(file, URL, "b").mode == "json"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff\xfe", b'{"x": 1}', b"[" * 100_000, b'{"https://models.example/v1 m": 3}',
                b'{"https://models.example/v1 m": {"mode": ["tool"], "refused": "temperature"}}'],
)  # fmt: skip
def test_a_damaged_file_is_as_none_and_is_mended(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    file.write_bytes(content)
    memory = EndpointMemory(file, URL, "m")
    assert (memory.mode, memory.refused) == (None, frozenset())
    memory.keep_mode("tool")
    assert EndpointMemory(file, URL, "m").mode == "tool"


def test_a_file_that_cannot_be_written_costs_the_memory_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    memory = EndpointMemory(tmp_path / "file" / "endpoints.json", URL, "m")
    memory.keep_mode("tool")
    assert memory.mode == "tool"


def test_a_folder_in_its_place_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "endpoints.json").mkdir()
    EndpointMemory(tmp_path / "endpoints.json", URL, "m").keep_mode("tool")
    assert [p.name for p in tmp_path.iterdir()] == ["endpoints.json"]


def test_nothing_is_read_before_it_is_needed(tmp_path: Path) -> None:
    memory = EndpointMemory(tmp_path / "endpoints.json", URL, "m")
    EndpointMemory(tmp_path / "endpoints.json", URL, "m").keep_mode("json")
    assert memory.mode == "json"


def test_what_is_known_is_not_written_again(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    memory = EndpointMemory(file, URL, "m")
    memory.keep_mode("tool")
    file.unlink()
    memory.keep_mode("tool")
    assert not file.exists()


def test_a_mode_may_be_forgotten(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.json"
    memory = EndpointMemory(file, URL, "m")
    memory.keep_mode("tool")
    memory.keep_mode(None)
    assert EndpointMemory(file, URL, "m").mode is None
    assert json.loads(file.read_text())


def test_the_file_is_in_the_users_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_memory() == tmp_path / "perquire" / "endpoints.json"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_memory() == Path.home() / ".cache" / "perquire" / "endpoints.json"
