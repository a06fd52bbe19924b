"""abstain: an honest end. What was searched, what came closest, what is missing, what would help; or one question back."""

from __future__ import annotations

from langgraph.runtime import Runtime

from graph.context import Context, Step
from graph.state import Draft, State, Update

CLOSEST = 3


def abstain(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("abstain", state, runtime)
    end = state["end"]
    if end and end["kind"] == "clarify":
        draft = _ask_back(step, state)
    elif end:
        draft = _stopped(end["reason"], end["help"])
    else:
        draft = _not_found(state)
    return {
        "draft": draft,
        "trace": step.trace(event="abstain", status=draft["status"], missing=draft["missing"]),
        "usage": step.usage(),
    }


def _stopped(reason: str, what_helps: str) -> Draft:
    return {
        "answer": f"{reason} {what_helps}".strip(),
        "status": "abstained",
        "citations": [],
        "missing": [what_helps or reason],
    }


def _ask_back(step: Step, state: State) -> Draft:
    """One short question that names what could be meant."""
    workspace = step.workspace()
    titles = [s["title"] for s in step.call("reads", workspace.manifest, [])["sources"]][:3]
    readings = f" For example: {'; '.join(titles)}." if titles else ""
    return {
        "answer": f"What does your question refer to?{readings}",
        "status": "clarify",
        "citations": [],
        "missing": ["what the question refers to"],
    }


def _not_found(state: State) -> Draft:
    """Says what was looked at. The closest passages are named without marks: they are no evidence for an answer."""
    plan, grading = state["decided"], state["grading"]
    sources = {p["source"] for p in state["passages"]}
    lines = []
    if plan["searches"]:
        queries = list(dict.fromkeys(s["text"] for s in plan["searches"]))
        tries = 1 + len(state["corrections"])
        lines.append(
            f"The documents do not answer this. Searched {'once' if tries == 1 else f'{tries} times'} for: "
            + "; ".join(f"“{q[:160]}”" for q in queries)
            + f"; {len(state['passages'])} passages of {len(sources)} sources were read."
        )
    else:
        lines.append("This asks about the world outside the documents.")
    missing = _missing(state)
    lines.extend(f"Missing: {m}." for m in missing)
    closest = [f"{p['source']}{', ' + p['place'] if p['place'] else ''}" for p in state["passages"][:CLOSEST]]
    if closest:
        lines.append(f"Closest passages: {'; '.join(dict.fromkeys(closest))}.")
    report = state["web_report"]
    if plan["web_relevance"] != "irrelevant":
        permission = state["said"].get("web", "allow")
        refused = {"deny": "the caller does not permit it", "ask": "asking first is not available in this version"}
        lines.append(f"The web was not used: {refused.get(permission, report['reason'])}.")
        if "error" in report:
            lines.append(report["error"])
    if grading is None and not lines:
        lines.append("Nothing was found.")
    return {"answer": "\n".join(lines), "status": "abstained", "citations": [], "missing": missing}


def _missing(state: State) -> list[str]:
    plan, grading = state["decided"], state["grading"]
    missing = []
    if plan["fields"]["route"]["suggested"] == "sql":
        missing.append("an answer from the tables, which this version does not compute")
    if grading is not None and grading["missing_words"]:
        missing.append("a passage that mentions " + ", ".join(grading["missing_words"][:4]))
    elif grading is not None:
        missing.append(f"a passage that answers ({grading['reason']})")
    if plan["web_relevance"] != "irrelevant":
        missing.append("what holds outside the documents today (web search)")
    return missing
