"""Answers that a model writes: what leaves is cited, stands in its passage, and is said to be what it is."""

import json
from pathlib import Path
from typing import Any

import pytest
from asking import endpoint
from fakes import FakeChat, SteadyClock
from langgraph.checkpoint.memory import InMemorySaver
from standin import Say, StandIn, Status

from backends.embeddings import WordLlama
from backends.library import Library
from backends.openai_chat import OpenAIChat
from graph.build import build_graph
from graph.context import Context

QUESTION = "How heavy is the Q4 pump?"


@pytest.fixture
def agent() -> Any:
    return build_graph(checkpointer=InMemorySaver())


def with_model(workspace: Path, embedder: WordLlama, server: StandIn, **more: Any) -> Context:
    model = OpenAIChat(endpoint(server.base_url, structured_output="json", **more))
    return Context(library=Library(workspace, embedder, models={"answering": model}), clock=SteadyClock())


async def ask(agent: Any, context: Context, question: str = QUESTION, **options: Any) -> Any:
    thread = {"configurable": {"thread_id": "t"}}
    return (await agent.ainvoke({"question": question, **options}, thread, context=context))["result"]


def revisions(*texts: str) -> str:
    return json.dumps({"sentences": list(texts)})


async def test_a_written_answer_opens_on_its_passage(agent: Any, workspace: Path, embedder: WordLlama) -> None:
    with StandIn([Say("The Q4 pump weighs 58 kg [1].")]) as server:
        result = await ask(agent, with_model(workspace, embedder, server))
    assert (result["mode"], result["answer"]) == ("model", "The Q4 pump weighs 58 kg. [1]")
    assert result["citations"][0]["source"] == "pumps.md"
    assert "58 kg" in result["citations"][0]["text"]
    assert result["usage"]["model_calls"] == 1
    assert result["usage"]["by_node"]["generate"]["input_tokens"] > 0


async def test_a_citation_that_is_not_there_is_removed_and_counted(
    agent: Any, workspace: Path, embedder: WordLlama
) -> None:
    with StandIn([Say("The Q4 pump weighs 58 kg [1][99].")]) as server:
        result = await ask(agent, with_model(workspace, embedder, server))
    assert "[99]" not in result["answer"]
    (event,) = [e for e in result["trace"] if e["node"] == "generate"]
    assert event["citations_removed"] == ["99"]


async def test_an_invented_figure_is_revised(agent: Any, workspace: Path, embedder: WordLlama) -> None:
    wrong, right = "The Q4 pump weighs 63 kg [1].", "The Q4 pump weighs 58 kg [1]."
    with StandIn([Say(wrong), Say(revisions(right))]) as server:
        result = await ask(agent, with_model(workspace, embedder, server))
    assert "58 kg" in result["answer"]
    assert "63" not in result["answer"]
    assert result["usage"]["model_calls"] == 2


async def test_what_stays_unsupported_is_left_out_and_said(agent: Any, workspace: Path, embedder: WordLlama) -> None:
    said = "The Q4 pump weighs 58 kg [1]. The Q4 pump was painted violet by monks in Lisbon [1]."
    with StandIn([Say(said), Say(revisions(""))]) as server:
        result = await ask(agent, with_model(workspace, embedder, server))
    assert result["answer"] == "The Q4 pump weighs 58 kg. [1]"
    assert any("1 of 2 sentences" in w for w in result["warnings"])


async def test_tier_fast_revises_nothing(agent: Any, workspace: Path, embedder: WordLlama) -> None:
    with StandIn([Say("The Q4 pump weighs 58 kg [1]. It was built in 1911 [1].")]) as server:
        result = await ask(agent, with_model(workspace, embedder, server), tier="fast")
    assert "1911" not in result["answer"]
    assert result["usage"]["model_calls"] == 1


@pytest.mark.parametrize("behaviour", [Status(401), Status(400), Say(""), Say("The moon is made of 12 cheeses [1].")])
async def test_without_a_usable_answer_it_is_extractive_and_says_why(
    agent: Any, workspace: Path, embedder: WordLlama, behaviour: Any
) -> None:
    with StandIn([behaviour]) as server:
        result = await ask(agent, with_model(workspace, embedder, server), tier="fast")
    assert (result["mode"], result["status"]) == ("extractive", "answered")
    assert "58 kg" in result["answer"]
    assert any("extractive" in w for w in result["warnings"])


async def test_server_errors_are_asked_again_within_the_budget(
    agent: Any, workspace: Path, embedder: WordLlama
) -> None:
    with StandIn([Status(500), Say("The Q4 pump weighs 58 kg [1].")]) as server:
        result = await ask(agent, with_model(workspace, embedder, server))
    assert (result["mode"], result["usage"]["model_calls"]) == ("model", 2)
    with StandIn([Status(500)]) as server:
        result = await ask(agent, with_model(workspace, embedder, server), max_model_calls=2)
        assert len(server.chats) == 2
    assert result["usage"]["model_calls"] == 2
    assert any("max_model_calls" in w for w in result["warnings"])


async def test_nothing_in_the_passages_is_an_abstention(agent: Any, workspace: Path, embedder: WordLlama) -> None:
    with StandIn([Say("NOT_IN_PASSAGES")]) as server:
        result = await ask(agent, with_model(workspace, embedder, server))
    assert (result["status"], result["citations"]) == ("abstained", [])
    assert "Closest passages" in result["answer"]


async def test_tokens_leave_without_reasoning_or_unknown_marks(
    agent: Any, workspace: Path, embedder: WordLlama
) -> None:
    streamed: list[str] = []
    said = "<think>Is it [7]?</think>The Q4 pump weighs 58 kg [1][99]."
    with StandIn([Say(said)]) as server:
        thread = {"configurable": {"thread_id": "t"}}
        context = with_model(workspace, embedder, server)
        ids = set()
        async for message, about in agent.astream(
            {"question": QUESTION}, thread, context=context, stream_mode="messages"
        ):
            assert about["langgraph_node"] in {"generate", "finish"}
            ids.add(message.id)
            if message.type == "AIMessageChunk":
                streamed.append(message.content)
    assert len(ids) == 1
    assert len(streamed) > 1
    assert "".join(streamed).replace(" ", "") == "TheQ4pumpweighs58kg[1]."


@pytest.mark.parametrize(("window", "completion", "turns"), [(4_096, 512, 4), (8_192, 1_024, 20)])
async def test_every_prompt_fits_its_window(
    agent: Any, ingest: Any, embedder: WordLlama, window: int, completion: int, turns: int
) -> None:
    files = {f"part{n}.md": f"# Part {n}\n\n" + f"The K7 valve {n} weighs 41 kg. " * 90 for n in range(20)}
    files["zh.md"] = "# 阀门\n\n" + "K7 阀门重量为四十一公斤。" * 250
    library = ingest(files)
    with StandIn([Say("The K7 valve 1 weighs 41 kg [1].")]) as server:
        model = OpenAIChat(endpoint(server.base_url, context_window=window, max_completion=completion))
        context = Context(library=Library(library.default, embedder, models={"answering": model}), clock=SteadyClock())
        for _ in range(turns):
            result = await ask(agent, context, "How heavy is the K7 valve 1?", top_k=20)
        assert result["status"] in {"answered", "partial"}
        for request in server.chats:
            characters = sum(len(m["content"]) for m in request.body["messages"])
            assert characters / 3.5 + completion <= window
            assert "How heavy is the K7 valve 1?" in request.body["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("question", "language", "said"),
    [
        ("¿Cada cuánto se vacía el estanque de truchas?", "Spanish", "Se vacía cada tercera primavera [1]."),
        ("鳟鱼池多久排空一次？", "Chinese", "每三年春天排空一次。[1]"),
        ("How often is the trout basin emptied?", "English", "The trout basin is emptied every third spring [1]."),
    ],
)
async def test_the_answer_has_the_language_of_the_question(
    agent: Any, ingest: Any, embedder: WordLlama, question: str, language: str, said: str
) -> None:
    library = ingest({"ponds.md": "# Pond care\n\nThe trout basin is emptied every third spring.\n"})
    plan = {"route": "documents", "document_queries": ["How often is the trout basin emptied?"]}
    model = FakeChat(lambda prompt: plan if "<manifest>" in prompt else said)
    models: Any = {"planning": model, "answering": model}
    context = Context(library=Library(library.default, embedder, models=models), clock=SteadyClock())
    result = await ask(agent, context, question)
    assert result["mode"] == "model"
    assert said.rstrip("[1].。 ") in result["answer"]
    assert [c["source"] for c in result["citations"]] == ["ponds.md"]
    assert "every third spring" in result["citations"][0]["text"]
    assert f"- Write in {language}." in model.prompts[-1][0]["content"]
