"""begin_turn: takes the question in, and wipes what the last turn on this thread left."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AnyMessage
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from backends.errors import BadRequest
from graph.context import Context, Step, context_of
from graph.state import NO_USAGE, Request, Update
from retrieval.types import Json, Turn

MAX_QUESTION = 20_000  # characters; a longer text is a document, not a question
HISTORY_TURNS = 8
HISTORY_CHARS = 2_000  # of each turn


def begin_turn(state: Request, runtime: Runtime[Context]) -> Update:
    """Raises BadRequest for an option that cannot be taken, and for a question that is empty or far too long."""
    state.check()
    context = context_of(runtime)
    question, earlier, given = _question(state)
    question = question.encode(errors="replace").decode().strip()  # half a surrogate pair breaks every later stage
    if not question:
        raise BadRequest("The question is empty: ask something in words.")
    if len(question) > MAX_QUESTION:
        raise BadRequest(
            f"The question has {len(question):,} characters, at most {MAX_QUESTION:,} are read: "
            "ingest long texts as documents and ask about them."
        )
    said = {**context.said(), **state.said()}
    if context.workspace:
        said["workspace"] = context.workspace
    said.pop("history", None)
    history = state.history if state.history is not None else earlier
    recent: list[Turn] = [{"role": t["role"], "content": t["content"][:HISTORY_CHARS]} for t in history]
    run: Json = {"now": said.pop("now", None) or context.clock.now().isoformat()}
    if deadline := said.get("deadline_s"):
        run["deadline"] = context.clock.seconds() + deadline
    step = Step("begin_turn", {}, runtime)
    return {
        # as plain data: a message object would be streamed as if it were part of the answer
        "messages": [] if given else [{"role": "user", "content": question}],
        "asked": question,
        "turns": recent[-HISTORY_TURNS:],
        "said": said,
        "run": run,
        "passages": [],
        "tried": [],
        "grading": None,
        "corrections": [],
        "web_report": {"used": False, "reason": "the documents come first", "queries": [], "results": 0},
        "web_results": [],
        "end": None,
        "draft": {"answer": "", "status": "abstained", "citations": [], "missing": []},
        "trace": Overwrite([]),
        "usage": NO_USAGE | step.usage(),
        "warnings": [],
    }


def _question(state: Request) -> tuple[str, list[Turn], bool]:
    """The question, the turns before it, and whether it already stands in the messages."""
    messages: list[AnyMessage] = state.messages
    if state.question is not None:
        return state.question, _turns(messages), False
    for position in range(len(messages) - 1, -1, -1):
        if messages[position].type == "human":
            return _text(messages[position].content), _turns(messages[:position]), True
    return "", [], True


def _turns(messages: list[AnyMessage]) -> list[Turn]:
    roles: dict[str, Any] = {"human": "user", "ai": "assistant"}
    return [{"role": roles[m.type], "content": _text(m.content)} for m in messages if m.type in roles]


def _text(content: str | list[Any]) -> str:
    """A message's text, whether it came as a string or as a list of blocks."""
    if isinstance(content, str):
        return content
    parts = [b if isinstance(b, str) else b.get("text", "") for b in content if isinstance(b, str | dict)]
    return "\n".join(str(p) for p in parts if p)
