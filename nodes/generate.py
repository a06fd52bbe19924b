"""generate: the answer, with its citations: written by the model where one is configured, else made of verbatim sentences."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from backends.errors import ModelUnavailable
from graph.asking import ask_text, chat_model
from graph.context import Context, Step
from graph.reading import warned
from graph.replies import reply
from graph.seam import OverBudget
from graph.state import Draft, State, Update
from nodes.answering.extract import extract
from nodes.answering.write import Unwritten, write
from prompts import reword
from retrieval.citations import checked
from retrieval.json_reply import without_reasoning
from retrieval.types import Json


async def generate(state: State, runtime: Runtime[Context]) -> Update:
    step = Step("generate", state, runtime)
    plan = state["decided"]
    draft, account = await (_without_evidence(step, state) if plan["route"] == "none" else _answer(step, state))
    return {
        "draft": draft,
        "warnings": warned(step, state) + account.pop("warnings"),
        "trace": step.trace(
            event="answer",
            status=draft["status"],
            mode=draft.get("mode", "extractive"),
            citations=draft["citations"],
            **account,
        ),
        "usage": step.usage(),
    }


async def _answer(step: Step, state: State) -> tuple[Draft, Json]:
    """The draft, and an account of how it came to be."""
    warnings: list[str] = []
    if model := await chat_model(step, "answering"):
        try:
            return await write(step, state, model)
        except Unwritten as why:
            warnings.append(f"{why} The answer is extractive: sentences of the documents, word for word.")
    draft = await asyncio.to_thread(extract, step, state, state["decided"])
    text, citations, removed = checked(draft["answer"], draft["citations"])
    return {**draft, "answer": text, "citations": citations}, {"citations_removed": removed, "warnings": warnings}


async def _without_evidence(step: Step, state: State) -> tuple[Draft, Json]:
    """A fixed reply, or work on the text that the question brings, which only a model can do."""
    draft = reply(state["asked"], state["decided"]["chat"])
    model = await chat_model(step, "answering") if state["decided"]["chat"] == "reword" else None
    if model is None:
        return draft, {"citations_removed": [], "warnings": []}
    try:
        said = await ask_text(step, model, reword.messages(state["asked"]))
    except (ModelUnavailable, OverBudget) as error:
        why = f"The budget {error} is spent." if isinstance(error, OverBudget) else str(error)
        return draft, {"citations_removed": [], "warnings": [why]}
    text = without_reasoning(said["text"])
    return {**draft, "answer": text or draft["answer"], "mode": "model"}, {"citations_removed": [], "warnings": []}
