"""plan: decides, once per question, how it will be retrieved."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, cast

from langgraph.runtime import Runtime

from backends.errors import BadRequest, NoWorkspace
from backends.workspace import Workspace
from graph.context import Context, Step
from graph.state import Level, Plan, Search, State, Update
from nodes.planners.rules import Suggestion, suggest
from nodes.planners.settle import Ledger
from nodes.strategies import STRATEGIES
from retrieval.features import Features, read_question
from retrieval.rubric import top_k_for
from retrieval.tokenise import content_terms
from retrieval.types import Json, Manifest

DEFAULTS: Json = {"tier": "balanced", "top_k": 8, "hybrid": True, "graph": False, "rerank": False}
TIER_STRATEGY = {"fast": "self_rag", "balanced": "self_rag", "deep": "multi_hop"}
TIER_LEVEL: dict[str, Level] = {"fast": "simple", "balanced": "moderate", "deep": "complex"}
LEVELS: tuple[Level, ...] = ("none", "simple", "moderate", "complex")
ESCALATE_BELOW = 0.4  # ⚙
FOCUSED_CONTEXT = 3
EMPTY: Manifest = {"sources": [], "tables": [], "chunks": 0, "source_count": 0, "kinds": {}}


def plan(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("plan", state, runtime)
    said = state["said"]
    manifest, features = EMPTY, read_question(state["asked"], state["turns"])
    try:
        workspace = step.library.workspace(said.get("workspace"))
        scope = step.call("reads", workspace.resolve_scope, said.get("scope") or [])
        manifest = step.call("reads", workspace.manifest, scope)
        if manifest["chunks"]:
            features = _against_corpus(step, state, workspace, manifest)
    except NoWorkspace:
        pass  # preflight ends the run with what to do; small talk needs no workspace
    decided = _settle(features, state, manifest, web=step.library.web is not None)
    decided["planning_ms"] = round(step.elapsed_ms(), 2)
    return {
        "decided": decided,
        "trace": step.trace(event="plan", plan=decided, summary=summary(decided)),
        "usage": step.usage(),
    }


def summary(plan: Plan) -> str:
    """A plan in a line."""
    legs = "+".join(plan["searches"][0]["legs"]) if plan["searches"] else "no search"
    return (
        f"{plan['route']} · {plan['task_type']} · {plan['retrieval_strategy']} · {plan['strategy']} ({legs}) · "
        f"{plan['effective_level']} · top {plan['top_k']} · {plan['reasoning']}"
    )


def _against_corpus(step: Step, state: State, workspace: Workspace, manifest: Manifest) -> Features:
    """The question's features with what the index and the tables say of its words."""
    terms = content_terms(state["asked"])
    idf = step.call("reads", workspace.idf, terms)
    known = step.call("reads", workspace.frequency, terms)
    total = sum(idf.values())
    unknown = sum(idf[t] for t in terms if not known[t]) / total if total else 0.0
    overlap = max((_table_overlap(set(terms), table) for table in manifest["tables"]), default=0.0)
    return read_question(state["asked"], state["turns"], unknown, overlap)


def _table_overlap(terms: set[str], table: Any) -> float:
    """Share of the question's terms that are the table's name, columns or sample values; 0 where no name or column is."""
    names = set(content_terms(" ".join([table["name"], *(c["name"] for c in table["columns"])]).replace("_", " ")))
    values = set(content_terms(" ".join(v for c in table["columns"] for v in c["values"])))
    return len(terms & (names | values)) / len(terms) if terms & names else 0.0


def _settle(features: Features, state: State, manifest: Manifest, *, web: bool) -> Plan:
    """The plan that runs: the suggestion under the caller's options, the structure's rules, tier and capability."""
    said = state["said"]
    off = said.get("plan") is False
    proposed = suggest(features, state["turns"], manifest)
    if off:
        proposed = _defaults_alone(features)
    ledger = Ledger(said)
    by = "default" if off else "plan"
    for field, value in asdict(proposed).items():
        if field not in {"confidence", "reasoning", "chat"}:
            ledger.put(field, value, by)  # type: ignore[arg-type]
    for field, value in DEFAULTS.items():
        ledger.put(field, value, "default")
    ledger.put("strategy", TIER_STRATEGY[ledger["tier"]], "default")
    if not off:
        _breadth(ledger, proposed, features, manifest)
        _normalise(ledger)
    _level(ledger, proposed, off)
    _ceiling(ledger, manifest, web)
    return _compile(ledger, proposed, features, manifest, off)


def _defaults_alone(features: Features) -> Suggestion:
    return Suggestion(
        "documents", "corpus", "fact_lookup", "semantic", "moderate", "irrelevant", False, 1, False, features.text, 1.0,
        "planning is off: the configured defaults and the explicit options decide",
    )  # fmt: skip


def _breadth(ledger: Ledger, proposed: Suggestion, features: Features, manifest: Manifest) -> None:
    configured = DEFAULTS["top_k"]
    wanted = top_k_for(ledger["breadth"], proposed.confidence, configured, manifest["chunks"])
    if features.requested_count:
        wanted = min(max(wanted, features.requested_count), max(1, manifest["chunks"]))
    ledger.change("top_k", wanted, "plan", f"breadth {ledger['breadth']} of the rubric")


def _normalise(ledger: Ledger) -> None:
    """Structure, by task and never by phrase (SPEC §3)."""
    task, evidence = ledger["task_type"], ledger["retrieval_strategy"]
    if task == "overview" and evidence != "global":
        ledger.change("retrieval_strategy", "global", "normalisation", "an overview needs every source")
    if task in {"comparison", "cross_document_synthesis"} and evidence == "semantic":
        ledger.change("retrieval_strategy", "hierarchical", "normalisation", "what is compared needs its own evidence")
    if ledger["route"] in {"web", "none"} and evidence != "none":
        ledger.change("retrieval_strategy", "none", "normalisation", f"route {ledger['route']} reads no documents")
    if ledger["route"] in {"documents", "hybrid"} and evidence == "none":
        ledger.change("retrieval_strategy", "semantic", "normalisation", "a document route reads documents")
    if ledger["route"] in {"web", "hybrid"} and ledger["web_relevance"] == "irrelevant":
        ledger.change("web_relevance", "required", "normalisation", "the route was asked for")


def _level(ledger: Ledger, proposed: Suggestion, off: bool) -> None:
    if proposed.confidence < ESCALATE_BELOW and not off:
        higher = LEVELS[min(LEVELS.index(ledger["level"]) + 1, len(LEVELS) - 1)]
        ledger.change("level", higher, "plan", "confidence is low")
    ceiling = TIER_LEVEL[ledger["tier"]]
    ledger.put("effective_level", ledger["level"], "plan")
    if LEVELS.index(ledger["level"]) > LEVELS.index(ceiling):
        ledger.change("effective_level", ceiling, "tier", f"tier {ledger['tier']} goes no further")


def _ceiling(ledger: Ledger, manifest: Manifest, web: bool) -> None:
    """What cannot be done is not planned; a caller who forces it is told so."""
    said_strategy = ledger.fields["strategy"]["by"] == "caller"
    if ledger["strategy"] not in STRATEGIES:
        if said_strategy:
            raise BadRequest(
                f'Strategy "{ledger["strategy"]}" is not available in this version: choose {", ".join(sorted(STRATEGIES))}.'
            )
        ledger.change("strategy", "hybrid", "capability", f"{ledger['strategy']} is not available in this version")
    for knob in ("graph", "rerank"):
        if ledger[knob]:
            raise BadRequest(f'Option "{knob}" is not available in this version: leave it out.')
    if ledger["route"] == "sql" and ledger.fields["route"]["by"] != "caller":
        ledger.change("route", "documents", "capability", "answering from tables is not available in this version")
        ledger.change("retrieval_strategy", "semantic", "capability", "answering from tables is not available")
    if ledger["route"] == "hybrid" and not web and ledger.fields["route"]["by"] != "caller":
        ledger.notes.append("the web half is left out: no web key is configured")


def _compile(ledger: Ledger, proposed: Suggestion, features: Features, manifest: Manifest, off: bool) -> Plan:
    """The knobs that depend on others, and the one list of searches."""
    v = ledger.values
    chunks = manifest["chunks"]
    candidates = max(v["top_k"], min(max(50, chunks // 20), 200, chunks or 50))
    focused = v["task_type"] in {"fact_lookup", "followup"} and v["retrieval_strategy"] in {
        "semantic",
        "hierarchical",
    }
    many = features.requested_count or 0
    context_k = (
        FOCUSED_CONTEXT if focused and not v["decomposable"] and many <= FOCUSED_CONTEXT and not off else v["top_k"]
    )
    reads = v["route"] in {"documents", "hybrid", "sql"} and v["retrieval_strategy"] != "none"
    rewritten = v["rewritten_query"]
    queries = [features.text] if _keeps_original(ledger, features) else []
    queries += [q for q in (rewritten, *(features.sub_questions if v["decomposable"] else ())) if q not in queries]
    searches: list[Search] = []
    if reads:
        for n, text in enumerate(queries[: 1 + int(ledger.said.get("max_variants", 4))]):
            searches.append(
                {
                    "text": text,
                    "kind": "original" if n == 0 and text == features.text else "rewrite",
                    "legs": ["sparse", "dense"] if v["hybrid"] else ["dense"],
                    "depth": candidates,
                }
            )
    plan: Json = {
        **{k: v[k] for k in v if k in Plan.__annotations__},
        "document_queries": [s["text"] for s in searches],
        "web_queries": [rewritten] if v["route"] in {"web", "hybrid"} else [],
        "variants": [{"kind": "rewrite", "text": rewritten}] if rewritten != features.text else [],
        "sub_questions": list(features.sub_questions) if v["decomposable"] else [],
        "requested_count": features.requested_count,
        "quoted": list(features.quoted),
        "identifiers": list(features.identifiers),
        "candidates": candidates,
        "context_k": min(context_k, v["top_k"]),
        "searches": searches,
        "sources": {"vector": reads, "bm25": reads and v["hybrid"], "graph": False, "raptor": False, "memory": False,
                    "multimodal": False},
        "chat": proposed.chat if v["route"] == "none" else None,
        "confidence": proposed.confidence,
        "reasoning": proposed.reasoning,
        "planner": "off" if off else "rules",
        "fallback": False,
        "fallback_reason": None,
        "planning_ms": 0.0,
        "notes": ledger.notes,
        "fields": ledger.fields,
    }  # fmt: skip
    return cast(Plan, plan)


def _keeps_original(ledger: Ledger, features: Features) -> bool:
    """Are the asker's own words searched? Always, unless that was explicitly refused and a rewrite stands in."""
    return ledger.said.get("include_original") is not False or ledger["rewritten_query"] == features.text
