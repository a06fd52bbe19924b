"""The server and a model's endpoint that comes and goes: no start waits for it, and no question dies of it."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from booting import GRAPH, Server, boot
from langgraph_sdk import get_sync_client
from standin import Say, StandIn

QUESTION = "How heavy is the Q4 pump?"
REASON = "The model planned this, word for word."
PLAN = json.dumps(
    {"reasoning": REASON, "route": "documents", "task_type": "fact_lookup", "retrieval_strategy": "semantic",
     "level": "simple", "breadth": 0, "decomposable": False, "rewritten_query": "The weight of the Q4 pump",
     "document_queries": ["Q4 pump weighs"], "confidence": 0.9}
)  # fmt: skip
PATIENCE_S = 20.0


@pytest.fixture(scope="module")
def port() -> int:
    """One that nothing listens on, for an endpoint that comes later."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        found: int = probe.getsockname()[1]
    return found


@pytest.fixture(scope="module")
def planned(workspace: Path, port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with a model for planning alone, whose endpoint is down when it starts."""
    folder = tmp_path_factory.mktemp("planned")
    running = boot(
        folder,
        {
            "PERQUIRE_WORKSPACE": str(workspace),
            "PERQUIRE_PLANNING_MODEL": "local",
            "PERQUIRE_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "PERQUIRE_TIMEOUT_S": "5",
            "XDG_CACHE_HOME": str(folder / "cache"),
            "NO_PROXY": "127.0.0.1",
        },
    )
    try:
        yield running
    finally:
        running.stop()
    assert running.alarms() == []


def ask(server: Server) -> Any:
    with get_sync_client(url=server.url, api_key=None) as client:
        output: Any = client.runs.wait(None, GRAPH, input={"question": QUESTION})
    return output["result"]


def test_an_endpoint_that_is_down_costs_the_plan_alone_and_is_used_once_it_is_up(planned: Server, port: int) -> None:
    began = time.monotonic()
    down = ask(planned)
    assert time.monotonic() - began < PATIENCE_S
    assert (down["plan"]["planner"], down["plan"]["fallback"]) == ("rules", True)
    assert "127.0.0.1 cannot be reached" in down["plan"]["fallback_reason"]
    assert (down["status"], down["mode"]) == ("answered", "extractive")
    assert "58 kg" in down["answer"]

    with StandIn(Say(PLAN), port=port) as endpoint:
        up = ask(planned)
        assert len(endpoint.chats) == 1
    assert (up["plan"]["planner"], up["plan"]["fallback"]) == ("semantic", False)
    assert up["plan"]["reasoning"] == REASON
    assert "58 kg" in up["answer"]

    assert ask(planned)["plan"]["fallback"] is True  # and down again
    assert planned.process.poll() is None


def test_what_the_planner_says_is_no_part_of_the_messages(planned: Server, port: int) -> None:
    with StandIn(Say(PLAN), port=port) as endpoint, get_sync_client(url=planned.url, api_key=None) as client:
        seen = list(
            client.runs.stream(None, GRAPH, input={"question": QUESTION}, stream_mode=["messages-tuple", "custom"])
        )
        assert len(endpoint.chats) == 1
    plans = [part.data for part in seen if part.event == "custom" and part.data["event"] == "plan"]
    assert plans[0]["plan"]["reasoning"] == REASON  # so the model was heard, in the one place meant for it
    told = [part.data[0] for part in seen if part.event.startswith("messages")]
    assert "58 kg" in "".join(message["content"] for message in told)
    assert not any(REASON in json.dumps(message) or "document_queries" in json.dumps(message) for message in told)
    assert {part.data[1]["langgraph_node"] for part in seen if part.event.startswith("messages")} <= {
        "generate",
        "finish",
    }
