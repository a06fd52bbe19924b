"""What tests of chat models share: an endpoint's settings, a question, and a failure without a trace of the key."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from standin import StandIn

from backends.errors import ModelUnavailable
from backends.openai_chat import OpenAIChat
from backends.settings import Endpoint
from retrieval.types import Message

KEY = "sk-never-to-be-seen-4711"
ASK: list[Message] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who signs the permit?"}]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"route": {"type": "string", "enum": ["web", "documents"]}},
    "required": ["route"],
    "additionalProperties": False,
}


def endpoint(base_url: str, **said: Any) -> Endpoint:
    usual: dict[str, Any] = {
        "model": "local", "api_key": SecretStr(KEY), "context_window": 4_096, "max_completion": 256, "timeout_s": 5.0,
        "temperature": 0.0, "structured_output": None, "price": None,
    }  # fmt: skip
    return Endpoint(base_url=base_url, **(usual | said))


def chat(server: StandIn, memory: Path | None = None, **said: Any) -> OpenAIChat:
    return OpenAIChat(endpoint(server.base_url, **said), memory)


def ignore(token: str) -> None:
    pass


BOTH_WAYS = pytest.mark.parametrize("on_token", [None, ignore], ids=["whole", "streamed"])


async def failure(model: OpenAIChat, **said: Any) -> ModelUnavailable:
    """The failure, after making sure that the key is nowhere on it and nothing is chained to it."""
    with pytest.raises(ModelUnavailable) as caught:
        await model.attempt(ASK, **said)
    error = caught.value
    for text in (str(error), repr(error), repr(error.args), repr(vars(error)), *traceback.format_exception(error)):
        assert KEY not in text
    assert error.__cause__ is None
    assert error.__context__ is None
    return error
