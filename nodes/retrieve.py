"""retrieve: the one place that dispatches to a strategy."""

from __future__ import annotations

from langgraph.runtime import Runtime

from backends.workspace import Filters, Workspace
from graph.context import Context, Step
from graph.seam import OverBudget
from graph.state import Plan, State, Update
from nodes.strategies import STRATEGIES
from retrieval.dedupe import balance_sources, distinct
from retrieval.types import Json, Passage

TABLE_KINDS = {"csv", "xlsx"}
MOST_OPENINGS = 50
SNIPPET = 240  # characters of a passage that the state keeps; the text lives in the workspace


def retrieve(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("retrieve", state, runtime)
    plan, said = state["decided"], state["said"]
    workspace = step.workspace()
    filters = _filters(step, workspace, said)
    warnings = list(state["warnings"])
    try:
        found = STRATEGIES[plan["strategy"]](step, workspace, plan, plan["searches"], filters)
    except OverBudget as limit:
        warnings.append(f"The budget {limit} ended the search: what was found before it is used.")
        return {
            "warnings": warnings,
            "trace": step.trace(event="retrieve", strategy=plan["strategy"], stopped=str(limit)),
            "usage": step.usage(),
        }
    passages = _chosen(step, workspace, plan, found.passages, filters)
    warnings.extend(note for note in found.notes if note not in warnings)
    return {
        "passages": [{**p, "text": p["text"][:SNIPPET]} for p in passages],
        "tried": [*state["tried"], *(signature(plan),)],
        "warnings": warnings,
        "trace": step.trace(
            event="retrieve",
            strategy=plan["strategy"],
            legs=found.legs,
            notes=found.notes,
            fused=len(found.passages),
            hits=[{"id": p["id"], "source": p["source"], "place": p["place"], "ranks": p["ranks"]} for p in passages],
            reranker_used=False,
            reranker_reason="no reranker in this version",
        ),
        "usage": step.usage(),
    }


def signature(plan: Plan) -> str:
    """What makes two retrievals the same: the queries, the evidence and the depth."""
    queries = "|".join(sorted(s["text"].casefold() for s in plan["searches"]))
    return f"{plan['retrieval_strategy']}·{plan['top_k']}·{plan['candidates']}·{queries}"


def _filters(step: Step, workspace: Workspace, said: Json) -> Filters:
    scope = step.call("reads", workspace.resolve_scope, said.get("scope") or [])
    more = said.get("filters") or {}
    return Filters(tuple(scope), tuple(more.get("kinds", ())), more.get("folder", ""))


def _chosen(step: Step, workspace: Workspace, plan: Plan, passages: list[Passage], filters: Filters) -> list[Passage]:
    """The top k by kind of evidence: as ranked, or balanced over the sources."""
    passages = distinct(passages)
    if plan["retrieval_strategy"] == "global":
        openings = _openings(step, workspace, passages, filters)
        if plan["task_type"] == "overview":  # what a source is about stands at its beginning
            return openings[: plan["top_k"]]
        return balance_sources(distinct([*passages, *openings]), plan["top_k"], per_source=1)
    if plan["retrieval_strategy"] in {"hierarchical", "analytical"}:
        return balance_sources(passages, plan["top_k"], per_source=max(2, plan["top_k"] // 3))
    return passages[: plan["top_k"]]


def _openings(step: Step, workspace: Workspace, found: list[Passage], filters: Filters) -> list[Passage]:
    """The first passage of each source, those that the search found first; tables are listed, not read."""
    profiles = step.call("reads", workspace.manifest, filters.scope)["sources"]
    names = [s["source"] for s in profiles if s["kind"] not in TABLE_KINDS] or [s["source"] for s in profiles]
    order = {p["source"]: n for n, p in reversed(list(enumerate(found)))}
    names.sort(key=lambda name: order.get(name, len(order)))
    return step.call("reads", workspace.opening_passages, names[:MOST_OPENINGS])
