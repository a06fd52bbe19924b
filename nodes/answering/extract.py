"""The extractive answer: the sentences that answer, verbatim, each with its mark. Needs no model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from backends.workspace import Workspace
from graph.context import Step
from graph.reading import Reading, read_evidence
from graph.state import Draft, Plan, State, Status
from retrieval.extract import pick_across, pick_fact, pick_listed
from retrieval.sentences import sentences
from retrieval.signals import Candidate
from retrieval.types import Citation, Json, Passage

PART_COVERAGE = 0.3  # ⚙ of a sub-question, below which its best sentence is left out
SIDE_BY_SIDE = {"comparison", "cross_document_synthesis", "insight_synthesis"}
SIDES = 4  # sources that a comparison or synthesis sets side by side


def extract(step: Step, state: State, plan: Plan) -> Draft:
    grading = state["grading"]
    lines: list[str] = []
    citations: list[Citation] = []
    if state["passages"] and (grading is None or grading["verdict"] != "weak"):
        workspace = step.workspace()
        reading = read_evidence(step, state, workspace)
        if plan["task_type"] == "overview":
            lines, citations = _overview(step, workspace, state, reading)
        else:
            picked = _by_part(step, workspace, state, reading) or _picked(reading, plan)
            lines, citations = _sentences(reading, picked, titled=plan["task_type"] in SIDE_BY_SIDE)
    for n, result in enumerate(state["web_results"][:3], start=1):
        line, citation = from_web(n, result)
        lines.append(line)
        citations.append(citation)
    status, missing = ending(state)
    return {"answer": "\n".join(lines), "status": status, "citations": citations, "missing": missing}


def ending(state: State) -> tuple[Status, list[str]]:
    """How an answer out of this evidence ends, and what is missing from it."""
    plan, grading = state["decided"], state["grading"]
    strong = grading is not None and grading["verdict"] == "sufficient"
    if plan["route"] == "hybrid" and not state["web_results"]:
        return "partial", [f"what holds outside the documents: {state['web_report']['reason']}"]
    if grading is not None and not strong:
        return "partial", ["a passage that answers with certainty; these come closest"]
    return ("answered" if strong or (state["web_results"] and not state["passages"]) else "partial"), []


def _by_part(step: Step, workspace: Workspace, state: State, reading: Reading) -> list[Candidate]:
    """The best sentence of each sub-question, read with the identifiers of the whole; nothing where there is one question."""
    plan = state["decided"]
    if plan["task_type"] != "fact_lookup":
        return []
    picked: dict[str, Candidate] = {}
    for part in plan["sub_questions"]:
        subject = [i for i in plan["identifiers"] if i.casefold() not in part.casefold()]
        own = read_evidence(step, state, workspace, " ".join([part, *subject]))
        fact = pick_fact(own.ranked, own.passages, own.weight)[:2]
        picked.update({c.text: c for c in fact if c.coverage >= PART_COVERAGE})
    return list(picked.values())


def _picked(reading: Reading, plan: Plan) -> list[Candidate]:
    """The sentences, by what the task needs."""
    context = [c for c in reading.ranked if c.passage < plan["context_k"]] or reading.ranked
    if plan["requested_count"]:
        return pick_listed(reading.ranked, reading.passages, plan["requested_count"])
    if plan["task_type"] in SIDE_BY_SIDE:
        across = pick_across(reading.ranked, reading.passages, SIDES)
        return across if len(across) > 1 else pick_fact(reading.ranked, reading.passages, reading.weight)
    return pick_fact(context, reading.passages, reading.weight)


def _sentences(reading: Reading, picked: Sequence[Candidate], *, titled: bool) -> tuple[list[str], list[Citation]]:
    """Each sentence with its own mark, under its source's title where sources are set side by side."""
    lines: list[str] = []
    citations: list[Citation] = []
    for n, candidate in enumerate(picked, start=1):
        passage = reading.passages[candidate.passage]
        text = plain(candidate.text)
        whose = f"{passage['title']}: " if titled else ""
        lines.append(f"{'- ' if len(picked) > 1 else ''}{whose}{text} [{n}]")
        citations.append(_citation(str(n), passage, text, candidate.score))
    return lines, citations


def _overview(step: Step, workspace: Workspace, state: State, reading: Reading) -> tuple[list[str], list[Citation]]:
    """What the collection holds: counts by kind and the tables, then an opening sentence of each source found."""
    scope = step.call("reads", workspace.resolve_scope, state["said"].get("scope") or [])
    manifest = step.call("reads", workspace.manifest, scope)
    counted = ", ".join(f"{n} {kind}" for kind, n in manifest["kinds"].items())
    lines = [f"{manifest['source_count']} sources: {counted}."]
    for table in manifest["tables"]:
        columns = ", ".join(c["name"] for c in table["columns"][:8])
        lines.append(f"- Table {table['name']}: {table['rows']:,} rows ({columns}).")
    citations: list[Citation] = []
    for passage in reading.passages:
        texts = [s for s in sentences(passage["text"]) if len(s.split()) > 4] or sentences(passage["text"])
        if texts:
            n = str(len(citations) + 1)
            text = plain(texts[0])
            lines.append(f"- {passage['title']}: {text} [{n}]")
            citations.append(_citation(n, passage, text, passage["score"]))
    return lines, citations


def plain(text: str) -> str:
    """A sentence on one line, without a list mark in front and without marks that could be taken for citations."""
    return re.sub(r"\[([TW]?\d+)\]", r"(\1)", " ".join(re.sub(r"^\s*[-*•]\s+", "", text).split()))


def _citation(mark: str, passage: Passage, text: str, score: float) -> Citation:
    return {
        "id": mark,
        "kind": "document",
        "source": passage["source"],
        "place": passage["place"],
        "text": text,
        "score": round(score, 4),
    }


def from_web(n: int, result: Json) -> tuple[str, Citation]:
    content: Any = result.get("content") or ""
    text = plain((sentences(content) or [result["title"]])[0])
    citation: Citation = {
        "id": f"W{n}", "kind": "web", "source": result["title"], "place": result["url"], "text": text,
        "score": float(result.get("score") or 0.0), "url": result["url"], "date": str(result.get("date") or ""),
    }  # fmt: skip
    return f"- {text} [W{n}]", citation
