"""Stand-ins with a memory, for what is slow, paid, or outside."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from backends.chat import ChatModel, ChatReply
from backends.errors import WebUnavailable
from backends.settings import OutputMode, Price
from backends.tavily import WebResult
from retrieval.types import Json, Message


class SteadyClock:
    """A clock whose seconds are a count of how often they were read."""

    def __init__(self, tick: float = 0.001) -> None:
        self.ticks = 0
        self.tick = tick

    def now(self) -> datetime:
        return datetime(2026, 3, 31, 12, 0, tzinfo=UTC)

    def seconds(self) -> float:
        self.ticks += 1
        return self.ticks * self.tick

    async def sleep(self, seconds: float) -> None:
        self.ticks += round(seconds / self.tick)


class FakeWeb:
    """A web of fixed results; remembers what was asked. With an `error` it is down."""

    def __init__(self, results: list[WebResult] | None = None, error: str = "") -> None:
        self.results = results or []
        self.error = error
        self.queries: list[str] = []

    async def search(self, query: str, limit: int = 5) -> list[WebResult]:
        self.queries.append(query)
        if self.error:
            raise WebUnavailable(self.error)
        return self.results[:limit]


Scripted = str | dict[str, Any] | Exception | Callable[[str], Any]


class FakeChat(ChatModel):
    """A model of scripted replies, the last one for ever; remembers what it was asked. Every reply costs 100 and 10 tokens.

    A dict is said as JSON, an exception is raised, a function of the prompt's whole text chooses one of these.
    """

    name, host = "fake", "nowhere"
    context_window, max_completion, timeout_s = 8_192, 512, 5.0

    def __init__(self, *script: Scripted, modes: Sequence[OutputMode] = ("json",), price: Price | None = None) -> None:
        self.script, self.modes, self.price = script, list(modes), price
        self.finish: Any = "stop"
        self.prompts: list[list[Message]] = []
        self.asked: list[Json] = []

    def output_modes(self) -> list[OutputMode]:
        return list(self.modes)

    def works(self, mode: OutputMode) -> None:
        self.modes = [mode]

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
        chosen: Any = self.script[min(len(self.prompts), len(self.script) - 1)]
        self.prompts.append(list(messages))
        self.asked.append({"schema": schema, "mode": mode, "max_completion": max_completion, "timeout_s": timeout_s})
        if callable(chosen):
            chosen = chosen("\n".join(m["content"] for m in messages))
        if isinstance(chosen, Exception):
            raise chosen
        text = chosen if isinstance(chosen, str) else json.dumps(chosen)
        return {"text": text, "finish": self.finish, "input_tokens": 100, "output_tokens": 10, "reported": True}

    @property
    def prompt(self) -> str:
        """The text of the first request."""
        return "\n".join(m["content"] for m in self.prompts[0])
