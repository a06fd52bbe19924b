"""The graph for embedding: ask from async or plain code, whole or as a stream of decisions."""

from __future__ import annotations

import asyncio
import contextvars
import copy
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.messages import AIMessageChunk

from backends.errors import BadRequest
from backends.library import Library, default_library
from graph.build import build_graph, build_planner
from graph.context import Context
from graph.options import Options
from graph.seam import Seam
from graph.state import Plan, Result
from retrieval.types import Json

T = TypeVar("T")
CONCURRENT = 4  # questions of a batch that run side by side, unless said otherwise


class Agent:
    """Answers questions over one workspace. Options are those of `graph.options.Options`; unknown ones are ignored."""

    def __init__(self, workspace: str | Path | None = None, library: Library | None = None) -> None:
        self.graph = build_graph()
        self.planner = build_planner()
        self.context = Context(
            workspace=str(workspace) if workspace else None,
            library=library or default_library(),
        )

    def recorded_by(self, seam: Seam) -> Agent:
        """The same agent, whose backend calls all pass that seam."""
        other = copy.copy(self)
        other.context = self.context.model_copy(update={"seam": seam})
        return other

    async def aask(self, question: str, **options: Any) -> Result:
        """The answer object. Raises PerquireError where the question or an option cannot be taken."""
        state = await self.graph.ainvoke(request_of(question, options), context=self.context)  # type: ignore[call-overload]
        result: Result = state["result"]
        return result

    async def astream(self, question: str, **options: Any) -> AsyncIterator[Json]:
        """Each decision as it falls, and `{"token": …}` for each piece of an answer that a model writes.

        The last event has the key `result`: its answer is the checked one, which may say less than the pieces did.
        """
        request = request_of(question, options)
        async for mode, event in self.graph.astream(  # type: ignore[call-overload]
            request, context=self.context, stream_mode=["custom", "messages", "values"]
        ):
            if mode == "custom":
                yield event
            elif mode == "messages":
                if isinstance(event[0], AIMessageChunk):
                    yield {"token": event[0].text}
            elif "result" in event:
                yield {"result": event["result"]}

    def ask(self, question: str, **options: Any) -> Result:
        """`aask` for plain code, also where an event loop runs already, as in a notebook."""
        return _finished(self.aask(question, **options))

    def stream(self, question: str, **options: Any) -> Iterator[Json]:
        """`astream` for plain code, also where an event loop runs already."""
        events = self.astream(question, **options)

        async def following() -> Json | None:
            return await anext(events, None)

        # a thread of its own throughout: in this one a loop may be running, now or by the time of the next event
        runner = asyncio.Runner()
        run = contextvars.copy_context().run
        with ThreadPoolExecutor(max_workers=1) as aside:
            try:
                while (event := aside.submit(run, runner.run, following()).result()) is not None:
                    yield event
            finally:
                aside.submit(runner.close).result()

    async def aplan(self, question: str, **options: Any) -> Plan:
        """The plan alone; nothing is retrieved."""
        state = await self.planner.ainvoke(request_of(question, options), context=self.context)  # type: ignore[call-overload]
        decided: Plan = state["decided"]
        return decided

    def plan(self, question: str, **options: Any) -> Plan:
        """`aplan` for plain code."""
        return _finished(self.aplan(question, **options))

    def ask_many(
        self, rows: Iterable[tuple[str, Json]], concurrency: int = CONCURRENT
    ) -> Iterator[Result | BadRequest]:
        """Answers in the order of the questions, some side by side; a bad row gives its error in its place."""
        pending = list(rows)
        for start in range(0, len(pending), concurrency):
            yield from _finished(self._batch(pending[start : start + concurrency]))

    async def _batch(self, rows: list[tuple[str, Json]]) -> list[Result | BadRequest]:
        async def one(question: str, options: Json) -> Result | BadRequest:
            try:
                return await self.aask(question, **options)
            except BadRequest as error:
                return error

        return await asyncio.gather(*(one(q, o) for q, o in rows))


def _finished(work: Coroutine[Any, Any, T]) -> T:
    """Runs it to its end: here, or in a thread with a loop of its own where this thread's loop is taken."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as aside:
        return aside.submit(contextvars.copy_context().run, asyncio.run, work).result()


def request_of(question: str, options: Json) -> Json:
    """The graph's input. Raises BadRequest that names the option and what it may be."""
    return {"question": question, **Options(**options).said()}
