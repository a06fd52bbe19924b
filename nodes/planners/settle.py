"""From a suggestion to the plan that runs: the caller's options, the structure's rules, the tier, what is possible."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, cast

from backends.errors import BadRequest
from graph.state import DecidedBy, Level, Plan, Search
from nodes.planners.ledger import Ledger
from nodes.planners.rules import Suggestion
from nodes.strategies import STRATEGIES
from retrieval.features import Features
from retrieval.rubric import top_k_for
from retrieval.types import Json, Manifest

DEFAULTS: Json = {"tier": "balanced", "top_k": 8, "hybrid": True, "graph": False, "rerank": False}
TIER_STRATEGY = {"fast": "self_rag", "balanced": "self_rag", "deep": "multi_hop"}
TIER_LEVEL: dict[str, Level] = {"fast": "simple", "balanced": "moderate", "deep": "complex"}
LEVELS: tuple[Level, ...] = ("none", "simple", "moderate", "complex")
ESCALATE_BELOW = 0.4  # ⚙
FOCUSED_CONTEXT = 3
LISTS = {"sub_questions", "document_queries", "web_queries"}  # of a suggestion; what comes of them is compiled


@dataclass(frozen=True)
class Proposal:
    """A suggestion and how it came to be. `fallback` is why the model's plan is not the one, where it was asked for."""

    suggestion: Suggestion
    planner: Literal["rules", "semantic", "off"]
    fallback: str | None = None
    notes: tuple[str, ...] = ()


def settle(proposal: Proposal, features: Features, said: Json, manifest: Manifest, *, web: bool) -> Plan:
    """The plan that runs: the suggestion under the caller's options, the structure's rules, tier and capability."""
    off, proposed = proposal.planner == "off", proposal.suggestion
    ledger = Ledger(said)
    ledger.notes.extend(proposal.notes)
    by: DecidedBy = "default" if off else "plan"
    for field, value in asdict(proposed).items():
        if field in Plan.__annotations__ and field not in {"confidence", "reasoning", "chat", *LISTS}:
            ledger.put(field, value, by)
    for field, value in DEFAULTS.items():
        ledger.put(field, value, "default")
    ledger.put("strategy", TIER_STRATEGY[ledger["tier"]], "default")
    if not off:
        _breadth(ledger, proposed, features, manifest)
        _normalise(ledger)
    _level(ledger, proposed, off)
    _ceiling(ledger, manifest, web)
    return _compile(ledger, proposal, features, manifest)


def defaults_alone(features: Features) -> Suggestion:
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


def _compile(ledger: Ledger, proposal: Proposal, features: Features, manifest: Manifest) -> Plan:
    """The knobs that depend on others, and the one list of searches."""
    v, proposed, off = ledger.values, proposal.suggestion, proposal.planner == "off"
    parts = list(proposed.sub_questions) if v["decomposable"] else []
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
    queries += [q for q in dict.fromkeys((rewritten, *parts, *proposed.document_queries)) if q not in queries]
    searches: list[Search] = []
    if reads:
        queries = queries[: 1 + int(ledger.said.get("max_variants", 4))]
        own = {features.text, rewritten}
        added = sum(q not in own for q in queries)
        for n, text in enumerate(queries):
            searches.append(
                {
                    "text": text,
                    "kind": "original" if n == 0 and text == features.text else "rewrite",
                    "legs": ["sparse", "dense"] if v["hybrid"] else ["dense"],
                    "depth": candidates,
                    # what a model adds weighs, all together, as much as the asker's own words: it may have drifted
                    "weight": 1 / added if proposal.planner == "semantic" and text not in own else 1.0,
                }
            )
    plan: Json = {
        **{k: v[k] for k in v if k in Plan.__annotations__},
        "document_queries": [s["text"] for s in searches],
        "web_queries": list(proposed.web_queries or (rewritten,)) if v["route"] in {"web", "hybrid"} else [],
        "variants": [{"kind": "rewrite", "text": rewritten}] if rewritten != features.text else [],
        "sub_questions": parts,
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
        "planner": proposal.planner,
        "fallback": proposal.fallback is not None,
        "fallback_reason": proposal.fallback,
        "planning_ms": 0.0,
        "price": {"model_calls": 0, "input_tokens": 0, "output_tokens": 0, "searches": sum(len(s["legs"]) for s in searches),
                  "cost": None},
        "notes": ledger.notes,
        "fields": ledger.fields,
    }  # fmt: skip
    return cast(Plan, plan)


def _keeps_original(ledger: Ledger, features: Features) -> bool:
    """Are the asker's own words searched? Always, unless that was explicitly refused and a rewrite stands in."""
    return ledger.said.get("include_original") is not False or ledger["rewritten_query"] == features.text
