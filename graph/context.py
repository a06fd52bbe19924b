"""What a run borrows: saved settings, and the backends. And the one seam through which every backend call passes."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

from langgraph.runtime import Runtime
from pydantic import Field, InstanceOf
from pydantic.json_schema import SkipJsonSchema

from backends.library import Library, default_library
from graph.options import Options
from graph.state import NO_USAGE, State, Usage
from retrieval.types import Json

P = ParamSpec("P")
R = TypeVar("R")


@runtime_checkable
class Clock(Protocol):
    """Wall time and a steady count of seconds."""

    def now(self) -> datetime: ...
    def seconds(self) -> float: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def seconds(self) -> float:
        return time.monotonic()


class Context(Options):
    """Settings that hold for many calls (an assistant's), under those of the call itself, and the backends."""

    workspace: str | None = Field(
        None,
        title="Workspace",
        description="Folder of the workspace.",
        json_schema_extra={"langgraph_nodes": ["plan"]},
    )
    library: SkipJsonSchema[InstanceOf[Library]] = Field(default_factory=default_library, exclude=True)
    clock: SkipJsonSchema[InstanceOf[Clock]] = Field(default_factory=SystemClock, exclude=True)


_DEFAULT: list[Context] = []


def context_of(runtime: Runtime[Context]) -> Context:
    """The run's context; a call without one gets the defaults (langgraph hands over None then)."""
    given: Context | dict[str, Any] | None = runtime.context
    if isinstance(given, Context):
        return given
    if given:
        return Context(**given)
    if not _DEFAULT:
        _DEFAULT.append(Context())
    return _DEFAULT[0]


class OverBudget(Exception):
    """A hard limit is reached; the graph finishes with what it has."""


class Step:
    """One node's visit: times it, counts its backend calls against the budgets, and tells what happened.

    Every effect of a node goes through `call` or `acall`.
    """

    def __init__(self, node: str, state: State, runtime: Runtime[Context]) -> None:
        self.node = node
        self.context = context_of(runtime)
        self.library = self.context.library
        self._write = runtime.stream_writer
        self._before: Usage = state.get("usage") or NO_USAGE
        self._run = state.get("run") or {}
        self._start = self.context.clock.seconds()
        self._counts: dict[str, float] = {}

    def call(self, kind: str, effect: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs one backend call of a kind ("searches", "web_calls", "reads"); raises OverBudget past a limit."""
        self._admit(kind)
        return effect(*args, **kwargs)

    async def acall(self, kind: str, effect: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        self._admit(kind)
        return await effect(*args, **kwargs)

    def late(self) -> bool:
        """Is the turn past its deadline?"""
        deadline = self._run.get("deadline")
        return deadline is not None and self.context.clock.seconds() > float(deadline)

    def _admit(self, kind: str) -> None:
        if kind != "reads" and self.late():
            raise OverBudget("deadline_s")
        self._counts[kind] = self._counts.get(kind, 0) + 1

    def trace(self, **event: Any) -> list[Json]:
        """The event of this visit, told to whoever streams and kept in the trace."""
        record: Json = {"node": self.node, "ms": round(self.elapsed_ms(), 2), **event}
        self._write(record)
        return [record]

    def usage(self) -> Usage:
        """The turn's usage with this visit added."""
        ms = self.elapsed_ms()
        by_node = {name: dict(cost) for name, cost in self._before["by_node"].items()}
        own = by_node.setdefault(self.node, {"visits": 0, "ms": 0.0})
        own["visits"] += 1
        own["ms"] = round(own["ms"] + ms, 2)
        for kind, n in self._counts.items():
            own[kind] = own.get(kind, 0) + n
        return {
            **self._before,
            "searches": self._before["searches"] + int(self._counts.get("searches", 0)),
            "web_calls": self._before["web_calls"] + int(self._counts.get("web_calls", 0)),
            "ms": round(self._before["ms"] + ms, 2),
            "by_node": by_node,
        }

    def elapsed_ms(self) -> float:
        """Since the visit began."""
        return (self.context.clock.seconds() - self._start) * 1000
