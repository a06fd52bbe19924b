"""hybrid: BM25 and dense neighbours of each query. The base of the other strategies.

The legs of one query are fused by score, the queries by reciprocal rank.
"""

from __future__ import annotations

from backends.errors import EmbeddingsUnavailable, StaleIndex
from backends.workspace import Filters, Workspace
from graph.context import Step
from graph.state import Plan, Search
from nodes.strategies.found import Found
from retrieval.fuse import convex_combination, reciprocal_rank_fusion
from retrieval.types import Json, Passage

NOT_FOUND = "phrase_not_found"
KEPT, KEPT_FACTOR = 24, 4  # passages handed on: enough to choose from by source, few enough to fetch


def hybrid(step: Step, workspace: Workspace, plan: Plan, searches: list[Search], filters: Filters) -> Found:
    """Runs every leg of every search and fuses by chunk id.

    Quoted phrases filter what was found; where no passage holds the phrase, all of it stays and a note says so.
    """
    rankings: dict[str, list[str]] = {}
    ranks: dict[int, dict[str, int]] = {}
    best: dict[str, dict[int, float]] = {"sparse": {}, "dense": {}}
    legs: list[Json] = []
    notes: list[str] = []
    fused: list[tuple[int, float]] = []
    for n, search in enumerate(searches):
        scores: dict[str, dict[int, float]] = {"sparse": {}, "dense": {}}
        for leg in search["legs"]:
            run = workspace.search_sparse if leg == "sparse" else workspace.search_dense
            try:
                hits = step.call("searches", run, search["text"], search["depth"], filters)
            except (StaleIndex, EmbeddingsUnavailable) as error:  # the other leg still answers
                notes.append(without_dense(error))
                continue
            scores[leg] = dict(hits)
            for rank, (number, score) in enumerate(hits, start=1):
                ranks.setdefault(number, {})[leg if n == 0 else f"{leg}:{n}"] = rank
                best[leg][number] = max(score, best[leg].get(number, score))
            legs.append({"query": search["text"], "kind": search["kind"], "leg": leg, "hits": len(hits)})
        fused = convex_combination(scores["sparse"], scores["dense"])
        rankings[str(n)] = [str(number) for number, _ in fused]
    if len(searches) > 1:
        weights = {str(n): search["weight"] for n, search in enumerate(searches)}
        fused = [(int(key), score) for key, score in reciprocal_rank_fusion(rankings, weights=weights)]
    if plan["quoted"]:
        fused, missing = _holding(step, workspace, fused, plan["quoted"])
        notes.extend(f'{NOT_FOUND}: "{phrase}"' for phrase in missing)
    fused = fused[: max(KEPT, KEPT_FACTOR * plan["top_k"])]
    found = step.call("reads", workspace.passages, [number for number, _ in fused])
    passages: list[Passage] = [
        {
            **found[number],
            "score": score,
            "dense": best["dense"].get(number),
            "sparse": best["sparse"].get(number),
            "ranks": ranks[number],
        }
        for number, score in fused
        if number in found
    ]
    return Found(passages, legs, list(dict.fromkeys(notes)))


def without_dense(error: Exception) -> str:
    """What the asker is told where the words alone are searched: how to mend the other leg."""
    return f"Searched by words alone. {error}"


def _holding(
    step: Step, workspace: Workspace, fused: list[tuple[int, float]], phrases: list[str]
) -> tuple[list[tuple[int, float]], list[str]]:
    """The passages that hold every phrase (case and white space aside), or all of them and the phrases not found."""
    texts = step.call("reads", workspace.passages, [n for n, _ in fused])
    folded = {n: " ".join(p["text"].casefold().split()) for n, p in texts.items()}
    wanted = [" ".join(phrase.casefold().split()) for phrase in phrases]
    missing = [p for p, w in zip(phrases, wanted, strict=True) if not any(w in text for text in folded.values())]
    kept = [(n, s) for n, s in fused if n in folded and all(w in folded[n] for w in wanted)]
    return (kept, []) if kept else (fused, missing)
