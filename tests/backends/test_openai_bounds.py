"""The chat model within a program: bounded, cancelled, off the event loop, silent about the key."""

from __future__ import annotations

import asyncio
import logging
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from asking import ASK, BOTH_WAYS, KEY, chat, endpoint, failure, ignore
from blockbuster import blockbuster_ctx
from langgraph.graph import END, START, StateGraph
from standin import Body, Cut, Flood, Hang, Say, StandIn, Status
from standin_replies import Behaviour
from typing_extensions import TypedDict

from backends.chat import ChatModel
from backends.errors import ModelUnavailable
from backends.openai_chat import OpenAIChat
from backends.openai_http import REPLY_BYTES
from backends.settings import Price
from retrieval.types import Message

pytestmark = pytest.mark.usefixtures("no_proxy")


async def test_an_endless_stream_is_stopped_at_its_limit() -> None:
    with StandIn(Flood()) as server:
        reply = await chat(server).attempt(ASK, max_completion=100, on_token=ignore)
        assert await asyncio.to_thread(server.gone.wait, 1)
    assert reply["finish"] == "length"
    assert 800 < len(reply["text"]) < 2_500


async def test_an_endless_reply_is_not_read_to_its_end() -> None:
    with StandIn(Flood("x" * 2**16)) as server:
        error = await failure(chat(server))
        assert await asyncio.to_thread(server.gone.wait, 1)
    assert (error.kind, error.retry) == ("too_long", False)


async def test_a_stream_of_empty_pieces_is_not_read_for_ever() -> None:
    with StandIn(Flood("\x00" * 2**14)) as server:
        error = await failure(chat(server), max_completion=64, on_token=ignore)
    assert error.kind == "too_long"


async def test_a_long_reply_within_the_bound_is_read() -> None:
    text = "word " * (REPLY_BYTES // 10)
    with StandIn(Say(text)) as server:
        assert (await chat(server).attempt(ASK))["text"] == text


async def test_an_endless_refusal_is_known_by_its_status() -> None:
    with StandIn(Status(401, body="x" * 2**20)) as server:
        assert (await failure(chat(server))).kind == "auth"


@BOTH_WAYS
async def test_a_cancelled_attempt_hangs_up_at_once(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Hang("Half a")) as server:
        attempt = asyncio.create_task(chat(server).attempt(ASK, on_token=on_token))
        while not server.requests:
            await asyncio.sleep(0.01)
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        assert await asyncio.to_thread(server.gone.wait, 1)


def test_it_is_a_chat_model() -> None:
    price = Price(input=1, output=2)
    model = OpenAIChat(endpoint("https://user:secret@models.example/v1", price=price))
    assert isinstance(model, ChatModel)
    assert (model.name, model.host, model.price) == ("local", "models.example", price)
    assert (model.context_window, model.max_completion, model.timeout_s) == (4_096, 256, 5.0)


def test_one_object_serves_many_event_loops() -> None:
    with StandIn(Say("ok")) as server:
        model = chat(server)
        for _ in range(3):
            assert asyncio.run(model.attempt(ASK))["text"] == "ok"


async def test_many_attempts_at_once_do_not_mix() -> None:
    with StandIn(lambda body: Say(body["messages"][0]["content"])) as server:
        model = chat(server)
        asked: list[list[Message]] = [[{"role": "user", "content": f"number {i}"}] for i in range(12)]
        replies = await asyncio.gather(*(model.attempt(m, on_token=ignore) for m in asked))
    assert [r["text"] for r in replies] == [m[0]["content"] for m in asked]


@BOTH_WAYS
async def test_it_does_not_block_the_event_loop(on_token: Callable[[str], None] | None, tmp_path: Path) -> None:
    with StandIn([Status(400, "Unsupported: temperature"), Say("ok")]) as server, blockbuster_ctx("backends"):
        model = chat(server, tmp_path / "endpoints.json")
        await failure(model, on_token=on_token)
        assert (await model.attempt(ASK, on_token=on_token))["text"] == "ok"


async def test_certificates_and_imports_are_read_off_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    readers: list[threading.Thread] = []

    def certificates() -> ssl.SSLContext:
        readers.append(threading.current_thread())
        return ssl.create_default_context()

    monkeypatch.setattr("backends.openai_http._certificates", certificates)
    with StandIn(Say("ok")) as server:
        await chat(server).attempt(ASK)
    assert len(readers) == 1
    assert readers[0] is not threading.current_thread()


def test_importing_it_does_not_import_langchain_openai() -> None:
    code = "import backends.openai_chat, sys; sys.exit('langchain_openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class _Asked(TypedDict):
    reply: str


@BOTH_WAYS
async def test_its_tokens_do_not_leak_into_the_graphs_messages(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say("not for the person")) as server:
        model = chat(server)

        async def ask(state: _Asked) -> _Asked:
            return {"reply": (await model.attempt(ASK, on_token=on_token))["text"]}

        graph = StateGraph(_Asked).add_node("ask", ask).add_edge(START, "ask").add_edge("ask", END).compile()
        seen = [item async for item in graph.astream({"reply": ""}, stream_mode=["messages", "values"])]
    assert [mode for mode, _ in seen if mode == "messages"] == []
    assert server.chats[0].body["stream"] is (on_token is not None)


@BOTH_WAYS
async def test_an_error_of_who_listens_is_theirs(on_token: Callable[[str], None] | None) -> None:
    def broken(token: str) -> None:
        raise KeyError("mine")

    with StandIn(Say("ok")) as server, pytest.raises(KeyError, match="mine"):
        await chat(server).attempt(ASK, on_token=broken)


@BOTH_WAYS
@pytest.mark.parametrize("behaviour", [Status(401), Status(500), Say("ok"), Cut(), Body("<p>", "text/html")])
async def test_the_key_is_in_no_log(
    behaviour: Behaviour, on_token: Callable[[str], None] | None, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("", "openai", "httpx", "httpcore", "langchain"):
        caplog.set_level(logging.DEBUG, logger=name)
    with StandIn(behaviour) as server:
        login = server.base_url.replace("//", "//perquire:pass-0815@")
        for model in (chat(server), OpenAIChat(endpoint(login))):
            with suppress(ModelUnavailable):
                await model.attempt(ASK, on_token=on_token)
    assert caplog.records
    for record in caplog.records:
        assert KEY not in record.getMessage() + repr(vars(record))
        assert "pass-0815" not in record.getMessage() + repr(vars(record))
    assert server.requests[1].headers["Authorization"].startswith("Basic ")


def test_the_key_is_not_on_the_object() -> None:
    model = OpenAIChat(endpoint("http://127.0.0.1:9/v1"))
    assert KEY not in repr(model) + repr(vars(model)) + str(model)


async def test_a_proxy_is_not_asked_for_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn(Status(502)) as proxy, StandIn(Say("ok")) as server:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url)
        assert (await chat(server).attempt(ASK))["text"] == "ok"
    assert not proxy.requests


async def test_a_proxy_is_asked_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn(Say("through the proxy")) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        reply = await OpenAIChat(endpoint("http://models.example/v1")).attempt(ASK)
    assert reply["text"] == "through the proxy"
    assert proxy.requests[0].path == "http://models.example/v1/chat/completions"


async def test_a_proxy_that_is_none_is_said_to_be_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://127.0.0.1:1")
    error = await failure(OpenAIChat(endpoint("http://models.example/v1")))
    assert (error.kind, error.retry) == ("unreachable", False)
    assert "proxy" in str(error)


async def test_the_environment_does_not_turn_it_to_another_address(monkeypatch: pytest.MonkeyPatch) -> None:
    with StandIn(Status(500)) as other, StandIn(Say("ok")) as server:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_PROXY"):
            monkeypatch.setenv(name, other.base_url)
        assert (await chat(server).attempt(ASK))["text"] == "ok"
    assert not other.requests
