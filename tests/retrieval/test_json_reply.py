"""JSON out of a model's reply: what it thought aside is never taken, and no reply takes long to read."""

import time
from typing import Any

import pytest

from retrieval.json_reply import known, parse_reply, texts, without_reasoning

PLAN = '{"route": "documents", "queries": ["oil K7"]}'
MEANT = {"route": "documents", "queries": ["oil K7"]}


@pytest.mark.parametrize(
    "said",
    [
        PLAN,
        f'<think>maybe {{"route": "sql"}}? no</think>\n```json\n{PLAN}\n```',
        f"<think>\n\n</think>\n\n{PLAN}",
        f'I should say {{"route": "sql"}}.</think>{PLAN}',
        f'<THINKING>{{"route": "sql"}}</THINKING>{PLAN}',
        f'<think>a <think>b</think> {{"route": "sql"}}</think>{PLAN}',
        f'{PLAN}<think>was that right? {{"route": "sql"}}',
        f"Sure! Here is the plan: {PLAN} Hope it helps.",
        f"```\n{PLAN}\n```",
        f"The set {{a, b}} and [sic] lead to {PLAN}",
        f'First {{"route": "sql"}}, or rather {PLAN}',
        f'{PLAN} ["sql", "web"]',
        f"A list [of things and {PLAN}",
        f'A pipe of 5" {{wide}}: {PLAN}',
    ],
)
def test_the_last_object_outside_of_thought_is_meant(said: str) -> None:
    assert parse_reply(said) == MEANT


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("[]", []),
        ('"documents"', "documents"),
        ("It is [1, 2].", [1, 2]),
        ('{"a": "}{\\"["}', {"a": '}{"['}),
        ('So: {"a": "}{\\"["}.', {"a": '}{"['}),
    ],
)
def test_other_values_and_brackets_in_strings(said: str, value: Any) -> None:
    assert parse_reply(said) == value


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ("", "empty"),
        ("<think>hm</think>", "empty"),
        ('<think>never closed {"route": "sql"}', "empty"),
        (f"{{\n{PLAN}", "never closed"),
        (PLAN[:-1], "never closed"),
        ("I would search the documents.", "no JSON"),
        (f"{{{PLAN}}}", "no JSON"),
    ],
)
def test_what_is_broken_is_said_to_be(said: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_reply(said)


@pytest.mark.parametrize(
    "piece",
    ["[", "[x ", '[" \\"', '["\\"', "{", '{"a":', "[{", "<think>", "</think>", "[0,[0 ", "{x} ", '"', "\\", '[[1],"'],
)
def test_no_reply_takes_long_to_read(piece: str) -> None:
    said = piece * (200_000 // len(piece))
    began = time.process_time()
    with pytest.raises(ValueError, match=r"the reply|the JSON|a brace"):
        parse_reply(f"{said} {said}")
    assert time.process_time() - began < 3  # reading to the end from each bracket would take minutes


def test_an_object_stands_out_of_much_prose() -> None:
    assert parse_reply("[sic] {x} and so on, " * 20_000 + PLAN) == MEANT


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("sql", "sql"),
        ("SQL", "sql"),
        ("Sql database", "sql"),
        ("  Fact Lookup ", "fact_lookup"),
        ("fact-lookup", "fact_lookup"),
        ("retrieve", "documents"),
        ("RETRIEVE passages", "documents"),
        ("graph", None),
        ("sql or documents", None),
        ("", None),
        (None, None),
        (3, None),
        (["sql"], None),
    ],
)
def test_known_finds_the_choice_that_was_meant(value: Any, choice: str | None) -> None:
    assert known(value, ("sql", "documents", "fact_lookup"), {"retrieve": "documents", "web": "nowhere"}) == choice


def test_an_alias_never_leads_out_of_the_choices() -> None:
    assert known("web", ("sql",), {"web": "nowhere"}) is None


def test_texts_come_out_of_what_was_said() -> None:
    assert texts("oil K7", 3, 100) == ["oil K7"]
    assert texts(["a  b", "", " ", 4, None, "a b", "c", "d"], 2, 100) == ["a b", "c"]
    assert texts("x" * 500, 1, 10) == ["x" * 10]
    assert texts(None, 3, 10) == texts({"a": "b"}, 3, 10) == []


def test_texts_can_be_encoded() -> None:
    assert texts(parse_reply('["oil \\ud800 K7"]'), 1, 100) == ["oil ? K7"]


def test_text_without_reasoning() -> None:
    assert without_reasoning("One <think>hm</think>two") == "One two"
    assert without_reasoning("hm</think> two <think>more") == "two"
