"""correct: the evidence was weak; search once more, in other words or deeper, never the same twice."""

from __future__ import annotations

import re

from langgraph.runtime import Runtime

from graph.context import Context, Step
from graph.reading import question_read, with_repairs
from graph.state import Correction, Plan, Search, State, Update
from retrieval.words import language_of

DEEPER_CANDIDATES, DEEPER_K = 3, 2  # ⚙ factors of a deeper search


def correct(state: State, runtime: Runtime[Context]) -> Update:
    """Repairs words that the corpus does not hold; where there are none to repair, looks deeper and across sources."""
    step = Step("correct", state, runtime)
    workspace = step.workspace()
    plan = state["decided"]
    question = question_read(state)
    words = re.findall(r"[^\W\d_]{4,}", question)
    repairs = step.call("reads", workspace.spelling, words, language_of(question)) if not state["corrections"] else {}
    correction: Correction
    if repairs:
        repaired = with_repairs(question, repairs)
        listed = ", ".join(f"{w} → {r}" for w, r in repairs.items())
        correction = {
            "kind": "spelling", "query": repaired, "repairs": repairs,
            "reason": f"words that no passage holds, and the nearest that some do: {listed}",
        }  # fmt: skip
        searches = [*plan["searches"], _search(plan, repaired)]
        changed: Plan = {**plan, "searches": searches}
    else:
        correction = {
            "kind": "depth", "query": question, "repairs": {},
            "reason": "no word to repair: more passages, spread over the sources",
        }  # fmt: skip
        depth = plan["candidates"] * DEEPER_CANDIDATES
        evidence = "hierarchical" if plan["retrieval_strategy"] == "semantic" else plan["retrieval_strategy"]
        changed = {
            **plan,
            "retrieval_strategy": evidence,
            "candidates": depth,
            "top_k": min(50, plan["top_k"] * DEEPER_K),
            "searches": [{**s, "depth": depth} for s in plan["searches"]],
        }
    return {
        "decided": changed,
        "corrections": [*state["corrections"], correction],
        "trace": step.trace(event="correction", **correction),
        "usage": step.usage(),
    }


def _search(plan: Plan, text: str) -> Search:
    return {
        "text": text,
        "kind": "correction",
        "legs": ["sparse", "dense"] if plan["hybrid"] else ["dense"],
        "depth": plan["candidates"],
        "weight": 1.0,
    }
