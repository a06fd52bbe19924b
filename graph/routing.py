"""Where a run goes after each node. Pure functions of the state; the names are those of the drawing."""

from __future__ import annotations

from typing import Literal

from graph.state import State, web_permitted

MAX_CORRECTIONS = 2  # ⚙
# of the caller's recursion limit: correct, retrieve, grade, web, an ending, finish, and one to spare
STEPS_OF_A_CORRECTION = 7


def after_plan(state: State) -> Literal["no evidence needed", "look"]:
    return "no evidence needed" if state["decided"]["route"] == "none" else "look"


def after_preflight(state: State) -> Literal["nothing to search", "documents", "web alone"]:
    if state["end"]:
        return "nothing to search"
    if state["decided"]["searches"]:
        return "documents"
    return "web alone" if web_permitted(state) else "nothing to search"


def after_grade(state: State) -> Literal["sufficient", "weak, a correction left", "web", "weak, none left"]:
    """An explicit or planned web route looks outside whatever the documents hold; else only where they were weak."""
    grading, plan = state["grading"], state["decided"]
    assert grading is not None
    if plan["route"] == "hybrid" and web_permitted(state):
        return "web"
    if grading["verdict"] == "sufficient":
        return "sufficient"
    if may_correct(state):
        return "weak, a correction left"
    if plan["web_relevance"] != "irrelevant" and web_permitted(state):
        return "web"
    return "sufficient" if grading["verdict"] == "borderline" else "weak, none left"


def after_web(state: State) -> Literal["evidence", "nothing"]:
    grading = state["grading"]
    local = grading is not None and grading["verdict"] != "weak" and bool(state["passages"])
    return "evidence" if state["web_results"] or local else "nothing"


def may_correct(state: State) -> bool:
    """Is a correction left, within the caller's limits, and did the last one search anything new?"""
    if state.get("remaining_steps", STEPS_OF_A_CORRECTION) < STEPS_OF_A_CORRECTION:
        return False
    if len(state["corrections"]) >= int(state["said"].get("max_corrections", MAX_CORRECTIONS)):
        return False
    return len(state["tried"]) == len(set(state["tried"])) and not (
        state["corrections"] and state["corrections"][-1]["kind"] == "depth"
    )
