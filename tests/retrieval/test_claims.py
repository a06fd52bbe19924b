"""Claims: what an answer says, sentence by sentence, and whether its passages say it."""

import pytest

from retrieval.claims import check, claims_of, joined, with_plain_marks

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
