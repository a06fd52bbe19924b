"""JSON out of what a model said around it: reasoning, fences, prose."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_THOUGHT = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.S | re.I)
_CLOSED_ONLY = re.compile(r"^.*</think(?:ing)?>", re.S | re.I)  # the template ate the opening tag
_NEVER_CLOSED = re.compile(r"<think(?:ing)?>.*$", re.S | re.I)


def without_reasoning(text: str) -> str:
    """The reply without <think> blocks, also where only one of the two tags is there."""
    return _NEVER_CLOSED.sub("", _CLOSED_ONLY.sub("", _THOUGHT.sub("", text))).strip()


def parse_reply(text: str) -> Any:
    """The last whole JSON object in the reply, else the last other JSON value. Raises ValueError where there is none.

    A brace that opens and is never closed makes the reply broken, whatever stands inside it.

    >>> parse_reply('<think>{"a": 0}</think> Here: ```json\\n{"a": 1}\\n``` Does that help?')
    {'a': 1}
    """
    said = without_reasoning(text)
    if not said:
        raise ValueError("the reply is empty")
    try:
        return json.loads(said)
    except ValueError:
        pass  # JSON with something around it, or none
    found: list[Any] = []
    position = 0
    while (start := _next(said, position, "{[")) >= 0:
        try:
            value, position = json.JSONDecoder().raw_decode(said, start)
            found.append(value)
        except ValueError:
            end = _closing(said, start)
            if end < 0 and said[start] == "{":
                raise ValueError("a brace is opened and never closed") from None
            position = max(start, end) + 1  # braces of prose
        except RecursionError:
            raise ValueError("the JSON is nested too deeply") from None
    objects = [value for value in found if isinstance(value, dict)]
    if objects or found:
        return (objects or found)[-1]
    raise ValueError("the reply holds no JSON")


def known(value: Any, choices: Sequence[str], aliases: dict[str, str] | None = None) -> str | None:
    """The choice that a model meant: whatever the case, with spaces for underscores, or as one word among others.

    None where it names no choice, or more than one.
    """
    if not isinstance(value, str):
        return None
    words = re.findall(r"[a-z]+", value.casefold())
    names = {"_".join(words), *words}
    meant = {choice for choice in choices if choice in names}
    if not meant:
        meant = {target for name, target in (aliases or {}).items() if name in names and target in choices}
    return meant.pop() if len(meant) == 1 else None


def texts(value: Any, most: int, longest: int) -> list[str]:
    """A list of texts from a list or one text; blank ones, repeated ones and what is no text are left out."""
    items = value if isinstance(value, list) else [value]
    kept = [" ".join(item.split())[:longest] for item in items if isinstance(item, str) and item.strip()]
    return list(dict.fromkeys(kept))[:most]


def _next(text: str, start: int, which: str) -> int:
    places = [p for p in (text.find(c, start) for c in which) if p >= 0]
    return min(places, default=-1)


def _closing(text: str, start: int) -> int:
    """Where the bracket at `start` is closed, strings aside; -1 where it never is."""
    depth = 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|[{}\[\]]', text[start:], re.S):
        mark = match.group()
        depth += (mark in "{[") - (mark in "}]")
        if depth == 0 and mark in "}]":
            return start + match.start()
    return -1
