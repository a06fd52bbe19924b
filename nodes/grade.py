"""grade: how likely is it that these passages answer the question?"""

from __future__ import annotations

from langgraph.runtime import Runtime

from backends.workspace import Workspace
from graph.context import Context, Step
from graph.reading import Reading, read_evidence, warned
from graph.state import Grade, State, Update
from retrieval.calibration import band, probability, verdict
from retrieval.signals import evidence, held_terms
from retrieval.tokenise import tokenise

MAX_RISK = 0.2  # ⚙
LONGEST_WORD = 40


def grade(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("grade", state, runtime)
    workspace = step.workspace()
    reading = read_evidence(step, state, workspace)
    grading = _judge(step, state, workspace, reading)
    return {
        "grading": grading,
        "warnings": warned(step, state),
        "trace": step.trace(event="grade", **grading),
        "usage": step.usage(),
    }


def _judge(step: Step, state: State, workspace: Workspace, reading: Reading) -> Grade:
    plan = state["decided"]
    max_risk = float(state["said"].get("max_risk", MAX_RISK))
    corpus = step.call("reads", workspace.frequency, list(reading.weight))
    signals, missing = evidence(reading.question, reading.ranked, reading.passages, reading.weight, corpus)
    missing = _as_asked(reading, missing)
    signals["pinned"] = 1.0 if state["said"].get("scope") else 0.0  # the asker already knows where it stands
    if plan["task_type"] == "overview":  # asks for what is there, whatever the words: coverage of the sources decides
        held = len({p["source"] for p in reading.passages})
        p, reason = (0.95, f"{held} sources are covered") if held else (0.0, "no source was found")
    else:
        broad = plan["task_type"] not in {"fact_lookup", "followup", "aggregation"}
        p = probability(signals, broad=broad) if reading.passages else 0.0
        reason = f"the best sentence carries {signals['best_sentence']:.0%} of the question"
        if signals["shape"] == 0.0:
            p, reason = min(p, 0.3), "an amount of money is asked for, and no passage that fits names one"
        if plan["fields"]["route"]["suggested"] == "sql" and plan["task_type"] == "aggregation":
            p, reason = min(p, 0.4), "a figure over a table's rows stands in no passage"
        absent = _absent(state, reading)
        if absent:  # certain by code: an identifier or phrase that must be there is not
            p, reason = min(p, 0.1), f"no passage holds {', '.join(absent)}"
            missing = list(dict.fromkeys([*absent, *missing]))
    return {
        "probability": round(p, 4),
        "verdict": verdict(p, max_risk),
        "calibrated": False,
        "band": band(p),
        "signals": signals,
        "missing_words": missing[:8],
        "reason": reason,
    }


def _as_asked(reading: Reading, missing: list[str]) -> list[str]:
    """Missing terms as the asker wrote them; those of little weight are no news."""
    written = {term: word.strip("?!.,;:\"'“”") for word in reading.question.split() for term in tokenise(word)}
    heaviest = max(reading.weight.values(), default=0.0)
    heavy = [t for t in missing if reading.weight[t] >= 0.5 * heaviest]
    return list(dict.fromkeys(written.get(term, term)[:LONGEST_WORD] for term in heavy))


def _absent(state: State, reading: Reading) -> list[str]:
    """Identifiers and quoted phrases of the question that none of the passages holds."""
    plan = state["decided"]
    held = {term for passage in reading.passages for term in held_terms(passage)}
    absent = [i for i in plan["identifiers"] if (terms := tokenise(i)) and not set(terms[-1:] + terms[:1]) & held]
    folded = " ".join(" ".join(p["text"].casefold().split()) for p in reading.passages)
    phrases = [q for q in plan["quoted"] if " ".join(q.casefold().split()) not in folded]
    return [*absent, *(f'"{q}"' for q in phrases)]
