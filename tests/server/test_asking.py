"""What a client may send: messages alone suffice; a question, options and saved settings are taken too."""

import json
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk.client import SyncLangGraphClient

QUESTION = "How heavy is the Q4 pump?"


@pytest.mark.parametrize("content", [QUESTION, [{"type": "text", "text": QUESTION}]], ids=["text", "blocks"])
@pytest.mark.parametrize("role", [{"role": "user"}, {"type": "human"}], ids=["role", "type"])
def test_messages_alone_suffice(ask: Any, content: Any, role: dict[str, str]) -> None:
    output = ask(messages=[{**role, "content": content}])
    assert output["result"]["question"] == QUESTION
    assert output["messages"][-1]["type"] == "ai"
    assert "58 kg" in output["messages"][-1]["content"]


def test_the_message_carries_citations_and_status(ask: Any) -> None:
    output = ask(messages=[{"role": "user", "content": QUESTION}])
    kept = output["messages"][-1]["additional_kwargs"]
    assert kept["status"] == output["result"]["status"] == "answered"
    assert kept["citations"] == output["result"]["citations"]
    assert [(c["source"], "58 kg" in c["text"]) for c in kept["citations"]] == [("pumps.md", True)]


def test_a_question_in_place_of_messages(ask: Any) -> None:
    output = ask(question=QUESTION)
    assert [m["type"] for m in output["messages"]] == ["human", "ai"]
    assert output["messages"][0]["content"] == QUESTION
    assert "58 kg" in output["result"]["answer"]


def test_the_output_is_the_message_and_the_answer_object_alone(ask: Any) -> None:
    assert sorted(ask(question=QUESTION)) == ["messages", "result"]


def test_the_first_run_of_a_thread_needs_no_thread_made_before(client: SyncLangGraphClient) -> None:
    output: Any = client.runs.wait(
        "6b0b1d2e-3f44-4f6e-9a0b-0c1d2e3f4a5b", "agent", input={"question": QUESTION}, if_not_exists="create"
    )
    assert "58 kg" in output["result"]["answer"]


def test_options_of_the_call_win_over_the_plan(ask: Any) -> None:
    plan = ask(question=QUESTION, tier="fast", top_k=3)["result"]["plan"]
    assert (plan["tier"], plan["top_k"]) == ("fast", 3)
    assert {plan["fields"][name]["by"] for name in ("tier", "top_k")} == {"caller"}


def test_a_scope_is_not_left(ask: Any) -> None:
    result = ask(question="How heavy is the Q4 pump?", scope=["people.md"])["result"]
    hits = {hit["source"] for event in result["trace"] if event["node"] == "retrieve" for hit in event["hits"]}
    assert hits == {"people.md"}
    assert "58" not in result["answer"]


def test_a_denied_web_is_said_to_be_denied(ask: Any) -> None:
    result = ask(question="What is zinc trading at this morning?", web="deny")["result"]
    assert (result["status"], result["web"]["used"]) == ("abstained", False)
    assert "the caller does not permit it" in result["answer"]


def test_context_of_one_run(ask: Any) -> None:
    assert ask(question=QUESTION, context={"top_k": 2})["result"]["plan"]["top_k"] == 2


def test_an_option_of_the_call_wins_over_the_context(ask: Any) -> None:
    assert ask(question=QUESTION, top_k=4, context={"top_k": 2})["result"]["plan"]["top_k"] == 4


def test_an_assistant_keeps_its_settings(client: SyncLangGraphClient, ask: Any) -> None:
    saved = client.assistants.create("agent", context={"tier": "deep", "top_k": 6}, name="thorough")
    plan = ask(question=QUESTION, assistant=saved["assistant_id"])["result"]["plan"]
    assert (plan["tier"], plan["top_k"]) == ("deep", 6)


def test_an_assistant_of_another_workspace_which_is_filled_while_the_server_runs(
    client: SyncLangGraphClient, ask: Any, ingest: Any, tmp_path: Path
) -> None:
    folder = tmp_path / "workspace"
    other = client.assistants.create("agent", context={"workspace": str(folder)}, name="other")["assistant_id"]
    before = ask(question="When does the reading room open?", assistant=other)["result"]
    assert before["status"] == "abstained"
    assert f"perquire ingest PATH --workspace {folder}" in before["answer"]
    ingest({"hours.md": "# Hours\n\nThe reading room opens at nine on weekdays.\n"})
    after = ask(question="When does the reading room open?", assistant=other)["result"]
    assert after["status"] == "answered"
    assert "nine" in after["answer"]


@pytest.fixture(scope="module")
def schemas(client: SyncLangGraphClient) -> Any:
    assistant = client.assistants.search(graph_id="agent")[0]["assistant_id"]
    return client.assistants.get_schemas(assistant)


def test_settings_are_shown_with_title_description_and_bounds(schemas: Any) -> None:
    settings = schemas["context_schema"]["properties"]
    assert {"tier", "top_k", "workspace", "web"} <= set(settings)
    assert all(shown.get("title") and "description" in shown for shown in settings.values())
    assert settings["top_k"]["anyOf"][0] == {"maximum": 50, "minimum": 1, "type": "integer"}
    assert settings["tier"]["anyOf"][0]["enum"] == ["fast", "balanced", "deep"]


def test_backends_are_no_settings(schemas: Any) -> None:
    assert not {"library", "clock"} & set(schemas["context_schema"]["properties"])
    assert "Library" not in json.dumps(schemas["context_schema"])


def test_the_input_shows_the_question_and_the_options(schemas: Any) -> None:
    taken = schemas["input_schema"]["properties"]
    assert {"messages", "question", "tier", "scope", "deadline_s"} <= set(taken)
    assert taken["top_k"]["anyOf"][0]["maximum"] == 50
    assert not any(name.startswith("_") for name in taken)
