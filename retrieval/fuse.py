"""Rankings made into one ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

RRF_K = 60


def reciprocal_rank_fusion(rankings: Mapping[str, Sequence[str]], k: int = RRF_K) -> list[tuple[str, float]]:
    """Ids with their fused scores, best first: the sum over the rankings of 1 / (k + rank), rank from 1.

    Fused by id, never by text, so that two files which hold the same sentence stay two. A tie goes to the ranking that
    is named first (sparse before dense measured slightly better), then to the better rank in it.
    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods",
    SIGIR 2009.
    """
    scores: dict[str, float] = {}
    for ranking in rankings.values():
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (k + rank)
    return sorted(scores.items(), key=lambda pair: -pair[1])
