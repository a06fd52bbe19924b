"""What a client sees while a question runs: each decision, in order; and of messages, the answer alone."""

from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

QUESTION = "What does PX-311 mean?"
DECISIONS = ["plan", "preflight", "retrieve", "grade", "answer", "finish"]


def parts(client: SyncLangGraphClient, mode: Any, **request: Any) -> list[Any]:
    """The stream without its first part, which names the run."""
    first, *rest = client.runs.stream(None, "agent", input=request or {"question": QUESTION}, stream_mode=mode)
    assert first.event == "metadata"
    return rest


def test_each_decision_as_it_falls(client: SyncLangGraphClient) -> None:
    seen = parts(client, "custom")
    assert {part.event for part in seen} == {"custom"}
    assert [part.data["event"] for part in seen] == DECISIONS
    plan, _, retrieve, grade, answer, _ = (part.data for part in seen)
    assert plan["plan"]["route"] == "documents"
    assert retrieve["hits"]
    assert grade["verdict"] == "sufficient"
    assert answer["citations"][0]["source"] == "pumps.md"


@pytest.mark.parametrize(
    "request_",
    [{"question": QUESTION}, {"messages": [{"role": "user", "content": QUESTION}]}],
    ids=["question", "messages"],
)
def test_messages_are_the_answer_alone(client: SyncLangGraphClient, request_: Any) -> None:
    seen = [part.data[0] for part in parts(client, ["messages-tuple"], **request_)]
    assert {message["type"] for message in seen} <= {"ai", "AIMessageChunk"}
    assert "".join(message["content"] for message in seen) == (
        "PX-311 means that the inlet pressure has fallen below 0.8 bar. [1]"
    )


def test_updates_come_node_by_node(client: SyncLangGraphClient) -> None:
    names = [name for part in parts(client, "updates") for name in part.data]
    assert names == ["begin_turn", "plan", "preflight", "retrieve", "grade", "generate", "finish"]


def test_values_end_with_the_answer(client: SyncLangGraphClient) -> None:
    seen = parts(client, "values")
    assert "0.8 bar" in seen[-1].data["result"]["answer"]
    assert set(seen[-1].data) == {"messages", "result"}


def test_several_modes_at_once(client: SyncLangGraphClient) -> None:
    seen = parts(client, ["custom", "updates", "values", "messages-tuple"])
    assert {part.event for part in seen} == {"custom", "updates", "values", "messages"}
    assert [part.data["event"] for part in seen if part.event == "custom"] == DECISIONS
    decided = next(n for n, part in enumerate(seen) if part.event == "custom" and part.data["event"] == "answer")
    told = next(n for n, part in enumerate(seen) if part.event == "messages")
    assert decided < told
