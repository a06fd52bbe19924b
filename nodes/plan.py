"""plan: decides, once per question, how it will be retrieved."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from langgraph.runtime import Runtime

from backends.errors import ModelUnavailable, NoWorkspace, PerquireError
from backends.workspace import Workspace
from graph.asking import ask_json, chat_model
from graph.context import Context, Step
from graph.options import TIER_REVISIONS
from graph.seam import OverBudget
from graph.state import Plan, Price, State, Update
from nodes.planners.rules import suggest
from nodes.planners.semantic import CERTAIN, merged
from nodes.planners.settle import Proposal, defaults_alone, settle
from prompts.plan import MANIFEST_CHARS, Reply, messages
from retrieval.features import Features, read_question
from retrieval.tokenise import content_terms
from retrieval.types import Manifest

PROMPT_TOKENS, PASSAGE_TOKENS = 600, 250  # of an answer's instructions and of a passage, for the price; estimates

log = logging.getLogger(__name__)

EMPTY: Manifest = {"sources": [], "tables": [], "chunks": 0, "source_count": 0, "kinds": {}}


@dataclass(frozen=True)
class Sight:
    """What a planner sees: the question's features, and the manifest inside the scope."""

    features: Features
    manifest: Manifest
    web: bool


async def plan(state: State, runtime: Runtime[Context]) -> Update:
    """Raises UnknownSource for a scope that names none, BadRequest for what cannot be forced."""
    step = Step("plan", state, runtime)
    sight = await asyncio.to_thread(_look, step, state)
    proposal = await _propose(step, state, sight)
    decided = settle(proposal, sight.features, state["said"], sight.manifest, web=sight.web)
    decided["price"] = await _price(step, state, decided)
    decided["planning_ms"] = round(step.elapsed_ms(), 2)
    kept_off = await asyncio.to_thread(step.call, "reads", step.library.kept_off)
    instead = f"Planned by rules: {decided['fallback_reason']}" if decided["fallback"] else ""
    return {
        "decided": decided,
        "warnings": [*state["warnings"], *(warning for warning in (kept_off, instead) if warning)],
        "trace": step.trace(event="plan", plan=decided, summary=summary(decided)),
        "usage": step.usage(),
    }


def _look(step: Step, state: State) -> Sight:
    manifest, features = EMPTY, read_question(state["asked"], state["turns"])
    try:
        workspace = step.workspace()
        scope = step.call("reads", workspace.resolve_scope, state["said"].get("scope") or [])
        manifest = step.call("reads", workspace.manifest, scope)
        if manifest["chunks"]:
            features = _against_corpus(step, state, workspace, manifest)
    except NoWorkspace:
        pass  # preflight ends the run with what to do; small talk needs no workspace
    return Sight(features, manifest, step.library.web is not None)


async def _propose(step: Step, state: State, sight: Sight) -> Proposal:
    """The rules' suggestion, and above it the model's, where one is configured, the tier pays for it and it is needed."""
    if state["said"].get("plan") is False:
        return Proposal(defaults_alone(sight.features), "off")
    rules = suggest(sight.features, state["turns"], sight.manifest)
    model = None if state["said"].get("tier") == "fast" else await chat_model(step, "planning")
    if model is None or not sight.manifest["chunks"]:
        return Proposal(rules, "rules")
    if rules.confidence >= CERTAIN:
        return Proposal(
            rules, "rules", notes=(f"the model was not asked for a plan: for certain, this {rules.reasoning}",)
        )
    budget = min(MANIFEST_CHARS, model.context_window)  # at three characters a token, a third of the window
    request = messages(
        state["asked"], state["turns"], sight.manifest, state["run"]["now"], web=sight.web, budget=budget
    )
    try:
        reply = await ask_json(step, model, request, Reply)
        suggestion, notes = merged(rules, reply, sight.features, web=sight.web)
    except (ModelUnavailable, OverBudget) as error:
        why = f"The budget {error} is spent." if isinstance(error, OverBudget) else str(error)
        return Proposal(rules, "rules", fallback=why)
    except PerquireError:  # meant for the person who asked
        raise
    except Exception as fault:  # a plan is only a suggestion: no fault of its planner may cost the question its answer
        log.exception("The planner failed; the rules plan in its place.")
        return Proposal(rules, "rules", fallback=f"The planner failed ({type(fault).__name__}); the log has the fault.")
    return Proposal(suggestion, "semantic", notes=tuple(notes))


async def _price(step: Step, state: State, decided: Plan) -> Price:
    """What carrying the plan out may cost at most, before corrections."""
    price = decided["price"]
    model = await chat_model(step, "answering")
    reads = decided["route"] != "none"
    if model is None or not (reads or decided["chat"] == "reword"):
        return price
    tier = decided["tier"]
    calls = min(1 + (TIER_REVISIONS[tier] if reads else 0), max(0, step.model_calls_left()))
    passages = decided["context_k"] * PASSAGE_TOKENS if reads else 0
    prompt = min(PROMPT_TOKENS + passages, model.context_window - model.max_completion)
    tokens = (calls * prompt, calls * model.max_completion)
    cost = model.price.of(*tokens) if model.price else None
    return {**price, "model_calls": calls, "input_tokens": tokens[0], "output_tokens": tokens[1], "cost": cost}


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
