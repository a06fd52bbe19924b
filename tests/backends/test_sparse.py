"""Both BM25 libraries behind one adapter rank alike, and small collections keep their only right passage."""

import random

import pytest

from backends.sparse import SparseIndex
from retrieval.tokenise import tokenise


def index(texts: list[str], rank_bm25_up_to: int = 100) -> SparseIndex:
    return SparseIndex(((n, " ".join(tokenise(t))) for n, t in enumerate(texts)), rank_bm25_up_to)


def test_small_and_large_rank_alike() -> None:
    draw = random.Random(5)
    words = [f"w{n}" for n in range(60)]
    texts = [" ".join(draw.choices(words, k=draw.randint(4, 30))) for _ in range(80)]
    small, large = index(texts), index(texts, rank_bm25_up_to=0)
    for _ in range(20):
        query = " ".join(draw.choices(words, k=3))
        ours, theirs = small.search(query, 80), large.search(query, 80)
        assert [n for n, _ in ours] == [n for n, _ in theirs]
        assert [s for _, s in ours] == pytest.approx([s for _, s in theirs], abs=1e-4)


@pytest.mark.parametrize("limit", [0, 100])
def test_one_and_two_chunks(limit: int) -> None:
    texts = ["torque of the outlet flange", "gasket set for spring"]
    both, alone = index(texts, limit), index(texts[:1], limit)
    assert [n for n, _ in both.search("outlet flange torque", 5)] == [0]
    assert [n for n, _ in both.search("gasket set", 5)] == [1]
    assert [n for n, _ in alone.search("outlet flange torque", 5)] == [0]


def test_no_common_term_is_no_hit() -> None:
    assert index(["alpha beta", "gamma"]).search("delta", 5) == []
    assert index([]).search("delta", 5) == []
