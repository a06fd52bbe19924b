"""What is sent to a chat endpoint, and what its reply comes to: pure."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from backends.chat import ChatReply
from backends.settings import Endpoint, OutputMode
from retrieval.tokens import estimate, estimate_messages
from retrieval.types import Json, Message

REPLY = "reply"
TOOL_PROMPT = 120  # tokens of instruction around tools: 60 to 100 in the chat templates seen
CHARS_PER_TOKEN = 8  # what a reply may have for each token that it was allowed; English has about 4
_KEPT = "\n\t\u200c\u200d"  # the joiners are invisible, but letters of some scripts hang on them


@dataclass(frozen=True)
class Piece:
    """A part of a reply, or all of it. `usage` is (input, output) tokens as reported."""

    text: str = ""
    arguments: str = ""
    refusal: str = ""
    finish: str | None = None
    usage: tuple[int, int] | None = None


@dataclass(frozen=True)
class Request:
    """One request. `optional` names the parameters in it that an endpoint may not know; `body` holds what is sent as is."""

    messages: list[Message]
    body: dict[str, Any]
    optional: frozenset[str]
    temperature: float | None
    max_completion: int
    stream: bool
    mode: OutputMode | None

    def estimated_tokens(self) -> int:
        """Of all that is sent. A tool's schema is put into the prompt, with some words around it."""
        tools = estimate(json.dumps(self.body["tools"])) + TOOL_PROMPT if "tools" in self.body else 0
        return estimate_messages(self.messages) + tools

    @property
    def reports_usage(self) -> bool:
        return "stream_options" in self.optional


def make_request(
    endpoint: Endpoint,
    refused: frozenset[str],
    messages: Sequence[Message],
    schema: Json | None,
    mode: OutputMode | None,
    max_completion: int,
    stream: bool,
) -> Request:
    """The request without what the endpoint has refused before."""
    body: dict[str, Any] = {}
    if mode == "json_schema" and schema is not None:
        wanted = {"name": REPLY, "strict": True, "schema": schema}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    elif mode == "tool" and schema is not None:
        function = {"name": REPLY, "description": "Gives the reply.", "parameters": schema}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": REPLY}}
    # mode `json` is asked for in the prompt alone: `json_object` is refused by some endpoints, and breaks enums in others
    optional = set()
    limit = next((name for name in _limit_names(endpoint.host) if name not in refused), None)
    if limit:
        body[limit] = max_completion
        optional.add(limit)
    temperature = None if "temperature" in refused else endpoint.temperature
    if temperature is not None:
        optional.add("temperature")
    if stream and "stream_options" not in refused:
        optional.add("stream_options")
    sent: list[Message] = [{"role": m["role"], "content": _encodable(m["content"])} for m in messages]
    return Request(sent, body, frozenset(optional), temperature, max_completion, stream, mode)


def _limit_names(host: str) -> list[str]:
    """OpenAI's newer models refuse the old name; llama.cpp and others ignore the new one, and never stop."""
    names = ["max_completion_tokens", "max_tokens"]
    newer = host == "api.openai.com" or host.endswith(".openai.azure.com")
    return names if newer else names[::-1]


@dataclass
class Reply:
    """A reply as it comes in."""

    request: Request
    arguments: list[str] = field(default_factory=list)
    content: list[str] = field(default_factory=list)
    refusal: str = ""
    finish: str | None = None
    usage: tuple[int, int] | None = None
    chars: int = 0

    @property
    def runs_on(self) -> bool:
        """Is it a stream that holds more than its tokens can, from an endpoint that knows no limit?"""
        return self.request.stream and self.chars > self.request.max_completion * CHARS_PER_TOKEN

    @property
    def holds_nothing(self) -> bool:
        return not (self.finish or self.chars or self.refusal)

    def take(self, piece: Piece) -> str:
        """Adds a piece. Returns its text as it is to be shown."""
        self.refusal += _readable(piece.refusal)
        self.finish = piece.finish or self.finish
        self.usage = piece.usage or self.usage
        arguments, content = _readable(piece.arguments), _readable(piece.text)
        self.arguments.append(arguments)
        self.content.append(content)
        self.chars += len(arguments) + len(content)
        return arguments or content

    def done(self) -> ChatReply:
        """The whole. A model that was to call the tool may have written its reply instead: that is the text then."""
        text = "".join(self.arguments) or "".join(self.content)
        finish: Literal["stop", "length", "refusal"] = "stop"
        if self.refusal or self.finish == "content_filter":
            text, finish = self.refusal, "refusal"
        elif self.finish == "length" or self.runs_on:
            finish = "length"
        reported = self.usage is not None and self.usage[0] > 0  # zeros stand for "not counted"
        sent, made = self.usage if self.usage and reported else (self.request.estimated_tokens(), estimate(text))
        return ChatReply(text=text, finish=finish, input_tokens=sent, output_tokens=made, reported=reported)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _readable(text: str) -> str:
    """The text without what cannot be seen: controls, direction overrides, tags, lone surrogates."""
    return "".join(c for c in text if c in _KEPT or unicodedata.category(c) not in {"Cc", "Cf", "Cs"})
