"""Chat models behind any OpenAI-compatible endpoint: one request at a time; who asks decides on another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

from typing_extensions import TypedDict

from backends.settings import OutputMode, Price
from retrieval.types import Json, Message


class ChatReply(TypedDict):
    """A reply as plain data. In mode `tool` the text is the call's arguments.

    Token counts are the provider's where `reported`, else estimates. `finish` is "stop", "length" (cut at the
    limit), or "refusal".
    """

    text: str
    finish: Literal["stop", "length", "refusal"]
    input_tokens: int
    output_tokens: int
    reported: bool


@runtime_checkable
class ChatModel(Protocol):
    """A model as a node sees it. `name` and `host` are for messages and traces; no secret is in either."""

    name: str
    host: str
    context_window: int
    max_completion: int
    timeout_s: float
    price: Price | None

    def output_modes(self) -> list[OutputMode]:
        """The ways to ask for JSON that may work here, the one to try first in front; one alone once it is known."""
        ...

    def works(self, mode: OutputMode) -> None:
        """Remembers that this way to ask for JSON works with this endpoint and model, also for later processes."""
        ...

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
        """One request, one reply; never repeated in here. Raises ModelUnavailable."""
        ...
