"""A thread keeps its conversation and nothing else; whatever comes in, the state stays plain data."""

import json
from typing import Any

import pytest
from fakes import FakeWeb, SteadyClock
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from backends.errors import BadRequest
from backends.library import Library
from graph.build import build_graph
from graph.context import Context

THREAD: Any = {"configurable": {"thread_id": "t"}}


async def ask(agent: Any, context: Context, thread: Any = None, **request: Any) -> Any:
    state = await agent.ainvoke(request, thread, context=context)
    return state["result"]


async def test_second_turn_starts_fresh(context: Context) -> None:
    agent = build_graph(checkpointer=InMemorySaver())
    first = await ask(agent, context, THREAD, question="How heavy is the Q4 pump?", max_corrections=0)
    second = await ask(agent, context, THREAD, question="By whom is the store kept?")
    third = await ask(agent, context, THREAD, question="Who wrote the symphony about glaciers?")
    assert "58 kg" in first["answer"]
    assert "Omar Quill" in second["answer"]
    assert "58" not in second["answer"]
    assert (third["status"], third["citations"]) == ("abstained", [])
    nodes = [event["node"] for event in third["trace"]]
    assert nodes.count("begin_turn") <= 1
    assert nodes.count("plan") == 1
    assert len(third["corrections"]) >= 1  # an option of the first turn (no corrections) is not heard in the third
    state = await agent.aget_state(THREAD)
    assert [m.type for m in state.values["messages"]] == ["human", "ai"] * 3


async def test_messages_alone_suffice_as_string_or_blocks(context: Context) -> None:
    agent = build_graph()
    for content in ("What does PX-311 mean?", [{"type": "text", "text": "What does PX-311 mean?"}]):
        result = await ask(agent, context, messages=[HumanMessage(content)])
        assert result["question"] == "What does PX-311 mean?"
        assert "0.8 bar" in result["answer"]


async def test_follow_up_is_searched_with_its_subject(context: Context) -> None:
    agent = build_graph(checkpointer=InMemorySaver())
    await ask(agent, context, THREAD, question="Who founded the workshop?")
    result = await ask(agent, context, THREAD, question="Where was she born?")
    texts = [s["text"] for s in result["plan"]["searches"]]
    assert texts[0] == "Where was she born?"  # the asker's own words are always searched too
    assert any("Ilse Varga" in text for text in texts)
    assert "Tarmouth" in result["answer"]
    fresh = await ask(agent, context, THREAD, question="How heavy is the Q9 pump?")
    assert not any("Varga" in s["text"] for s in fresh["plan"]["searches"])
    assert "91 kg" in fresh["answer"]


async def test_every_value_is_plain_data(context: Context) -> None:
    agent = build_graph(checkpointer=InMemorySaver())
    for question in (
        "How heavy is the Q4 pump?",
        "Who sold the moon?",
        "Hello",
        "What is today's price of tin?",
    ):
        await agent.ainvoke({"question": question}, THREAD, context=context)
        async for snapshot in agent.aget_state_history(THREAD):
            values = {k: v for k, v in snapshot.values.items() if k != "messages"}
            json.dumps(values)


async def test_decisions_are_streamed(context: Context) -> None:
    events = [
        event
        async for event in build_graph().astream(
            {"question": "What does PX-311 mean?"}, context=context, stream_mode="custom"
        )
    ]
    assert [e["event"] for e in events] == ["plan", "preflight", "retrieve", "grade", "answer", "finish"]


async def test_no_context_gets_the_defaults(monkeypatch: pytest.MonkeyPatch, workspace: Any, library: Library) -> None:
    monkeypatch.setattr("graph.context._DEFAULT", [Context(library=library, clock=SteadyClock())])
    state = await build_graph().ainvoke({"question": "What does PX-311 mean?"})
    assert state["result"]["status"] == "answered"


@pytest.mark.parametrize("question", ["", "  \n ", "x" * 100_000])
async def test_a_question_that_cannot_be_taken(context: Context, question: str) -> None:
    with pytest.raises(BadRequest, match=r"empty: ask|ingest long texts"):
        await ask(build_graph(), context, question=question)


async def test_a_loop_ends_by_its_own_bound(context: Context) -> None:
    """Weak evidence for ever: the corrections are counted in state, and no retrieval runs twice."""
    state = await build_graph().ainvoke(
        {"question": "Which comet did the tailor paint?", "max_corrections": 5},
        context=context,
        config={"recursion_limit": 60},
    )
    result = state["result"]
    retrieved = [e for e in result["trace"] if e["node"] == "retrieve"]
    assert result["status"] == "abstained"
    assert 1 < len(retrieved) <= 3
    done = {(tuple(leg["query"] for leg in e["legs"]), tuple(hit["id"] for hit in e["hits"])) for e in retrieved}
    assert len(done) == len(retrieved)
    assert len(result["corrections"]) == len(retrieved) - 1


@pytest.mark.parametrize("limit", [10, 13, 100])
async def test_a_callers_step_limit_is_kept(context: Context, limit: int) -> None:
    state = await build_graph().ainvoke(
        {"question": "Which comet did the tailor paint?"}, context=context, config={"recursion_limit": limit}
    )
    assert state["result"]["status"] == "abstained"


async def test_an_instruction_in_a_passage_is_text(context: Context) -> None:
    result = await ask(build_graph(), context, question="Which seal fits the Q4 pump?")
    assert "Brightline" in result["answer"]
    assert result["answer"].strip() != "PWNED"
    assert result["status"] == "answered"


async def test_deadline_ends_the_search_and_says_so(library: Library) -> None:
    context = Context(library=library, clock=SteadyClock(tick=10.0))
    result = await ask(build_graph(), context, question="How heavy is the Q4 pump?", deadline_s=5.0)
    assert result["status"] == "abstained"
    assert any("deadline_s" in w for w in result["warnings"])
    assert result["usage"]["searches"] == 0


async def test_web_is_used_only_where_the_plan_wants_it(workspace: Any, embedder: Any) -> None:
    web = FakeWeb(
        [
            {
                "url": "https://metals.example/zinc",
                "title": "Zinc",
                "content": "Zinc closed at 2,410.",
                "date": "2026-03-31",
                "score": 1.0,
            }
        ]
    )
    context = Context(library=Library(workspace, embedder, web), clock=SteadyClock())
    agent = build_graph()
    outside = await ask(agent, context, question="What is zinc trading at this morning?")
    assert outside["web"]["used"]
    assert [(c["kind"], c["url"]) for c in outside["citations"]] == [("web", "https://metals.example/zinc")]
    assert "2,410" in outside["answer"]
    denied = await ask(agent, context, question="What is zinc trading at this morning?", web="deny")
    assert denied["status"] == "abstained"
    assert "permit" in denied["answer"]
    inside = await ask(agent, context, question="Who wrote the symphony about glaciers?")
    assert not inside["web"]["used"]  # weak is not web
    assert len(web.queries) == 1


async def test_hybrid_without_documents_is_the_web_half_alone(tmp_path: Any, embedder: Any) -> None:
    web = FakeWeb(
        [
            {
                "url": "https://metals.example/tin",
                "title": "Tin",
                "content": "Tin rose.",
                "date": "2026-03-31",
                "score": 1.0,
            }
        ]
    )
    context = Context(library=Library(tmp_path / "none", embedder, web), clock=SteadyClock())
    result = await ask(build_graph(), context, question="What moved the price of tin?", route="hybrid")
    assert [c["kind"] for c in result["citations"]] == ["web"]
    denied = await ask(build_graph(), context, question="What moved the price of tin?", route="hybrid", web="deny")
    assert denied["status"] == "abstained"
    assert "perquire ingest" in denied["answer"]


async def test_a_dead_web_ends_in_an_abstention_that_names_it(workspace: Any, embedder: Any) -> None:
    context = Context(
        library=Library(workspace, embedder, FakeWeb(error="Tavily refused the key.")), clock=SteadyClock()
    )
    result = await ask(build_graph(), context, question="What is zinc trading at this morning?")
    assert result["status"] == "abstained"
    assert "Tavily refused the key." in result["answer"]
