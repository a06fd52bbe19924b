"""State survives a checkpoint: plain data after every node, resumable, and no heavier than its conversation."""

import json
from typing import Any

import pytest
from fakes import FakeWeb, SteadyClock
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore

from backends.library import Library
from graph.build import build_graph
from graph.context import Context

ZINC: Any = {
    "url": "https://metals.example/zinc",
    "title": "Zinc",
    "content": "Zinc closed at 2,410.",
    "date": "2026-03-31",
    "score": 1.0,
}
BY_ROUTE = {
    "documents": "How heavy is the Q4 pump?",
    "web": "What is zinc trading at this morning?",
    "none": "Hello",
    "abstain": "Who wrote the symphony about glaciers?",
    "tables": "What is the average price in the prices table?",
}
TURNS, HALF = 30, 15
WORDS = "The pump is checked by its keeper before the valve opens and after the seal has cooled down again. "


@pytest.fixture
def connected(workspace: Any, embedder: Any) -> Context:
    return Context(library=Library(workspace, embedder, FakeWeb([ZINC])), clock=SteadyClock())


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


@pytest.mark.parametrize("route", BY_ROUTE)
async def test_every_value_after_every_node_is_plain_data(connected: Context, route: str) -> None:
    agent: Any = build_graph(checkpointer=InMemorySaver(), store=InMemoryStore())
    await agent.ainvoke({"question": BY_ROUTE[route]}, thread(route), context=connected)
    snapshots = [s async for s in agent.aget_state_history(thread(route))]
    assert len(snapshots) > 4
    for snapshot in snapshots:
        values = {k: v for k, v in snapshot.values.items() if k != "messages"}
        assert json.loads(json.dumps(values)) == values
        for message in snapshot.values["messages"]:
            assert json.loads(json.dumps(message.model_dump())) == message.model_dump()


@pytest.mark.parametrize(
    ("route", "after"),
    [
        ("documents", "retrieve"),
        ("documents", "grade"),
        ("web", "search_web"),
        ("none", "plan"),
        ("abstain", "correct"),
    ],
)
async def test_a_run_that_stopped_halfway_goes_on_to_the_same_answer(
    connected: Context, route: str, after: str
) -> None:
    kept = InMemorySaver()
    question = {"question": BY_ROUTE[route]}
    whole: Any = await build_graph().ainvoke(question, context=connected)  # type: ignore[call-overload]
    first: Any = build_graph(checkpointer=kept)
    stopped = await first.ainvoke(question, thread("t"), context=connected, interrupt_after=[after])
    assert "result" not in stopped
    resumed: Any = await build_graph(checkpointer=kept).ainvoke(None, thread("t"), context=connected)  # type: ignore[call-overload]
    for part in ("answer", "status", "citations", "grade", "corrections", "plan"):
        one, other = whole["result"][part], resumed["result"][part]
        if part == "plan":
            one, other = ({**p, "planning_ms": 0} for p in (one, other))
        assert one == other
    nodes = [event["node"] for event in resumed["result"]["trace"]]
    assert nodes == [event["node"] for event in whole["result"]["trace"]]


async def test_a_thread_weighs_what_its_conversation_weighs(ingest: Any) -> None:
    """Thirty turns of six passages each: nothing of them stays in the messages, and growth stays linear."""
    files = {f"unit-{n}.md": f"# Unit {n}\n\nUnit {n} weighs {n} tonnes. " + WORDS * 18 for n in range(1, TURNS + 1)}
    context = Context(library=ingest(files), clock=SteadyClock())
    kept = InMemorySaver()
    agent: Any = build_graph(checkpointer=kept)
    stored: list[int] = []
    last: list[int] = []
    for n in range(1, TURNS + 1):
        state = await agent.ainvoke(
            {"question": f"How many tonnes does unit {n} weigh?", "top_k": 6}, thread("t"), context=context
        )
        hits = next(event["hits"] for event in state["result"]["trace"] if event["node"] == "retrieve")
        assert len(hits) == 6
        stored.append(weight(kept))
        last.append(len(kept.serde.dumps_typed((await agent.aget_state(thread("t"))).values)[1]))
    assert stored[TURNS - 1] < 3 * stored[HALF - 1]
    assert last[TURNS - 1] < 2 * last[HALF - 1]
    passage = WORDS * 2
    assert not any(passage in json.dumps(m.model_dump()) for m in state["messages"])


def weight(kept: InMemorySaver) -> int:
    """Bytes that a saver holds: checkpoints, channel values and pending writes."""
    checkpoints = sum(
        len(entry[0][1]) for spaces in kept.storage.values() for saved in spaces.values() for entry in saved.values()
    )
    blobs = sum(len(blob[1]) for blob in kept.blobs.values())
    writes = sum(len(write[2][1]) for pending in kept.writes.values() for write in pending.values())
    return checkpoints + blobs + writes
