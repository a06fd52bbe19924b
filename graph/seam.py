"""The seam through which every backend call passes: live, recorded, or replayed from a recording.

A call is known by its node, the effect's name and a digest of its arguments, not by its place in a sequence: what runs
side by side may come in any order.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, is_dataclass
from typing import Any, Protocol, runtime_checkable

from backends import errors
from backends.errors import PerquireError
from retrieval.types import Json

ABOUT = 200  # characters of a call's arguments that a recording shows to a reader


class OverBudget(Exception):
    """A hard limit is reached; the graph finishes with what it has."""


class Diverged(PerquireError):
    """A replayed run asks for what its recording does not hold."""

    def __init__(self, node: str, effect: str, about: str) -> None:
        super().__init__(f"{node} asks for {effect}({about}), which the recording does not hold.")
        self.node, self.effect = node, effect


@runtime_checkable
class Seam(Protocol):
    """Runs one effect of a node, or gives what it gave before. `on_token` is told the text of a streamed reply."""

    def call(self, node: str, effect: Callable[..., Any], args: tuple[Any, ...], kwargs: Json) -> Any: ...

    async def acall(
        self, node: str, effect: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: Json
    ) -> Any: ...


class Live:
    """Runs it, keeps nothing."""

    def call(self, node: str, effect: Callable[..., Any], args: tuple[Any, ...], kwargs: Json) -> Any:
        return effect(*args, **kwargs)

    async def acall(self, node: str, effect: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: Json) -> Any:
        return await effect(*args, **kwargs)


class Recorder:
    """Runs it, and keeps what it gave or how it failed. `calls` is plain data."""

    def __init__(self) -> None:
        self.calls: list[Json] = []

    def call(self, node: str, effect: Callable[..., Any], args: tuple[Any, ...], kwargs: Json) -> Any:
        entry = _entry(node, effect, args, kwargs)
        try:
            value = effect(*args, **kwargs)
        except (PerquireError, OverBudget) as error:
            self._failed(entry, error)
            raise
        return self._gave(entry, value)

    async def acall(self, node: str, effect: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: Json) -> Any:
        entry = _entry(node, effect, args, kwargs)
        try:
            value = await effect(*args, **kwargs)
        except (PerquireError, OverBudget) as error:
            self._failed(entry, error)
            raise
        return self._gave(entry, value)

    def _gave(self, entry: Json, value: Any) -> Any:
        self.calls.append({**entry, "gave": plain(value)})
        return value

    def _failed(self, entry: Json, error: Exception) -> None:
        self.calls.append({**entry, "failed": type(error).__name__, "says": str(error), "with": dict(vars(error))})


class Replayer:
    """Gives what the recording holds and runs nothing. Raises Diverged for a call that it does not hold.

    Equal calls of one node are given in the order in which they were recorded; the last one answers further ones.
    """

    def __init__(self, calls: list[Json]) -> None:
        self._held: dict[tuple[str, str, str], deque[Json]] = {}
        for entry in calls:
            self._held.setdefault((entry["node"], entry["effect"], entry["digest"]), deque()).append(entry)

    def call(self, node: str, effect: Callable[..., Any], args: tuple[Any, ...], kwargs: Json) -> Any:
        asked = _entry(node, effect, args, kwargs)
        held = self._held.get((asked["node"], asked["effect"], asked["digest"]))
        if not held:
            raise Diverged(node, asked["effect"], asked["about"])
        entry = held.popleft() if len(held) > 1 else held[0]
        if "failed" in entry:
            raise _error(entry)
        value = restored(entry["gave"])
        if on_token := kwargs.get("on_token"):
            on_token(value["text"])
        return value

    async def acall(self, node: str, effect: Callable[..., Awaitable[Any]], args: tuple[Any, ...], kwargs: Json) -> Any:
        return self.call(node, effect, args, kwargs)


def digest(value: Any) -> str:
    """SHA-256 of a plain value, the same in every process."""
    text = json.dumps(plain(value), ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def plain(value: Any) -> Any:
    """A value as JSON that `restored` turns back: tuples and maps with other keys than strings are marked as such."""
    if value is None or isinstance(value, str | bool | int) or type(value) is float:
        return value
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: plain(v) for key, v in value.items()}
        return {"$pairs": [[plain(k), plain(v)] for k, v in value.items()]}
    if isinstance(value, tuple):
        return {"$tuple": [plain(v) for v in value]}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {"$" + type(value).__name__: plain(asdict(value))}
    if hasattr(value, "item"):  # a number of numpy's
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be recorded: a backend's reply is plain data")


def restored(value: Any) -> Any:
    if isinstance(value, list):
        return [restored(v) for v in value]
    if isinstance(value, dict):
        if "$tuple" in value:
            return tuple(restored(v) for v in value["$tuple"])
        if "$pairs" in value:
            return {restored(k): restored(v) for k, v in value["$pairs"]}
        return {k: restored(v) for k, v in value.items()}
    return value


def _entry(node: str, effect: Callable[..., Any], args: tuple[Any, ...], kwargs: Json) -> Json:
    said = {k: v for k, v in kwargs.items() if not callable(v) and k != "timeout_s"}  # time is no part of what is asked
    about = ", ".join([*(_short(a) for a in args), *(f"{k}={_short(v)}" for k, v in said.items())])
    name = getattr(effect, "__name__", type(effect).__name__)
    return {"node": node, "effect": name, "digest": digest([list(args), said]), "about": about[:ABOUT]}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= ABOUT // 2 else text[: ABOUT // 2] + "…"


def _error(entry: Json) -> Exception:
    if entry["failed"] == OverBudget.__name__:
        return OverBudget(entry["says"])
    kind: type[PerquireError] = getattr(errors, entry["failed"])
    error = kind(entry["says"])
    vars(error).update(entry["with"])
    return error
