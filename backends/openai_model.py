"""langchain-openai's chat model as it is used here, read piece by piece. Slow to import: in a thread, at first need."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from ssl import SSLError
from typing import Any, cast

import httpx
import openai
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_openai import ChatOpenAI

from backends.endpoint_memory import without_login
from backends.openai_errors import Failed, Malformed, Refused, TooLong, said_in
from backends.openai_request import Piece, Request
from backends.settings import Endpoint

# LangGraph looks for the one, LangGraph's server for the other: without them a node's inner tokens would reach clients
_HIDDEN = ["nostream", "langsmith:nostream"]

# what the two clients raise on replies that are not as they should be; cancellation is none of these
_FAILURES = (
    *(openai.OpenAIError, httpx.HTTPError, httpx.InvalidURL, SSLError, Refused, Malformed, TooLong),
    *(ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError),
)


class _Chat(ChatOpenAI):
    """Keeps what the endpoint says on refusing in a stream, which is dropped otherwise."""

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], default_chunk_class: type, base_generation_info: dict[str, Any] | None
    ) -> ChatGenerationChunk | None:
        made = super()._convert_chunk_to_generation_chunk(chunk, default_chunk_class, base_generation_info)
        for choice in chunk.get("choices") or []:
            refusal = (choice.get("delta") or {}).get("refusal")
            if made is not None and isinstance(refusal, str):
                made.message.additional_kwargs["refusal"] = refusal
        return made


def chat_model(endpoint: Endpoint, http: httpx.AsyncClient, request: Request) -> ChatOpenAI:
    """The model behind one request. Whatever could turn it into another, environment variables too, is pinned."""
    key = endpoint.api_key.get_secret_value() or "none"

    async def api_key() -> str:  # given as a coroutine, it keeps the unused synchronous client from being built
        return key

    return _Chat(
        model=endpoint.model,
        base_url=without_login(endpoint.base_url),
        api_key=api_key,
        http_async_client=http,
        openai_proxy=None,
        max_retries=0,
        timeout=None,
        stream_chunk_timeout=None,
        temperature=request.temperature,
        # as it is: given by name, `response_format` makes the client parse, and raise on a reply cut at its limit
        extra_body=request.body,
        stream_usage=request.reports_usage,
        disable_streaming=not request.stream,  # else a listener in the graph turns one kind of request into the other
        use_responses_api=False,
        cache=False,
        tags=_HIDDEN,
    )


async def pieces(model: ChatOpenAI, request: Request) -> AsyncGenerator[Piece, None]:
    """The reply as it arrives. Raises nothing but Failed, with nothing chained to it."""
    failure: Exception | None = None
    begun = False
    messages = [dict(message) for message in request.messages]
    try:
        if request.stream:
            stream = model.astream(messages)
            async with aclosing(cast(AsyncGenerator[AIMessageChunk, None], stream)) as chunks:
                async for chunk in chunks:
                    begun = True
                    yield _piece(chunk)
        else:
            yield _piece(await model.ainvoke(messages))
    except openai.APIConnectionError as error:
        failure = error
    except openai.APIError as error:
        failure = _sent_in_stream(error)
    except _FAILURES as error:
        # a stream without a single piece is a ValueError of the client's; what it means depends on what was sent
        failure = None if request.stream and not begun and isinstance(error, ValueError) else error
    if failure is not None:
        raise Failed(failure)


def _sent_in_stream(error: openai.APIError) -> Refused:
    """An error in the middle of a stream, as the refusal that it is."""
    body = error.body
    code = body.get("code") if isinstance(body, dict) else None
    return Refused(code if isinstance(code, int) and 400 <= code < 600 else 500, None, said_in(body))


def _piece(message: BaseMessage) -> Piece:
    refusal = message.additional_kwargs.get("refusal")
    finish = message.response_metadata.get("finish_reason")
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    return Piece(
        text=str(message.text),
        arguments=_arguments(message),
        refusal=refusal if isinstance(refusal, str) else "",
        finish=finish if isinstance(finish, str) else None,
        usage=(usage["input_tokens"], usage["output_tokens"]) if usage else None,
    )


def _arguments(message: BaseMessage) -> str:
    """The first tool call's arguments as JSON, or as the model wrote them where they are none."""
    if isinstance(message, AIMessageChunk):
        return "".join(call["args"] or "" for call in message.tool_call_chunks if not call["index"])
    if isinstance(message, AIMessage) and message.tool_calls:
        return json.dumps(message.tool_calls[0]["args"], ensure_ascii=False)
    if isinstance(message, AIMessage) and message.invalid_tool_calls:
        return message.invalid_tool_calls[0]["args"] or ""
    return ""
