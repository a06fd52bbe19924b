"""Kinds of question, by their shape."""

import pytest

from retrieval.features import read_question, refers_back


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("List four tools", "requested_count", 4),
        ("Name 12 harbours in Chile", "requested_count", 12),
        ("How many tools are there?", "requested_count", None),
        ('Where does it say "no more than two"?', "quoted", ("no more than two",)),
        ('Where does it say "no more than two"?', "comparison", False),
        ("Is the red one cheaper than the blue one?", "comparison", True),
        ("What does AB-12 mean in v3.4.1?", "identifiers", ("AB-12", "v3.4.1")),
        ("What does § 4.2(b) say?", "identifiers", ("§ 4.2(b)",)),
        ("Who built it and when was it opened?", "sub_questions", ("Who built it", "when was it opened")),
        ("Salt and pepper, where are they?", "sub_questions", ()),
        ("What is the exchange rate this morning?", "fresh", True),
        ("What is the current policy?", "fresh", False),
        ("What are these files about?", "overview", True),
    ],
)  # fmt: skip
def test_readings(text: str, field: str, value: object) -> None:
    assert getattr(read_question(text), field) == value


@pytest.mark.parametrize(
    ("text", "back"),
    [
        ("How long does it last?", True),
        ("Why is that?", True),
        ("How long does the Ayr ferry last?", False),
        ("How long does the warranty of the boiler last?", False),
    ],
)
def test_refers_back(text: str, back: bool) -> None:
    assert refers_back(text) is back


def test_a_follow_up_needs_a_history() -> None:
    history = [{"role": "user", "content": "Who runs the mill?"}]
    assert not read_question("And since when?").follow_up
    assert read_question("And since when?", history).follow_up  # type: ignore[arg-type]
    assert not read_question("How much flour does the mill sell to bakers in Leeds?", history).follow_up  # type: ignore[arg-type]
