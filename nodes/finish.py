"""finish: puts the answer object together, and the one message that chat shows."""

from __future__ import annotations

from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime

from graph.context import Context, Step
from graph.state import Result, State, Update
from retrieval.words import language_of


def finish(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("finish", state, runtime)
    draft, plan = state["draft"], state["decided"]
    web = state["web_report"]
    if plan["web_relevance"] == "irrelevant" and not web["used"]:
        web = {**web, "reason": "the plan calls outside information irrelevant"}
    trace = step.trace(event="finish", status=draft["status"])
    usage = step.usage()
    result: Result = {
        "question": state["asked"],
        "answer": draft["answer"],
        "status": draft["status"],
        "mode": draft.get("mode", "extractive"),
        "language": language_of(state["asked"]),
        "citations": draft["citations"],
        "plan": plan,
        "grade": state["grading"],
        "corrections": state["corrections"],
        "web": web,
        "trace": [*state["trace"], *trace] if state["said"].get("include_trace", True) else [],
        "usage": usage,
        "missing": draft["missing"],
        "warnings": [*state["warnings"], *(n for n in plan["notes"] if "as asked" in n)],
    }
    message = AIMessage(
        draft["answer"],
        id=draft.get("message_id"),
        additional_kwargs={"citations": draft["citations"], "status": draft["status"]},
    )
    return {"result": result, "messages": [message], "trace": trace, "usage": usage}
