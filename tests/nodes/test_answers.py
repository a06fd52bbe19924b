"""What the whole graph answers over the small corpus, and where it stops."""

from pathlib import Path
from typing import Any

import pytest

from backends.library import Library
from perquire.agent import Agent


@pytest.fixture
def agent(library: Library) -> Agent:
    return Agent(library=library)


@pytest.mark.parametrize(
    ("question", "says", "source"),
    [
        ("What does PX-311 mean?", "inlet pressure has fallen", "pumps.md"),
        ("What does § 4.2(b) say?", "every 400 running hours", "pumps.md"),
        ("By whom is the store kept?", "Omar Quill", "people.md"),
        ("what does the dutty enginer sign", "signs the permit", "people.md"),
        ("Which rule applies to unpaid leave?", "contains no rule on unpaid leave", "policy-v2.md"),
        ('Where is "the seal runs hot" written?', "the seal runs hot", "pumps.md"),
    ],
)
def test_a_fact_is_cited_from_its_place(agent: Agent, question: str, says: str, source: str) -> None:
    result = agent.ask(question)
    assert result["status"] in {"answered", "partial"}, result["answer"]
    assert says in result["answer"]
    assert result["citations"][0]["source"] == source
    assert result["citations"][0]["place"]
    for citation in result["citations"]:
        assert f"[{citation['id']}]" in result["answer"]
        assert citation["text"] in result["answer"]


def test_a_comparison_cites_both_sides(agent: Agent) -> None:
    result = agent.ask("Compare the days of leave in version 1 and version 2 of the leave policy.")
    assert {"policy-v1.md", "policy-v2.md"} <= {c["source"] for c in result["citations"]}
    assert "20 days" in result["answer"]
    assert "26 days" in result["answer"]


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote Hamlet?",
        "At what temperature does lead melt?",
        "What does PX-999 mean?",
        'Where is "blue heron" written?',
    ],
)
def test_what_is_not_there_is_an_abstention(agent: Agent, question: str) -> None:
    result = agent.ask(question)
    assert (result["status"], result["citations"]) == ("abstained", [])
    assert "Searched" in result["answer"]
    assert result["missing"]


def test_a_figure_over_a_table_is_not_read_off_a_row(agent: Agent) -> None:
    result = agent.ask("What is the total price of each part?")
    assert result["plan"]["fields"]["route"]["suggested"] == "sql"
    assert result["status"] == "abstained"
    assert "an answer from the tables" in result["answer"]


def test_a_question_about_nothing_is_asked_back(agent: Agent) -> None:
    result = agent.ask("How long does it last?")
    assert result["status"] == "clarify"
    assert result["answer"].count("?") == 1


def test_small_talk_needs_no_workspace(tmp_path: Path) -> None:
    agent = Agent(library=Library(tmp_path / "none"))
    assert agent.ask("What is 17 times 23?")["answer"] == "391"
    assert agent.ask("Hello!")["status"] == "answered"
    nothing = agent.ask("How heavy is the Q4 pump?")
    assert nothing["status"] == "abstained"
    assert "perquire ingest" in nothing["answer"]


def test_scope_is_never_left(agent: Agent) -> None:
    result = agent.ask("How many days of leave do staff have?", scope=["policy-v1.md"])
    assert "20 days" in result["answer"]
    assert {c["source"] for c in result["citations"]} == {"policy-v1.md"}


def test_the_receipt_counts_what_ran(agent: Agent) -> None:
    usage: Any = agent.ask("What does PX-311 mean?")["usage"]
    assert usage["model_calls"] == 0
    assert usage["searches"] == 2
    assert {"plan", "preflight", "retrieve", "grade", "generate"} <= set(usage["by_node"])


def test_same_sentence_in_two_files_cites_the_right_one(ingest: Any) -> None:
    sentence = "The oil is changed every 900 hours.\n"
    library = ingest({"m1.md": f"# Mixer M1\n\n{sentence}", "m2.md": f"# Mixer M2\n\n{sentence}"})
    agent = Agent(library=library)
    for name in ("M1", "M2"):
        result = agent.ask(f"How often is the oil changed on the {name}?")
        assert result["citations"][0]["source"] == f"{name.lower()}.md"
