"""What the chat model learns from being refused: parameters, and ways to ask for JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from asking import ASK, SCHEMA, chat, endpoint, failure, ignore
from standin import Say, StandIn, Status
from standin_replies import Behaviour

from backends.openai_chat import OpenAIChat

pytestmark = pytest.mark.usefixtures("no_proxy")


UNSUPPORTED = [
    ("temperature", Status(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature")),
    ("max_tokens", Status(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")),
    ("max_tokens", Status(422, body={"detail": [{"loc": ["body", "max_tokens"], "msg": "Extra inputs are not permitted"}]})),
    ("stream_options", Status(400, "Unrecognized request argument supplied: stream_options")),
]  # fmt: skip


@pytest.mark.parametrize(("name", "refusal"), UNSUPPORTED)
async def test_a_parameter_that_is_not_supported_is_left_out_from_then_on(name: str, refusal: Status) -> None:
    with StandIn(lambda body: refusal if name in body else Say("ok")) as server:
        model = chat(server)
        error = await failure(model, on_token=ignore)
        assert (error.kind, error.retry) == ("parameter", True)
        assert (await model.attempt(ASK, on_token=ignore))["text"] == "ok"


async def test_the_limit_is_sent_under_its_other_name_then_not_at_all() -> None:
    def picky(body: dict[str, Any]) -> Behaviour:
        named = [name for name in ("max_tokens", "max_completion_tokens") if name in body]
        return Status(400, f"Unsupported parameter: '{named[0]}'") if named else Say("ok")

    with StandIn(picky) as server:
        model = chat(server)
        assert [(await failure(model)).kind for _ in range(2)] == ["parameter", "parameter"]
        await model.attempt(ASK)
    sent = [sorted(set(r.body) & {"max_tokens", "max_completion_tokens"}) for r in server.chats]
    assert sent == [["max_tokens"], ["max_completion_tokens"], []]


async def test_a_refused_parameter_is_remembered_by_the_next_process(tmp_path: Path) -> None:
    memory = tmp_path / "endpoints.json"
    with StandIn([UNSUPPORTED[0][1], Say("ok")]) as server:
        await failure(chat(server, memory))
        await chat(server, memory).attempt(ASK)
    assert "temperature" not in server.chats[1].body


async def test_a_parameter_that_was_not_sent_is_not_blamed() -> None:
    with StandIn(UNSUPPORTED[0][1]) as server:
        assert (await failure(chat(server, temperature=None))).kind == "bad_request"


def test_all_ways_may_work_until_one_is_known(tmp_path: Path) -> None:
    model = OpenAIChat(endpoint("http://127.0.0.1:9/v1"), tmp_path / "endpoints.json")
    assert model.output_modes() == ["json_schema", "tool", "json"]
    model.works("tool")
    assert model.output_modes() == ["tool"]


def test_the_setting_has_the_last_word() -> None:
    model = OpenAIChat(endpoint("http://127.0.0.1:9/v1", structured_output="json"))
    model.works("tool")
    assert model.output_modes() == ["json"]


@pytest.mark.parametrize("status", [400, 500])
async def test_a_known_way_that_is_refused_is_found_out_anew(status: int, tmp_path: Path) -> None:
    with StandIn(Status(status)) as server:
        model = chat(server, tmp_path / "endpoints.json")
        model.works("json_schema")
        await failure(model, schema=SCHEMA, mode="json_schema")
        assert model.output_modes() == ["json_schema", "tool", "json"]


async def test_a_busy_server_does_not_unmake_a_known_way() -> None:
    with StandIn(Status(503)) as server:
        model = chat(server)
        model.works("json_schema")
        await failure(model, schema=SCHEMA, mode="json_schema")
        assert model.output_modes() == ["json_schema"]
