"""Claims: what an answer says, sentence by sentence, and whether its passages say it."""

import pytest

from retrieval.claims import Claim, check, claims_of, joined, with_plain_marks

EVIDENCE = {
    "1": "Pump handbook\nThe Q4 pump weighs 58 kg.",
    "2": "Runbook\nRetry at most twice, with a minute between.",
}


def held(text: str) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    (claim,) = claims_of(text)
    found = check(claim, EVIDENCE, {})
    return found.supported, found.claim.marks, found.removed


@pytest.mark.parametrize(
    ("text", "supported", "marks", "removed"),
    [
        ("The Q4 pump weighs 58 kg [1].", True, ("1",), ()),
        ("The Q4 pump weighs 58 kg. [1]", True, ("1",), ()),
        ("The Q4 pump weighs 58 kg [2].", True, ("1",), ("2",)),  # the passage that says it takes the mark
        ("The Q4 pump weighs 58 kg [9].", True, ("1",), ("9",)),
        ("The Q4 pump weighs 63 kg [1].", False, ("1",), ()),
        ("The Q7 pump weighs 58 kg [1].", False, ("1",), ()),
        ("Retry twice.", True, ("2",), ()),  # short, but it counts something
        ("In short:", True, (), ()),
    ],
)
def test_a_claim_is_held_against_its_passages(
    text: str, supported: bool, marks: tuple[str, ...], removed: tuple[str, ...]
) -> None:
    assert held(text) == (supported, marks, removed)


def test_marks_of_any_form_become_one() -> None:
    assert with_plain_marks("A [1, 2] B 【1】 C [passage 2] D (2)", ["1", "2"]) == "A [1][2] B [1] C [2] D (2)"


def test_lines_and_bullets_are_kept() -> None:
    assert joined(claims_of("- One is here. [1]\n- Two is there [2].")) == "- One is here. [1]\n- Two is there. [2]"


@pytest.mark.parametrize("text", ["The moon is cheese.", "A word of text."])
def test_a_short_sentence_that_its_passage_does_not_say_is_not_supported(text: str) -> None:
    evidence = {"1": "The brake did not release in time."}
    assert not check(Claim(text, ("1",)), evidence, {}).supported
    assert not check(Claim(text, ()), evidence, {}).supported


def test_a_short_sentence_that_its_passage_says_keeps_its_mark() -> None:
    found = check(Claim("The brake released.", ("1",)), {"1": "The brake did not release in time."}, {})
    assert (found.supported, found.claim.marks) == (True, ("1",))


@pytest.mark.parametrize(
    ("said", "stands"),
    [
        ("You may retry DW-4107 five times.", False),
        ("You may retry DW-4107 two times.", True),
        ("You may retry DW-4107 twice.", True),
    ],
)
def test_a_count_in_words_must_be_the_passages(said: str, stands: bool) -> None:
    evidence = {"1": "DW-4107: brake release timeout. You may retry twice, then call the duty engineer."}
    assert check(Claim(said, ("1",)), evidence, {}).supported is stands
