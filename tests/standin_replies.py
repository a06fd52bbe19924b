"""What the stand-in for an endpoint can do, and what that looks like on the wire."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Say:
    """Replies with a text: as a tool's arguments where a tool is forced, unless `as_content`. No `finish`: none is sent.

    `usage` is (prompt, completion) tokens; True counts them, None leaves them out.
    """

    text: str
    finish: str | None = "stop"
    usage: tuple[int, int] | bool | None = True
    as_content: bool = False
    refusal: str | None = None


@dataclass(frozen=True)
class Status:
    """Refuses with a status; in the form of an OpenAI error unless a `body` is given."""

    code: int
    message: str = "no"
    error_code: str | None = None
    param: str | None = None
    retry_after: int | str | None = None
    body: Any = None


@dataclass(frozen=True)
class Body:
    """Status 200 with any body, whatever was asked: a page, an empty list of choices, half of a JSON object."""

    data: Any
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Cut:
    """Sends the head of a reply, then drops the connection."""

    text: str = "Half a"


@dataclass(frozen=True)
class Hang:
    """Sends the head of a reply (nothing at all where empty and not streaming), then nothing until the client goes."""

    text: str = ""


@dataclass(frozen=True)
class Flood:
    """Never stops talking until the client goes."""

    piece: str = "word " * 200
    pause_s: float = 0


Behaviour = Say | Status | Body | Cut | Hang | Flood
Script = Behaviour | Callable[[dict[str, Any]], Behaviour]


def count(text: str) -> int:
    """Tokens as this endpoint counts them: one for 3.5 ASCII characters, one for any other character."""
    ascii_chars = sum(c.isascii() for c in text)
    return round(ascii_chars / 3.5) + len(text) - ascii_chars


def words(text: str) -> list[str]:
    return [w if i == 0 else " " + w for i, w in enumerate(text.split(" "))] if text else []


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return (
        b"data: "
        + json.dumps({"object": "chat.completion.chunk", "model": "local", "choices": [choice]}).encode()
        + b"\n\n"
    )


def _call(say: Say, asked: dict[str, Any], text: str) -> dict[str, Any] | None:
    """The tool call that says the text, where one was asked for."""
    if say.as_content or not asked.get("tools"):
        return None
    name = asked["tools"][0]["function"]["name"]
    return {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": text}}


def _usage(say: Say, prompt: int) -> dict[str, Any]:
    if not say.usage:
        return {}
    sent, made = (prompt, count(say.text)) if say.usage is True else say.usage
    return {"usage": {"prompt_tokens": sent, "completion_tokens": made, "total_tokens": sent + made}}


def completion(say: Say, asked: dict[str, Any], prompt: int) -> dict[str, Any]:
    call = _call(say, asked, say.text)
    message = {"role": "assistant", "content": None if call else say.text}
    message |= {"tool_calls": [call]} if call else {}
    message |= {"refusal": say.refusal} if say.refusal else {}
    choice = {"index": 0, "message": message, "finish_reason": say.finish}
    return {"id": "chat-1", "object": "chat.completion", "model": "local", "choices": [choice], **_usage(say, prompt)}


def events(say: Say, asked: dict[str, Any], prompt: int) -> Iterator[bytes]:
    yield event({"role": "assistant", "content": ""})
    for word in words(say.text):
        call = _call(say, asked, word)
        yield event({"tool_calls": [call]} if call else {"content": word})
    if say.refusal:
        yield event({"refusal": say.refusal})
    if say.finish:
        yield event({}, say.finish)
    usage = _usage(say, prompt) if asked.get("stream_options", {}).get("include_usage") else {}
    if usage:
        chunk = {"object": "chat.completion.chunk", "model": "local", "choices": [], **usage}
        yield b"data: " + json.dumps(chunk).encode() + b"\n\n"


def embeddings(body: dict[str, Any], dimension: int) -> dict[str, Any]:
    """Bags of words: texts that share words are near each other, the same text has the same vector everywhere."""
    rows = []
    for text in [body["input"]] if isinstance(body["input"], str) else body["input"]:
        row = [0.01] * dimension
        for word in str(text).casefold().split():
            row[int(hashlib.sha256(word.encode()).hexdigest(), 16) % dimension] += 1.0
        rows.append(row)
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
    return {
        "object": "list",
        "model": body.get("model"),
        "data": data,
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
    }
