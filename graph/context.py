"""What a run borrows: saved settings, and the backends. And the one seam through which every backend call passes."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any, ParamSpec, Protocol, TypeVar, runtime_checkable

from langgraph.runtime import Runtime
from pydantic import Field, InstanceOf
from pydantic.json_schema import SkipJsonSchema

from backends.chat import ChatModel, ChatReply
from backends.library import Library, default_library
from backends.workspace import Workspace
from graph.options import TIER_CALLS, Options
from graph.seam import Live, OverBudget, Seam
from graph.state import NO_USAGE, State, Usage
from retrieval.tokens import estimate_messages
from retrieval.types import Json, Message

P = ParamSpec("P")
R = TypeVar("R")


@runtime_checkable
class Clock(Protocol):
    """Wall time and a steady count of seconds."""

    def now(self) -> datetime: ...
    def seconds(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def seconds(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


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
    seam: SkipJsonSchema[InstanceOf[Seam]] = Field(default_factory=Live, exclude=True)


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


MODEL_SHARE = 0.6  # ⚙ of the time left that one request may take: what needs no model still ends the question in time


class Step:
    """One node's visit: times it, counts its backend calls against the budgets, and tells what happened.

    Every effect of a node goes through `call`, `acall` or `attempt`.
    """

    def __init__(self, node: str, state: State, runtime: Runtime[Context]) -> None:
        self.node = node
        self.context = context_of(runtime)
        self.library = self.context.library
        self._seam = self.context.seam
        self._write = runtime.stream_writer
        self._before: Usage = state.get("usage") or NO_USAGE
        self._said = state.get("said") or {}
        self._run = state.get("run") or {}
        self._start = self.context.clock.seconds()
        self._counts: dict[str, float] = {}
        self.warnings: list[str] = []  # failures that the visit got over, for the node to pass on

    def call(self, kind: str, effect: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs one backend call of a kind ("searches", "web_calls", "reads"); raises OverBudget past a limit."""
        self._admit(kind)
        given: R = self._seam.call(self.node, effect, args, kwargs)
        return given

    async def acall(self, kind: str, effect: Callable[P, Awaitable[R]], *args: P.args, **kwargs: P.kwargs) -> R:
        self._admit(kind)
        given: R = await self._seam.acall(self.node, effect, args, kwargs)
        return given

    async def attempt(self, model: ChatModel, messages: Sequence[Message], **how: Any) -> ChatReply:
        """One request to a model, counted whether or not it is answered.

        Raises OverBudget before it is sent where calls, tokens, money or time do not suffice for it, else ModelUnavailable.
        """
        how["max_completion"], how["timeout_s"] = self._allowance(model, messages)
        reply = await self.acall("model_calls", model.attempt, list(messages), **how)
        self._count("input_tokens", reply["input_tokens"])
        self._count("output_tokens", reply["output_tokens"])
        if model.price:
            self._count("cost", model.price.of(reply["input_tokens"], reply["output_tokens"]))
        return reply

    def workspace(self) -> Workspace:
        """The turn's workspace. Raises NoWorkspace where nothing was ingested."""
        self.call("reads", self._is_there)
        return self.library.workspace(self._said.get("workspace"))

    def new_id(self) -> str:
        return self.call("reads", _new_id)

    def model_calls_left(self) -> int:
        """How many more requests the turn may make."""
        said = self._said.get("max_model_calls")
        allowed = TIER_CALLS[self._said.get("tier") or "balanced"] if said is None else int(said)
        return int(allowed - self._spent("model_calls"))

    def late(self, after: float = 0.0) -> bool:
        """Is the turn past its deadline, or will it be after so many seconds?"""
        args = (after,) if after else ()
        return self._deadline() is not None and bool(self._seam.call(self.node, self._is_late, args, {}))

    def _deadline(self) -> float | None:
        deadline = self._run.get("deadline")
        return None if deadline is None else float(deadline)

    def _is_late(self, after: float = 0.0) -> bool:
        deadline = self._deadline()
        return deadline is not None and self.context.clock.seconds() + after > deadline

    def _is_there(self) -> bool:
        self.library.workspace(self._said.get("workspace"))
        return True

    def _seconds_left(self) -> float:
        deadline = self._deadline()
        return float("inf") if deadline is None else max(0.1, deadline - self.context.clock.seconds())

    def _admit(self, kind: str) -> None:
        if kind != "reads" and self.late():
            raise OverBudget("deadline_s")
        if kind == "model_calls" and self.model_calls_left() < 1:
            raise OverBudget("max_model_calls")
        self._count(kind, 1)

    def _allowance(self, model: ChatModel, messages: Sequence[Message]) -> tuple[int, float]:
        """Tokens that the reply may have, and seconds that it may take; raises OverBudget where a limit leaves none."""
        prompt, completion = estimate_messages(messages), model.max_completion
        if (tokens := self._said.get("max_tokens")) is not None:
            completion = min(
                completion, int(tokens - self._spent("input_tokens") - self._spent("output_tokens") - prompt)
            )
            if completion < 1:
                raise OverBudget("max_tokens")
        if (money := self._said.get("max_cost")) is not None:
            if model.price is None:
                raise OverBudget(f"max_cost (no price is configured for {model.name})")
            left = money - self._spent("cost") - model.price.of(prompt, 0)
            if left <= 0:
                raise OverBudget("max_cost")
            if model.price.output:
                completion = min(completion, int(left / model.price.of(0, 1)))
            if completion < 1:
                raise OverBudget("max_cost")
        return completion, min(model.timeout_s, MODEL_SHARE * self._seconds_left())

    def _spent(self, kind: str) -> float:
        before: Any = self._before
        return float(before.get(kind) or 0) + self._counts.get(kind, 0)

    def _count(self, kind: str, n: float) -> None:
        self._counts[kind] = self._counts.get(kind, 0) + n

    def tell(self, **event: Any) -> None:
        """An event for whoever streams, while the visit goes on; it is not kept."""
        self._write({"node": self.node, **event})

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
        cost = self._spent("cost")
        return {
            "model_calls": int(self._spent("model_calls")),
            "input_tokens": int(self._spent("input_tokens")),
            "output_tokens": int(self._spent("output_tokens")),
            "cost": cost if "cost" in self._counts or self._before["cost"] is not None else None,
            "searches": int(self._spent("searches")),
            "web_calls": int(self._spent("web_calls")),
            "ms": round(self._before["ms"] + ms, 2),
            "by_node": by_node,
        }

    def elapsed_ms(self) -> float:
        """Since the visit began."""
        return (self.context.clock.seconds() - self._start) * 1000


def _new_id() -> str:
    return uuid.uuid4().hex
