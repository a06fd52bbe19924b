"""Our BM25 ranks as the two reference libraries do, and in parts as in one piece."""

import logging
import random
from typing import Any

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Plus

from retrieval.bm25 import BM25, K1, B, postings
from retrieval.tokenise import tokenise

WORDS = [f"w{n}" for n in range(12)]
texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join), min_size=1, max_size=20)


def index(passages: list[str]) -> BM25:
    return BM25([postings((n, " ".join(tokenise(text))) for n, text in enumerate(passages))])


def of_rank_bm25(corpus: list[list[str]], query: list[str]) -> Any:
    return BM25Plus(corpus, k1=K1, b=B, delta=1).get_scores(query)


def of_bm25s(corpus: list[list[str]], query: list[str]) -> Any:
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    reference = bm25s.BM25(method="bm25+", k1=K1, b=B, delta=1)
    reference.index(corpus, show_progress=False)
    return reference.get_scores(query)


@pytest.mark.parametrize("reference", [of_rank_bm25, of_bm25s])
def test_scores_are_those_of_the_reference_less_its_constant(reference: Any) -> None:
    draw = random.Random(5)
    words = [f"w{n}" for n in range(60)]
    corpus = [draw.choices(words, k=draw.randint(4, 30)) for _ in range(80)]
    ours = BM25([postings((n, " ".join(terms)) for n, terms in enumerate(corpus))])
    for _ in range(20):
        query = draw.sample([w for w in words if w in ours.frequency], 3)
        constant = sum(ours.idf(term) for term in query)
        theirs = {n: s - constant for n, s in enumerate(reference(corpus, query)) if s - constant > 1e-3}
        assert dict(ours.search(" ".join(query), 80)) == pytest.approx(theirs, abs=2e-4)


@given(texts, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join), st.data())
def test_parts_with_gaps_rank_as_one_made_anew(passages: list[str], query: str, data: st.DataObject) -> None:
    rows = list(enumerate(passages, start=10))
    cut = data.draw(st.integers(0, len(rows)))
    gone = data.draw(st.sets(st.sampled_from([n for n, _ in rows])))
    parts = BM25([postings(rows[:cut]), postings(rows[cut:])], gone)
    anew = BM25([postings(row for row in rows if row[0] not in gone)])
    assert len(parts) == len(anew)
    assert parts.frequency == anew.frequency
    for k in (1, 3, 50):
        assert parts.search(query, k) == anew.search(query, k)


def test_one_and_two_chunks_keep_their_only_right_passage() -> None:
    both = index(["torque of the outlet flange", "gasket set for spring"])
    assert [n for n, _ in both.search("outlet flange torque", 5)] == [0]
    assert [n for n, _ in both.search("gasket set", 5)] == [1]
    assert [n for n, _ in index(["torque of the outlet flange"]).search("outlet flange torque", 5)] == [0]


def test_no_common_term_is_no_hit() -> None:
    assert index(["alpha beta", "gamma"]).search("delta", 5) == []
    assert index([]).search("delta", 5) == []
    assert index([""]).search("delta", 5) == []


def test_only_what_is_allowed_is_found() -> None:
    found = index(["pump", "pump valve", "pump"]).search("pump", 5, np.array([False, True, True]))
    assert [n for n, _ in found] == [2, 1]


def test_ties_stand_in_their_order_and_are_cut_there() -> None:
    assert [n for n, _ in index(["pump"] * 9).search("pump", 4)] == [0, 1, 2, 3]
