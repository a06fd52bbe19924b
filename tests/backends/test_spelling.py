"""Slips are repaired; real words and strangers' names are left alone."""

import pytest

from backends.spelling import repairs
from retrieval.tokenise import tokenise

TEXT = (
    "The webhook retries eight times. November brought a storm. Merrow buoy. Invoices are settled in parent accounts."
)
FREQUENCY = dict.fromkeys(tokenise(TEXT), 1)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("webhok", "webhook"),
        ("novmber", "novemb"),
        ("stomr", "storm"),
        ("wihch", "which"),
        ("Merow", "merrow"),
        ("parnet", "parent"),
    ],
)
def test_a_slip_is_repaired(typed: str, meant: str) -> None:
    assert repairs([typed], FREQUENCY, "en") == {typed: meant}


@pytest.mark.parametrize("word", ["stern", "drowning", "cash", "Zanzibar", "QX-20", "ab", "保証"])
def test_a_word_is_left_alone(word: str) -> None:
    assert repairs([word], FREQUENCY, "en") == {}


def test_a_language_without_a_dictionary_is_left_alone() -> None:
    assert repairs(["webhok"], FREQUENCY, "ja") == {}
