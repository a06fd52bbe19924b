"""The semantic planner: what a model's reply makes of the rules' suggestion, field by field."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, cast

from graph.options import Route
from graph.state import Scope
from nodes.planners.rules import Suggestion
from prompts.plan import Reply
from retrieval.features import Features
from retrieval.words import language_of

FOREIGN = 0.5  # ⚙ share of the question's weight that no chunk holds, from which on it may be in another language
CERTAIN = 0.9  # ⚙ rules as sure as this are not asked to be confirmed: greetings, arithmetic, what is outside the job
# What says least in its field. A model that gives it has seen nothing special, which is no reason to drop what the words
# of the question show ("compare", "and the second one?", "right now").
GENERIC = {"route": "documents", "task_type": "fact_lookup", "retrieval_strategy": "semantic"}
NAME = re.compile(r"[!-~]*(?:[_/\\]|\w\.[a-z]{2,5}$)[!-~]*")  # a word as files and tables are named
_SCOPE: dict[str, Scope] = {
    "documents": "corpus",
    "web": "external",
    "hybrid": "mixed",
    "sql": "structured_data",
    "none": "corpus",
}


def gives_text(features: Features) -> bool:
    """Does the question bring a text of its own to work on: quoted, or after a colon or a line break?"""
    return bool(features.quoted) or bool(re.search(r"[:\n]\s*\S+(?:\s+\S+){3,}", features.text))


def merged(rules: Suggestion, reply: Reply, features: Features, *, web: bool) -> tuple[Suggestion, list[str]]:
    """The model's fields where it gave them, the rules' where it did not, and a note on each that could not be taken.

    What code reads for certain (counts, quotes, identifiers) is not the model's to change; nothing is answered from memory.
    """
    notes: list[str] = []
    route = reply.route
    if route == "none" and not gives_text(features):
        notes.append("route: the model said none, but a question about facts is looked up, never answered from memory")
        route = "documents"
    if route in {"web", "hybrid"} and not web:
        notes.append(f"route: the model said {route}, but no web key is configured")
        route = "documents"
    route = cast(Route, _specific("route", route, rules, notes))
    taken: dict[str, Any] = {
        "route": route,
        "knowledge_scope": _SCOPE[route],
        "reasoning": reply.reasoning or rules.reasoning,
    }
    for field in ("task_type", "retrieval_strategy", "level", "breadth", "confidence", "decomposable"):
        value = getattr(reply, field)
        if value is None:
            notes.append(f"{field}: the model gave no value that is known, the rules' stands")
        else:
            taken[field] = _specific(field, value, rules, notes)
    if web:
        taken["web_relevance"] = reply.web_relevance or rules.web_relevance
        taken["requires_fresh_web"] = (
            rules.requires_fresh_web if reply.requires_fresh_web is None else reply.requires_fresh_web
        )
    parts = tuple(reply.sub_questions) if len(reply.sub_questions) > 1 else rules.sub_questions
    taken["sub_questions"] = parts if taken.get("decomposable", rules.decomposable) else ()
    taken["rewritten_query"] = _standalone(reply, rules, features)
    said = (reply.rewritten_query or "", *reply.document_queries)
    queries = tuple(q for q in said if q and (q in features.identifiers or not NAME.fullmatch(q)))
    if len(queries) < len([q for q in said if q]):
        notes.append("document_queries: a name of a file or table is no query, and was left out")
    taken["document_queries"] = tuple(q for q in queries if q != taken["rewritten_query"])
    taken["web_queries"] = tuple(reply.web_queries)
    taken["chat"] = "reword" if route == "none" else None
    return replace(rules, **taken), notes


def _specific(field: str, said: Any, rules: Suggestion, notes: list[str]) -> Any:
    """The model's value, unless it is the field's generic one where the rules read a special one."""
    read = getattr(rules, field)
    if said != GENERIC.get(field) or read == said:
        return said
    notes.append(f"{field}: the model said {said}, the rules' {read} stands ({rules.reasoning})")
    return read


def _standalone(reply: Reply, rules: Suggestion, features: Features) -> str:
    """The question that evidence is held against: in the documents' language, and as near to the asker's words as that
    allows, since what a model rewords it also changes. Its rewriting is searched beside them either way.

    Where the documents know hardly a word of the question and the rewriting keeps its language, a query of the model's
    in another one is the translation.
    """
    if rules.rewritten_query != features.text or features.unknown < FOREIGN:
        return rules.rewritten_query
    own = reply.rewritten_query or rules.rewritten_query
    spoken = language_of(features.text)
    if language_of(own) != spoken:
        return own
    return next((q for q in reply.document_queries if language_of(q) != spoken), own)
