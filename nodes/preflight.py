"""preflight: is there anything to search? A missing state is a condition of the workspace, not a weak score."""

from __future__ import annotations

from langgraph.runtime import Runtime

from backends.errors import NoWorkspace
from graph.context import Context, Step
from graph.state import State, Update, web_permitted
from retrieval.features import refers_back
from retrieval.types import Json


def preflight(state: State, runtime: Runtime[Context]) -> Update:
    """Raises UnknownSource for a scope that names none. Sets `end` where the run ends here."""
    step = Step("preflight", state, runtime)
    plan = state["decided"]
    end: Json | None = None
    chunks, missing = 0, "The workspace holds no documents yet: run `perquire ingest PATH` first."
    try:
        workspace = step.workspace()
        scope = step.call("reads", workspace.resolve_scope, state["said"].get("scope") or [])
        manifest = step.call("reads", workspace.manifest, scope)
        chunks = manifest["chunks"]
        if plan["route"] == "sql" and not manifest["tables"]:
            end = {
                "kind": "no_tables",
                "reason": "The workspace holds no tables.",
                "help": "Ingest a CSV or XLSX file.",
            }
        elif plan["route"] == "sql":
            end = {
                "kind": "no_sql",
                "reason": "Answering from tables by SQL is not available in this version.",
                "help": f"Tables that are loaded: {', '.join(t['name'] for t in manifest['tables'])}.",
            }
    except NoWorkspace as error:
        missing = str(error)
    if plan["route"] == "hybrid" and not chunks and step.library.web and web_permitted(state):
        plan = {**plan, "searches": []}  # the web half alone
    elif plan["route"] in {"documents", "hybrid"} and not chunks:
        end = {
            "kind": "no_documents",
            "reason": missing,
            "help": "",
        }
    elif _asks_of_nothing(state):
        end = {
            "kind": "clarify",
            "reason": "The question names nothing that could be looked up.",
            "help": "",
        }
    return {
        "decided": plan,
        "end": end,
        "trace": step.trace(event="preflight", chunks=chunks, end=end),
        "usage": step.usage(),
    }


def _asks_of_nothing(state: State) -> bool:
    """A question that leans on something said before, where nothing was said and no source is pinned."""
    alone = not state["turns"] and not state["said"].get("scope")
    return alone and state["decided"]["task_type"] == "fact_lookup" and refers_back(state["asked"])
