"""A chat model behind an OpenAI-compatible endpoint: one request at a time, bounded, silent about the key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from backends.chat import ChatModel, ChatReply
from backends.endpoint_memory import EndpointMemory
from backends.errors import ModelUnavailable
from backends.openai_errors import Cut, Empty, Failed, Malformed, Unusable, explain, refusal_in, refused_parameter
from backends.openai_http import Line
from backends.openai_request import Reply, Request, make_request
from backends.settings import Endpoint, OutputMode, on_loopback
from backends.veil import Veil
from retrieval.types import Json, Message

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

_MODES: list[OutputMode] = ["json_schema", "tool", "json"]
_REFUSES_A_MODE = (400, 422, 500, 501)


class OpenAIChat(ChatModel):
    """The model of an endpoint. `memory` is the file that keeps what was learnt about it; None keeps it in here alone.

    A connection lives for one attempt: one object serves many event loops.
    """

    def __init__(self, endpoint: Endpoint, memory: Path | None = None) -> None:
        self.name = endpoint.model
        self.host = endpoint.host
        self.context_window = endpoint.context_window
        self.max_completion = endpoint.max_completion
        self.timeout_s = endpoint.timeout_s
        self.price = endpoint.price
        self._endpoint = endpoint
        self._memory = EndpointMemory(memory, endpoint.base_url, endpoint.model)

    def output_modes(self) -> list[OutputMode]:
        """As set, else as remembered, else all. Reads a file: not for an event loop."""
        known = self._endpoint.structured_output or self._memory.mode
        return [known] if known else list(_MODES)

    def works(self, mode: OutputMode) -> None:
        """Writes a file: not for an event loop."""
        self._memory.keep_mode(mode)

    async def attempt(
        self,
        messages: Sequence[Message],
        *,
        schema: Json | None = None,
        mode: OutputMode | None = None,
        max_completion: int | None = None,
        timeout_s: float | None = None,
        on_token: Callable[[str], None] | None = None,
    ) -> ChatReply:
        """One request. Kinds of ModelUnavailable: auth, model, rate_limit, quota, server, timeout, unreachable, cut,
        context, bad_request, malformed, too_long, and parameter: asked again, it leaves out what was not supported.
        """
        self._check_key()
        bound = timeout_s or self.timeout_s
        refused = await asyncio.to_thread(lambda: self._memory.refused)
        limit = max_completion or self.max_completion
        request = make_request(self._endpoint, refused, messages, schema, mode, limit, on_token is not None)
        try:
            # imports, certificates and proxies are files, and no fault of the endpoint: before its time runs
            line, model = await asyncio.to_thread(self._open, request)
            async with asyncio.timeout(bound):
                return await self._ask(request, line, model, on_token)
        except TimeoutError as error:
            failure: Exception = error
        except Failed as failed:
            failure = failed.cause
        # raised out here: the client's own error, which may hold the key, is not chained to it
        raise await asyncio.to_thread(self._learn, failure, request, explain(failure, self._endpoint, bound))

    def _check_key(self) -> None:
        key, url = self._endpoint.api_key.get_secret_value(), self._endpoint.base_url
        where = f"the model {self.name} at {self.host}"
        if not key and not on_loopback(url) and "@" not in urlsplit(url).netloc:
            message = f"There is no key for {where}. Set OPENAI_API_KEY, or the variable that api_key_env names."
            raise ModelUnavailable(message, "auth")
        if not key.isascii() or any(c.isspace() or not c.isprintable() for c in key):
            message = f"The key for {where} holds characters that no key has. Copy it anew into OPENAI_API_KEY."
            raise ModelUnavailable(message, "auth")

    async def _ask(
        self, request: Request, line: Line, model: ChatOpenAI, on_token: Callable[[str], None] | None
    ) -> ChatReply:
        from backends.openai_model import pieces  # imported by now

        reply, veil = Reply(request), Veil(self._endpoint.api_key.get_secret_value())
        async with line.http, aclosing(pieces(model, request)) as parts:
            async for part in parts:
                shown = veil(reply.take(part))
                if shown and on_token is not None:
                    on_token(shown)
                if reply.runs_on:
                    break
        if (shown := veil.rest()) and on_token is not None:
            on_token(shown)
        if request.stream and not (reply.finish or reply.runs_on):  # it ended without saying so
            raise Failed(self._why_unfinished(request, line, reply))
        done = reply.done()
        done["text"] = veil.over(done["text"])
        return done

    def _open(self, request: Request) -> tuple[Line, ChatOpenAI]:
        from backends.openai_model import chat_model

        opened = None
        with suppress(ValueError, ImportError, httpx.InvalidURL):  # of the base URL or a proxy, or a proxy's package
            line = Line(self._endpoint.base_url, request.stream, request.max_completion)
            opened = line, chat_model(self._endpoint, line.http, request)
        if opened is None:
            raise Failed(Unusable())
        return opened

    def _why_unfinished(self, request: Request, line: Line, reply: Reply) -> Exception:
        """Some servers refuse a prompt that is too long by closing the stream at once, and some that serve one request
        at a time end it when the next one comes."""
        if reply.holds_nothing and line.received and not line.began:
            return Malformed()
        if line.received or request.estimated_tokens() + request.max_completion <= self.context_window:
            return Cut()
        return Empty()

    def _learn(self, failure: Exception, request: Request, problem: ModelUnavailable) -> ModelUnavailable:
        """Remembers a parameter that is not supported, and forgets a way to ask for JSON that no longer works."""
        refused = refusal_in(failure)
        if refused is None:
            return problem
        parameter = refused_parameter(refused, request.optional)
        if parameter:
            self._memory.keep_refused(parameter)
            message = f"{self.name} at {self.host} does not support {parameter}. Asked again, it is left out."
            return ModelUnavailable(message, "parameter", retry=True)
        sorted_as_refusal = problem.kind in ("bad_request", "server") and refused.status in _REFUSES_A_MODE
        if sorted_as_refusal and request.mode is not None and request.mode == self._memory.mode:
            self._memory.keep_mode(None)  # the endpoint has changed
        return problem
