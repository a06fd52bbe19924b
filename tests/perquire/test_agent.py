"""The embedded agent answers from plain code, from async code, and from plain code inside a running loop."""

import contextvars
import threading
from pathlib import Path
from typing import Any

import pytest
from asking import endpoint
from standin import Say, StandIn

from backends.embeddings import WordLlama
from backends.errors import BadRequest
from backends.library import Library
from backends.openai_chat import OpenAIChat
from perquire import show
from perquire.agent import Agent

QUESTION = "How heavy is the Q4 pump?"
ROWS: list[tuple[str, Any]] = [(QUESTION, {}), ("", {}), (QUESTION, {"tier": "huge"}), ("What does PX-311 mean?", {})]


@pytest.fixture
def agent(library: Library) -> Agent:
    return Agent(library=library)


def check_batch(answers: list[Any]) -> None:
    assert [isinstance(a, BadRequest) for a in answers] == [False, True, True, False]
    assert "58 kg" in answers[0]["answer"]
    assert 'Option "tier"' in str(answers[2])
    assert "0.8 bar" in answers[3]["answer"]


def test_from_plain_code(agent: Agent) -> None:
    assert "58 kg" in agent.ask(QUESTION)["answer"]
    assert agent.plan(QUESTION)["route"] == "documents"
    check_batch(list(agent.ask_many(ROWS)))


async def test_from_plain_code_inside_a_running_loop(agent: Agent) -> None:
    """As in a notebook, whose cells run on a loop."""
    assert "58 kg" in agent.ask(QUESTION)["answer"]
    assert agent.plan(QUESTION)["route"] == "documents"
    check_batch(list(agent.ask_many(ROWS)))


async def test_from_async_code(agent: Agent) -> None:
    assert "58 kg" in (await agent.aask(QUESTION))["answer"]
    assert (await agent.aplan(QUESTION))["route"] == "documents"


async def test_a_refusal_keeps_its_kind_inside_a_running_loop(agent: Agent) -> None:
    with pytest.raises(BadRequest, match='Option "top_k"'):
        agent.ask(QUESTION, top_k=0)
    with pytest.raises(BadRequest, match="empty"):
        agent.plan(" ")


async def test_context_variables_of_the_caller_are_seen_inside(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="")
    seen: list[str] = []
    whole = agent.aask

    async def noting(question: str, **options: Any) -> Any:
        seen.append(variable.get())
        return await whole(question, **options)

    monkeypatch.setattr(agent, "aask", noting)
    variable.set("mine")
    agent.ask(QUESTION)
    assert seen == ["mine"]


async def test_a_stream_ends_with_the_answer_object(agent: Agent) -> None:
    events = [event async for event in agent.astream(QUESTION)]
    assert [e["event"] for e in events[:-1]] == ["plan", "preflight", "retrieve", "grade", "answer", "finish"]
    assert "58 kg" in events[-1]["result"]["answer"]


def test_a_stream_ends_with_the_answer_that_ask_gives(agent: Agent) -> None:
    events = list(agent.stream(QUESTION))
    assert [e["event"] for e in events if "event" in e][:2] == ["plan", "preflight"]
    assert events[-1]["result"]["answer"] == agent.ask(QUESTION)["answer"]


def test_a_model_s_answer_is_streamed_piece_by_piece_and_said_again_where_it_was_changed(
    workspace: Path, embedder: WordLlama, capsys: pytest.CaptureFixture[str]
) -> None:
    with StandIn([Say("The Q4 pump weighs 58 kg [1].\nIt was painted by Rubens in 1612 [1].")]) as server:
        model = OpenAIChat(endpoint(server.base_url, structured_output="json"))
        agent = Agent(library=Library(workspace, embedder, models={"answering": model}))
        events = list(agent.stream(QUESTION))
        show.streamed(agent.stream(QUESTION))
    pieces = [e["token"] for e in events if "token" in e]
    assert len(pieces) > 2
    assert "Rubens" in "".join(pieces)
    assert events[-1]["result"]["answer"] == "The Q4 pump weighs 58 kg. [1]"
    shown = capsys.readouterr().out
    first, _, second = shown.partition("checked against the passages:")
    assert "Rubens" in first
    assert "58 kg. [1]" in second
    assert "Rubens" not in second.split("receipt")[0]


async def test_stream_works_where_a_loop_runs(agent: Agent) -> None:
    events = list(agent.stream("How heavy is the Q4 pump?"))
    assert events[0].keys() != {"result"}
    assert "58 kg" in events[-1]["result"]["answer"]


async def test_a_stream_that_is_left_early_ends_what_runs(agent: Agent) -> None:
    before = set(threading.enumerate())
    events = agent.stream("How heavy is the Q4 pump?")
    next(events)
    mine = {t for t in threading.enumerate() if t not in before and t.name.startswith("ThreadPoolExecutor")}
    assert mine
    events.close()
    assert not mine & set(threading.enumerate())
