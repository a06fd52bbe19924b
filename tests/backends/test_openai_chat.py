"""A reply and a request, as they are on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from asking import ASK, BOTH_WAYS, KEY, SCHEMA, chat, endpoint, ignore
from standin import Say, StandIn

pytestmark = pytest.mark.usefixtures("no_proxy")


@BOTH_WAYS
async def test_a_reply_is_text_with_the_tokens_that_the_endpoint_counted(
    on_token: Callable[[str], None] | None,
) -> None:
    with StandIn(Say("The duty engineer signs.", usage=(21, 6))) as server:
        reply = await chat(server).attempt(ASK, on_token=on_token)
    assert reply == {
        "text": "The duty engineer signs.", "finish": "stop", "input_tokens": 21, "output_tokens": 6, "reported": True,
    }  # fmt: skip


@BOTH_WAYS
@pytest.mark.parametrize("usage", [None, (0, 0)])
async def test_tokens_are_estimated_where_none_are_reported(
    usage: tuple[int, int] | None, on_token: Callable[[str], None] | None
) -> None:
    with StandIn(Say("The duty engineer signs.", usage=usage)) as server:
        reply = await chat(server).attempt(ASK, on_token=on_token)
    assert not reply["reported"]
    assert reply["input_tokens"] > 10
    assert reply["output_tokens"] > 3


async def test_tokens_arrive_in_order_and_make_up_the_text() -> None:
    seen: list[str] = []
    with StandIn(Say("The duty\x00 engineer signs.")) as server:
        reply = await chat(server).attempt(ASK, on_token=seen.append)
    assert len(seen) == 4
    assert "".join(seen) == reply["text"] == "The duty engineer signs."


@BOTH_WAYS
async def test_a_reply_may_be_empty(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say("")) as server:
        reply = await chat(server).attempt(ASK, on_token=on_token)
    assert (reply["text"], reply["finish"]) == ("", "stop")


@BOTH_WAYS
async def test_a_reply_cut_at_the_limit_says_so(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say("The duty", finish="length")) as server:
        assert (await chat(server).attempt(ASK, on_token=on_token))["finish"] == "length"


@BOTH_WAYS
@pytest.mark.parametrize("say", [Say("", refusal="I will not."), Say("", finish="content_filter")])
async def test_a_refusal_is_a_reply_of_its_own_kind(say: Say, on_token: Callable[[str], None] | None) -> None:
    with StandIn(say) as server:
        reply = await chat(server).attempt(ASK, on_token=on_token)
    assert reply["finish"] == "refusal"
    assert reply["text"] == (say.refusal or "")


@BOTH_WAYS
async def test_what_cannot_be_seen_is_taken_out_of_a_reply(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say("a\x00b\u202ec\ud83d\n\td")) as server:
        assert (await chat(server).attempt(ASK, on_token=on_token))["text"] == "abc\n\td"


async def test_lone_surrogates_in_a_prompt_are_sent_as_question_marks() -> None:
    with StandIn(Say("ok")) as server:
        await chat(server).attempt([{"role": "user", "content": "a\ud83db"}])
    assert server.chats[0].body["messages"][0]["content"] == "a?b"


async def test_a_request_carries_the_key_the_model_the_messages_and_the_limits() -> None:
    with StandIn(Say("ok")) as server:
        await chat(server, temperature=0.3).attempt(ASK, max_completion=77)
    (request,) = server.requests
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.body == {"model": "local", "messages": ASK, "max_tokens": 77, "temperature": 0.3, "stream": False}


async def test_a_streamed_request_asks_for_usage() -> None:
    with StandIn(Say("ok")) as server:
        await chat(server).attempt(ASK, on_token=ignore)
    assert server.chats[0].body["stream_options"] == {"include_usage": True}


async def test_no_temperature_is_sent_where_none_is_set() -> None:
    with StandIn(Say("ok")) as server:
        await chat(server, temperature=None).attempt(ASK)
    assert "temperature" not in server.chats[0].body


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("https://api.openai.com/v1", "max_completion_tokens"),
        ("https://mine.openai.azure.com/openai/v1", "max_completion_tokens"),
        ("https://notopenai.azure.com/v1", "max_tokens"),
        ("http://127.0.0.1:8080/v1", "max_tokens"),
    ],
)
def test_the_limit_has_the_name_that_the_host_knows(host: str, name: str) -> None:
    from backends.openai_request import make_request

    body = make_request(endpoint(host), frozenset(), ASK, None, None, 9, False).body
    assert body == {name: 9}


@BOTH_WAYS
async def test_json_schema_mode_sends_the_schema_strictly(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say('{"route": "web"}')) as server:
        reply = await chat(server).attempt(ASK, schema=SCHEMA, mode="json_schema", on_token=on_token)
    assert reply["text"] == '{"route": "web"}'
    wanted = {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": SCHEMA}}
    assert server.chats[0].body["response_format"] == wanted


@BOTH_WAYS
async def test_tool_mode_forces_a_call_and_its_arguments_are_the_text(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say('{"route": "web"}')) as server:
        reply = await chat(server).attempt(ASK, schema=SCHEMA, mode="tool", on_token=on_token)
    assert json.loads(reply["text"]) == {"route": "web"}
    body = server.chats[0].body
    assert body["tools"][0]["function"]["parameters"] == SCHEMA
    assert body["tool_choice"] == {"type": "function", "function": {"name": "reply"}}


@BOTH_WAYS
async def test_a_model_that_writes_instead_of_calling_the_tool_is_heard(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say('{"route": "web"}', as_content=True)) as server:
        reply = await chat(server).attempt(ASK, schema=SCHEMA, mode="tool", on_token=on_token)
    assert reply["text"] == '{"route": "web"}'


@BOTH_WAYS
async def test_arguments_that_are_no_json_are_the_text_as_they_are(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say('{"route": "we')) as server:
        reply = await chat(server).attempt(ASK, schema=SCHEMA, mode="tool", on_token=on_token)
    assert reply["text"] == '{"route": "we'


@BOTH_WAYS
async def test_a_json_schema_reply_cut_at_its_limit_is_returned(on_token: Callable[[str], None] | None) -> None:
    with StandIn(Say('{"route": "we', finish="length")) as server:
        reply = await chat(server).attempt(ASK, schema=SCHEMA, mode="json_schema", on_token=on_token)
    assert (reply["text"], reply["finish"]) == ('{"route": "we', "length")


async def test_json_mode_asks_in_the_prompt_alone() -> None:
    with StandIn(Say("{}")) as server:
        await chat(server).attempt(ASK, schema=SCHEMA, mode="json")
    assert not {"response_format", "tools"} & set(server.chats[0].body)


@BOTH_WAYS
@pytest.mark.parametrize("refusal", ["", f"I will not say {KEY}."])
async def test_a_key_that_a_reply_repeats_is_neither_shown_nor_returned(
    refusal: str, on_token: Callable[[str], None] | None
) -> None:
    seen: list[str] = []
    with StandIn(Say(f"The key is {KEY} and it is secret.", refusal=refusal)) as server:
        reply = await chat(server).attempt(ASK, on_token=seen.append if on_token else None)
    assert KEY not in reply["text"]
    assert KEY not in "".join(seen)
    assert "[key]" in reply["text"]
