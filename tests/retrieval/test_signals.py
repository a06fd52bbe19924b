"""What speaks for an answer, and what code can be certain is missing."""

import pytest

from retrieval.calibration import probability, verdict
from retrieval.signals import answer_shape, candidates, evidence, weights
from retrieval.tokenise import content_terms, passage_terms
from retrieval.types import Passage


def passage(text: str, heading: tuple[str, ...] = (), source: str = "a.md") -> Passage:
    return {
        "id": text[:8], "source": source, "title": "Rules", "heading": list(heading), "place": "", "page": None,
        "text": text, "score": 1.0, "dense": 0.5, "sparse": 1.0, "ranks": {"sparse": 1, "dense": 1},
    }  # fmt: skip


def read(question: str, *passages: Passage) -> tuple[list[str], dict[str, float], list[str]]:
    weight = weights(question, {})
    ranked = candidates(question, passages, weight, {})
    known = {t: 1 for p in passages for t in passage_terms(p["title"], p["heading"], p["text"])}
    signals, missing = evidence(question, ranked, passages, weight, known)
    return [c.text for c in ranked], signals, missing


def test_the_sentence_that_answers_comes_first() -> None:
    text = "The kiln is checked weekly. The kiln reaches 1,240 degrees. Visitors may not touch the kiln."
    ranked, _, missing = read("How hot does the kiln get, what temperature does it reach?", passage(text))
    assert ranked[0] == "The kiln reaches 1,240 degrees."
    assert "temperatur" in missing


def test_what_an_identifier_means_stands_in_its_own_row() -> None:
    table = "Code | Meaning\nQX-20 | lid open\nQX-21 | filter full"
    aside = "A QX-20 is logged even if it clears at once, which the meaning of the log implies."
    ranked, _, _ = read("What does QX-20 mean?", passage(aside), passage(table))
    assert ranked[0] == "QX-20 | lid open"
    assert "Code | Meaning" not in ranked[:2]


def test_a_clause_is_known_by_its_full_name() -> None:
    ranked, signals, missing = read(
        "What does article 6(2) require?",
        passage("(1) A log is kept.\n(2) The log is signed.", ("Article 6 - Logs",)),
    )
    assert ranked[0] == "(2) The log is signed."
    assert missing == ["requir"]
    assert signals["passages"] > 0.5


def test_a_word_elsewhere_in_the_passage_counts_less_than_in_the_sentence() -> None:
    together = passage("The barge carries sand.")
    apart = passage("The barge is red. Trucks carry sand.")
    _, one, _ = read("Does the barge carry sand?", together)
    _, two, _ = read("Does the barge carry sand?", apart)
    assert one["best_sentence"] > two["best_sentence"]


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("A berth is 40 EUR a night.", 1.0),
        ("A berth costs €40.", 1.0),
        ("A berth is free for members.", 1.0),
        ("There are 34 berths.", 0.0),
    ],
)
def test_an_amount_of_money_is_there_or_not(text: str, shape: float) -> None:
    _, signals, _ = read("What does a berth cost?", passage(text))
    assert signals["shape"] == shape


def test_how_many_is_no_question_of_money() -> None:
    pattern = answer_shape("How many stamps pay for a letter?")
    assert pattern is not None
    assert pattern.search("120 stamps")


def test_how_words_and_halves_of_compounds_weigh_little() -> None:
    weight = weights("How heavy is the spring-balance QX-20?", {})
    assert weight["heavi"] < weight["spring"]
    assert weight["springbal" if "springbal" in weight else "springbalance"] < weight["spring"]
    assert weight["20"] < weight["qx20"]


def test_function_words_of_the_questions_language_weigh_nothing() -> None:
    assert set(weights("Wie hoch ist der Turm?", {})) == {"hoch", "turm"}


def test_better_evidence_is_never_less_probable() -> None:
    base = {
        "best_sentence": 0.5,
        "passages": 0.8,
        "rarest_missing": 0.4,
        "unknown_words": 0.1,
        "dense_top": 0.4,
        "shape": 1.0,
    }
    for name, step in {"best_sentence": 0.2, "passages": 0.1, "rarest_missing": -0.2, "unknown_words": -0.1}.items():
        better = {**base, name: base[name] + step}
        assert probability(better, broad=False) > probability(base, broad=False)
        assert probability(better, broad=True) > probability(base, broad=True)


def test_the_callers_risk_moves_the_verdict() -> None:
    assert [verdict(0.7, risk) for risk in (0.4, 0.2, 0.0)] == ["sufficient", "borderline", "borderline"]
    assert verdict(0.3, 0.2) == "weak"


def test_terms_are_those_of_the_index() -> None:
    assert set(weights("boats", {})) <= set(content_terms("boats"))
