"""The chat model against an endpoint that fails in every way that was seen or feared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from asking import ASK, KEY, chat, endpoint, failure, ignore
from pydantic import SecretStr
from standin import Body, Cut, Flood, Hang, Say, StandIn, Status
from standin_replies import Behaviour

from backends.errors import ModelUnavailable
from backends.openai_chat import OpenAIChat
from retrieval.types import Message

pytestmark = pytest.mark.usefixtures("no_proxy")


TOO_LONG_FOR_IT = [
    Status(400, "This model's maximum context length is 4096 tokens. However, you requested 6014 tokens."),
    Status(400, error_code="context_length_exceeded"),
    Status(400, "the request exceeds the available context size, try increasing it"),
    Status(422, "The input token count (1200000) exceeds the maximum number of tokens allowed."),
    Status(400, body={"detail": "prompt is too long: 210000 tokens > 200000 maximum"}),
    Status(500, "Requested tokens (6000) exceed context window of 4096"),
    Status(413, body=""),
]
REFUSALS: list[tuple[Behaviour, str, bool]] = [
    (Status(401), "auth", False),
    (Status(403), "auth", False),
    (Status(404), "model", False),
    (Status(429), "rate_limit", True),
    (Status(429, error_code="insufficient_quota"), "quota", False),
    (Status(500), "server", True),
    (Status(503, body="<html>busy</html>"), "server", True),
    (Status(408), "timeout", True),
    (Status(400), "bad_request", False),
    (Status(422, body={"detail": [{"loc": ["body", "x"], "msg": "bad", "type": "bad"}]}), "bad_request", False),
    (Status(400, "Invalid schema for response_format: In context=(), required is missing"), "bad_request", False),
    (Status(400, "max_tokens is too large: 9999. This model supports at most 4096 completion tokens"), "bad_request", False),
    (Status(302, body=""), "malformed", False),
    (Body("<html>Sign in</html>", "text/html"), "malformed", False),
    (Body({"choices": []}), "malformed", False),
    (Body({"choices": None}), "malformed", False),
    (Body({"object": "list"}), "malformed", False),
    (Body([1]), "malformed", False),
    (Body('{"choices": [{"mess'), "malformed", False),
    (Body({"error": {"code": 429, "message": "slow down"}}), "rate_limit", True),
    (Body({"choices": []}, headers={"Content-Encoding": "gzip"}), "malformed", False),
    (Cut(), "cut", True),
    (Cut(""), "cut", True),
    *((status, "context", False) for status in TOO_LONG_FOR_IT),
]  # fmt: skip


@pytest.mark.parametrize(("behaviour", "kind", "retry"), REFUSALS, ids=[f"{i}-{r[1]}" for i, r in enumerate(REFUSALS)])
async def test_failures_are_sorted(behaviour: Behaviour, kind: str, retry: bool) -> None:
    with StandIn(behaviour) as server:
        error = await failure(chat(server))
    assert (error.kind, error.retry) == (kind, retry)
    assert len(server.requests) == 1, "an attempt is one request"


BEGUN = '{"id": "1", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant"}}]}'
STREAMED: list[tuple[Behaviour, str, bool]] = [
    (Status(500), "server", True),
    (Status(401), "auth", False),
    (Cut(), "cut", True),
    (Say("Half a sentence", finish=None), "cut", True),
    (Body("", "text/event-stream"), "cut", True),
    (Body('data: {"choices": []}\n\ndata: [DONE]\n\n', "text/event-stream"), "malformed", False),
    (Body("data: {oh no\n\n", "text/event-stream"), "malformed", False),
    # a server of one request at a time, which ends this one for the next
    (Body(f"data: {BEGUN}\n\ndata: [DONE]\n\n", "text/event-stream"), "cut", True),
    (Body("<html>Sign in</html>", "text/html"), "malformed", False),
    (Body('data: {"error": {"message": "overloaded", "code": 503}}\n\n', "text/event-stream"), "server", True),
    (Body('data: {"error": {"message": "prompt is too long"}}\n\n', "text/event-stream"), "context", False),
]


@pytest.mark.parametrize(("behaviour", "kind", "retry"), STREAMED, ids=[f"{i}-{r[1]}" for i, r in enumerate(STREAMED)])
async def test_failures_of_streams_are_sorted(behaviour: Behaviour, kind: str, retry: bool) -> None:
    with StandIn(behaviour) as server:
        error = await failure(chat(server), on_token=ignore)
    assert (error.kind, error.retry) == (kind, retry)
    assert len(server.requests) == 1


async def test_a_stream_closed_at_once_on_a_long_prompt_means_the_context() -> None:
    long: list[Message] = [{"role": "user", "content": "word " * 5_000}]
    with StandIn(Body("", "text/event-stream")) as server, pytest.raises(ModelUnavailable) as caught:
        await chat(server).attempt(long, on_token=ignore)
    assert (caught.value.kind, caught.value.retry) == ("context", False)


async def test_a_message_names_the_model_the_host_and_what_to_do() -> None:
    with StandIn(Status(401)) as server:
        message = str(await failure(chat(server)))
    assert message == (
        "127.0.0.1 does not accept the key for the model local (HTTP 401). Check OPENAI_API_KEY, or the variable that "
        "api_key_env names, and what the key may use."
    )


async def test_retry_after_is_passed_on_in_seconds() -> None:
    with StandIn(Status(429, retry_after=7)) as server:
        error = await failure(chat(server))
    assert error.retry_after == 7
    assert "in 7 s" in str(error)


async def test_retry_after_may_be_a_date() -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with StandIn(Status(429, retry_after=at)) as server:
        error = await failure(chat(server))
    assert error.retry_after == pytest.approx(90, abs=5)


@pytest.mark.parametrize(
    ("behaviour", "on_token"), [(Hang(), None), (Hang("a"), None), (Hang(), ignore), (Hang("a"), ignore)]
)
async def test_a_silent_endpoint_is_left_in_time(behaviour: Hang, on_token: Callable[[str], None] | None) -> None:
    with StandIn(behaviour) as server:
        error = await failure(chat(server), timeout_s=0.1, on_token=on_token)
        assert await asyncio.to_thread(server.gone.wait, 1)
    assert (error.kind, error.retry) == ("timeout", True)
    assert "within 0.1 s" in str(error)


async def test_a_stream_that_drips_is_bounded_as_a_whole() -> None:
    with StandIn(Flood("a", pause_s=0.02)) as server:
        error = await failure(chat(server), timeout_s=0.2, on_token=ignore)
        assert await asyncio.to_thread(server.gone.wait, 1)
    assert error.kind == "timeout"


async def test_nobody_at_home_is_unreachable() -> None:
    with StandIn(Say("ok")) as server:
        pass
    error = await failure(chat(server))
    assert (error.kind, error.retry) == ("unreachable", True)


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/v1", "127.0.0.1/v1", "http://127.0.0.1:99999/v1"])
async def test_a_base_url_that_is_none_is_named(url: str) -> None:
    error = await failure(OpenAIChat(endpoint(url, api_key=SecretStr(KEY))))
    assert (error.kind, error.retry) == ("unreachable", False)
    assert "OPENAI_BASE_URL" in str(error)


async def test_without_a_key_no_stranger_is_asked() -> None:
    error = await failure(OpenAIChat(endpoint("https://models.example/v1", api_key=SecretStr(""))))
    assert (error.kind, error.retry) == ("auth", False)
    assert "OPENAI_API_KEY" in str(error)
    assert "models.example" in str(error)


async def test_loopback_needs_no_key() -> None:
    with StandIn(Say("ok")) as server:
        assert (await chat(server, api_key=SecretStr("")).attempt(ASK))["text"] == "ok"


async def test_a_key_that_cannot_be_sent_is_said_to_be_wrong() -> None:
    error = await failure(OpenAIChat(endpoint("http://127.0.0.1:9/v1", api_key=SecretStr(f"{KEY}\n“x”"))))
    assert error.kind == "auth"
