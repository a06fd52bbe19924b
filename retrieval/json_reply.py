"""JSON out of what a model said around it: reasoning, fences, prose."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.I)
_MARK = re.compile(r"\\.|[\"{}\[\]]", re.S)
_OPENING = re.compile(r"[{\[]")
MOST_SCANNED = 2_000_000  # characters read in vain for the ends of brackets, all of them together


def without_reasoning(text: str) -> str:
    """The reply without <think> blocks, also where only one of the two tags is there.

    Tag by tag, in one pass: a pattern over whole blocks would read to the end again for each tag that is never closed.
    """
    kept: list[str] = []
    position, thinking = 0, False
    for tag in _TAG.finditer(text):
        if tag.group(1):
            if not thinking:  # the template ate the opening tag: all before it was thought
                kept.clear()
            position, thinking = tag.end(), False
        elif not thinking:
            kept.append(text[position : tag.start()])
            thinking = True
    if not thinking:
        kept.append(text[position:])
    return "".join(kept).strip()


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
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    found: list[Any] = []
    position, scanned = 0, 0
    while opened := _OPENING.search(said, position):
        start = opened.start()
        end = _closing(said, start)
        if end < 0 and opened.group() == "{":
            raise ValueError("a brace is opened and never closed")
        if end < 0:  # a bracket of prose, and the rest was read in vain
            scanned, position = scanned + len(said) - start, start + 1
            if scanned > MOST_SCANNED:
                raise ValueError("the reply is full of brackets that are never closed")
            continue
        position = end + 1
        try:
            found.append(json.loads(said[start:position]))
        except ValueError:
            continue  # brackets of prose
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
    kept = [" ".join(whole(item).split())[:longest] for item in items if isinstance(item, str) and item.strip()]
    return list(dict.fromkeys(kept))[:most]


def whole(text: str) -> str:
    """The text without half surrogate pairs, which JSON can escape and no later stage can encode."""
    return text.encode(errors="replace").decode()


def _closing(text: str, start: int) -> int:
    """Where the bracket at `start` is closed, strings aside; -1 where it never is. Reads no character twice."""
    depth, quoted = 0, False
    for match in _MARK.finditer(text, start):
        mark = match.group()
        if mark == '"':
            quoted = not quoted
        elif quoted or mark[0] == "\\":
            continue
        else:
            depth += (mark in "{[") - (mark in "}]")
            if depth == 0:
                return match.start()
    return -1
