"""Fusion, against an independent implementation and by its properties."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.fuse import convex_combination, reciprocal_rank_fusion

ranking = st.lists(st.integers(0, 30).map(str), unique=True, max_size=12)


@given(a=ranking, b=ranking)
def test_rrf_is_the_sum_of_reciprocal_ranks(a: list[str], b: list[str]) -> None:
    fused = dict(reciprocal_rank_fusion({"a": a, "b": b}))
    assert set(fused) == {*a, *b}
    for item, score in fused.items():
        expected = sum(1 / (60 + r.index(item) + 1) for r in (a, b) if item in r)
        assert score == pytest.approx(expected)
    assert list(fused.values()) == sorted(fused.values(), reverse=True)


def test_rrf_tie_goes_to_the_first_ranking() -> None:
    assert [i for i, _ in reciprocal_rank_fusion({"sparse": ["s"], "dense": ["d"]})] == ["s", "d"]


def test_rrf_counts_a_repeat_once() -> None:
    assert dict(reciprocal_rank_fusion({"a": ["x", "x", "y"]}))["y"] == pytest.approx(1 / 62)


def test_convex_weighs_both_legs() -> None:
    fused = dict(convex_combination({1: 10.0, 2: 5.0}, {2: 0.9, 3: 0.1}, dense_weight=0.3))
    assert fused == pytest.approx({1: 0.7, 2: 0.35 + 0.3, 3: 0.0})


@given(scores=st.dictionaries(st.integers(0, 20), st.floats(0.1, 50), min_size=1))
def test_convex_with_one_leg_keeps_its_order(scores: dict[int, float]) -> None:
    order = [i for i, _ in convex_combination(scores, {})]
    assert [scores[i] for i in order] == sorted(scores.values(), reverse=True)


def test_many_light_rankings_weigh_as_much_as_one_heavy_one() -> None:
    rankings = {"own": ["a", "b"], "1": ["c", "b"], "2": ["c", "b"]}
    even = reciprocal_rank_fusion(rankings)
    weighed = reciprocal_rank_fusion(rankings, weights={"1": 0.5, "2": 0.5})
    assert [i for i, _ in even] == ["b", "c", "a"]
    assert [i for i, _ in weighed] == ["b", "a", "c"]
    assert dict(weighed)["a"] == pytest.approx(dict(weighed)["c"]) == pytest.approx(1 / 61)
