"""A thread keeps its conversation and nothing else, also where a turn was cut short."""

import json
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

WEIGHT, PERMIT, UNKNOWN = "How heavy is the Q4 pump?", "Which engineer signs the permit?", "Who wrote Don Quixote?"
# Thousands of words that nobody knows keep a run busy for long enough to be stopped.
LONG = "Which comet " + " ".join(f"zq{n:x}vux" for n in range(1_900))


def evidence(result: Any) -> set[str]:
    """Sources and texts that an answer's trace and citations show."""
    hits = {hit["source"] for event in result["trace"] if event["node"] == "retrieve" for hit in event["hits"]}
    return hits | {c["text"] for c in result["citations"]}


def nodes(result: Any) -> list[str]:
    return [event["node"] for event in result["trace"]]


@pytest.fixture(scope="module")
def turns(client: SyncLangGraphClient, ask: Any) -> tuple[str, list[Any]]:
    """Three questions on one thread."""
    thread: str = client.threads.create()["thread_id"]
    return thread, [
        ask(thread, question=WEIGHT, max_corrections=0, scope=["pumps.md"]),
        ask(thread, question=PERMIT),
        ask(thread, question=UNKNOWN),
    ]


def test_the_second_turn_holds_no_evidence_of_the_first(turns: Any) -> None:
    first, second, _ = (output["result"] for output in turns[1])
    assert "58 kg" in first["answer"]
    assert "duty engineer" in second["answer"]
    assert not any("58 kg" in text for text in evidence(second))
    assert "58" not in second["answer"]


def test_a_turn_without_an_answer_abstains_with_nothing_cited(turns: Any) -> None:
    third = turns[1][2]["result"]
    assert (third["status"], third["citations"]) == ("abstained", [])


def test_trace_and_usage_start_anew(turns: Any) -> None:
    for output in turns[1]:
        result = output["result"]
        assert nodes(result)[0] == "plan"
        assert nodes(result).count("plan") == 1
        assert result["usage"]["by_node"]["plan"]["visits"] == 1
        assert result["usage"]["searches"] == sum(
            len({leg["query"] for leg in e["legs"]}) * 2 for e in result["trace"] if e["node"] == "retrieve"
        )


def test_options_of_one_turn_are_not_heard_in_the_next(turns: Any) -> None:
    first, second, third = (output["result"] for output in turns[1])
    assert evidence(first) & {"people.md"} == set()
    assert "people.md" in evidence(second)
    assert third["corrections"]  # the first turn allowed none


def test_only_the_conversation_lasts(turns: Any) -> None:
    assert [[m["type"] for m in output["messages"]] for output in turns[1]] == [["human", "ai"] * n for n in (1, 2, 3)]


def test_state_and_history_read_back_as_plain_json(client: SyncLangGraphClient, turns: Any) -> None:
    state = client.threads.get_state(turns[0])
    history = client.threads.get_history(turns[0], limit=100)
    assert len(history) > 20
    values: Any = state["values"]
    assert values["result"] == turns[1][2]["result"]
    text = json.dumps([values, *(h["values"] for h in history)])
    assert not any(trace in text for trace in ("object at 0x", "__pydantic", "lc_secrets", '"type": "constructor"'))


def test_a_follow_up_is_searched_with_its_subject(ask: Any, thread: str) -> None:
    ask(thread, question="Who founded the workshop?")
    result = ask(thread, messages=[{"role": "user", "content": "Where was she born?"}])["result"]
    assert "Tarmouth" in result["answer"]
    assert any("Ilse Varga" in search["text"] for search in result["plan"]["searches"])


def check_fresh(result: Any) -> None:
    """The answer about the permit, as if nothing had been asked before it."""
    assert "duty engineer" in result["answer"]
    assert nodes(result)[0] == "plan"
    assert nodes(result).count("plan") == 1
    assert all(cost["visits"] <= 3 for cost in result["usage"]["by_node"].values())
    assert not any("58 kg" in text or "zq0vux" in text for text in evidence(result))


def test_after_a_turn_that_stopped_behind_retrieval(client: SyncLangGraphClient, ask: Any, thread: str) -> None:
    client.runs.wait(thread, "agent", input={"question": WEIGHT, "top_k": 1}, interrupt_after=["retrieve"])
    stopped_at: Any = client.threads.get_state(thread)
    assert stopped_at["next"] == ["grade"]
    assert {p["source"] for p in stopped_at["values"]["passages"]} == {"pumps.md"}
    result = ask(thread, question=PERMIT, scope=["people.md"])["result"]
    check_fresh(result)
    assert result["plan"]["top_k"] > 1
    now: Any = client.threads.get_state(thread)
    assert {p["source"] for p in now["values"]["passages"]} == {"people.md"}


def test_after_a_cancelled_turn(client: SyncLangGraphClient, ask: Any, thread: str) -> None:
    run = stopped(client, thread, lambda run: client.runs.cancel(thread, run, wait=True))
    assert client.runs.get(thread, run)["status"] == "interrupted"
    assert "grade" not in nodes(client.threads.get_state(thread)["values"])
    check_fresh(ask(thread, question=PERMIT)["result"])


@pytest.mark.parametrize(
    ("strategy", "messages"), [("rollback", ["human", "ai"]), ("interrupt", ["human", "human", "ai"])]
)
def test_a_question_that_takes_the_place_of_one_still_running(
    client: SyncLangGraphClient, thread: str, strategy: Any, messages: list[str]
) -> None:
    output: Any = None

    def ask_over(run: str) -> None:
        nonlocal output
        output = client.runs.wait(thread, "agent", input={"question": PERMIT}, multitask_strategy=strategy)

    stopped(client, thread, ask_over)
    check_fresh(output["result"])
    assert [m["type"] for m in output["messages"]] == messages


def stopped(client: SyncLangGraphClient, thread: str, stop: Any) -> str:
    """Asks a long question and calls `stop` with the run's id as soon as it has a plan."""
    run = ""
    for part in client.runs.stream(thread, "agent", input={"question": LONG}, stream_mode="custom"):
        if part.event == "metadata":
            run = part.data["run_id"]
        if part.event == "custom" and part.data["event"] == "plan":
            stop(run)
    return run
