"""What grade and generate both see: the passages' full text, its sentences ranked, and the question's weights."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from backends.errors import EmbeddingsUnavailable
from backends.workspace import Workspace
from graph.context import Step
from graph.state import State
from retrieval.signals import Candidate, candidates, shortlist, weights
from retrieval.tokenise import content_terms
from retrieval.types import Passage

SUBJECT_WEIGHT = 0.35  # ⚙ of a term that the asker did not use: a follow-up's subject, a rewriting's own words
BY_WORDS = "Evidence was weighed by words alone."
SHORTLIST = 24  # sentences that are embedded; the words alone decide which


@dataclass(frozen=True)
class Reading:
    """The question as it is held against the evidence, the passages whole, their sentences best first."""

    question: str
    passages: list[Passage]
    weight: dict[str, float]
    ranked: list[Candidate]


def question_read(state: State) -> str:
    """The question that evidence is held against: standalone, with misspelt words repaired."""
    return _repaired(state, state["decided"]["rewritten_query"])


def _repaired(state: State, question: str) -> str:
    for correction in state["corrections"]:
        question = with_repairs(question, correction["repairs"])
    return question


def with_repairs(question: str, repairs: Mapping[str, str]) -> str:
    """The question with whole words replaced."""
    for wrong, right in repairs.items():
        question = re.sub(rf"\b{re.escape(wrong)}\b", right, question)
    return question


def read_evidence(step: Step, state: State, workspace: Workspace, question: str | None = None) -> Reading:
    """Fetches the passages of the state whole and ranks their sentences."""
    asked = question or question_read(state)
    own = question or _repaired(state, state["asked"])
    texts = step.call("reads", workspace.passages_by_id, [p["id"] for p in state["passages"]])
    passages: list[Passage] = [{**p, "text": texts[p["id"]]} for p in state["passages"] if p["id"] in texts]
    idf = step.call("reads", workspace.idf, content_terms(asked))
    weight = weights(asked, idf)
    if own != asked:
        weight = {t: w * (1.0 if t in content_terms(own) else SUBJECT_WEIGHT) for t, w in weight.items()}
    near = shortlist(asked, passages, weight, SHORTLIST)
    cosines = _cosines(step, workspace, asked, near) if near else {}
    return Reading(asked, passages, weight, candidates(asked, passages, weight, cosines))


def warned(step: Step, state: State) -> list[str]:
    """The turn's warnings with those of this visit, each failure told once (the search may have met the same)."""
    new = dict.fromkeys(w for w in step.warnings if not any(w in told for told in state["warnings"]))
    return [*state["warnings"], *(f"{BY_WORDS} {warning}" for warning in new)]


def _cosines(step: Step, workspace: Workspace, asked: str, near: list[str]) -> dict[str, float]:
    """Cosine by sentence; none where the model is away: the words alone then rank them, and claim less certainty."""
    try:
        found = step.call("reads", workspace.similarity, asked, near)
    except EmbeddingsUnavailable as error:
        step.warnings.append(str(error))
        return {}
    return dict(zip(near, found, strict=True))
