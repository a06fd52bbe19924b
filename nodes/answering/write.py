"""The answer that a model writes: packed to fit, streamed, held against its evidence, revised, and cut to what stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from langchain_core.messages import AIMessage, AIMessageChunk
from langgraph.graph.message import push_message

from backends.chat import ChatModel, ChatReply
from backends.errors import ModelUnavailable
from graph.asking import ask_json, ask_text, truncation
from graph.context import Step
from graph.options import TIER_REVISIONS
from graph.reading import read_evidence
from graph.seam import OverBudget
from graph.state import Draft, State
from nodes.answering.extract import ending
from prompts import answer, revise
from prompts.answer import NOT_THERE, Evidence
from prompts.plan import outline
from retrieval.answer_stream import AnswerStream
from retrieval.claims import Checked, Claim, check, claims_of, is_slight, joined, quote, with_plain_marks
from retrieval.json_reply import without_reasoning
from retrieval.tokenise import content_terms
from retrieval.tokens import estimate_messages
from retrieval.types import Citation, Json, Message, Passage, Turn
from retrieval.words import language_of

BROAD = {"overview", "insight_synthesis", "comparison", "cross_document_synthesis"}
OUTLINE_CHARS = 1_200
HISTORY_SHARE = 0.2  # ⚙ of the window, at most
SMALLER = 0.6  # ⚙ of the window, where the endpoint says that the prompt was too long for it
MOST_WEB = 5


class Unwritten(Exception):
    """No answer of the model's can be shown; the message says why, as a sentence."""


@dataclass(frozen=True)
class Material:
    """What the answer may stand on: passages and web results by mark, and the weights of words in this workspace."""

    evidence: list[Evidence]
    passages: dict[str, Passage]
    web: dict[str, Json]
    about: str


async def write(step: Step, state: State, model: ChatModel) -> tuple[Draft, Json]:
    """The draft, and an account of what was removed, revised and dropped. Raises Unwritten."""
    material = await asyncio.to_thread(_material, step, state)
    if not material.evidence:
        raise Unwritten("There is no passage for the model to read.")
    language = language_of(state["asked"])
    stream = _Stream(step, [e.mark for e in material.evidence])
    packed, reply, warnings = await _ask(step, state, model, material, language, stream)
    text = without_reasoning(reply["text"])
    if reply["finish"] == "refusal" or not text:
        raise Unwritten(f"The model {model.name} gave {'no answer' if text else 'an empty answer'}.")
    if NOT_THERE.casefold() in text.casefold().replace(" ", "_")[: len(NOT_THERE) + 20]:
        return _not_there(state, model), {"citations_removed": [], "warnings": warnings}
    if reply["finish"] == "length":
        warnings.append("The model's answer was cut at the limit of its length.")
    checker = _Checker(step, state, packed, language)
    found = await checker.all(claims_of(with_plain_marks(text, [e.mark for e in packed])))
    found, revised = await _revise(step, state, model, packed, language, checker, found)
    kept = [c.claim for c in found if c.supported]
    dropped = len(found) - len(kept)
    if not any(claim.marks for claim in kept):
        raise Unwritten(f"What the model {model.name} wrote does not stand in the passages.")
    if dropped:
        warnings.append(f"{dropped} of {len(found)} sentences were left out: no passage says what they say.")
    if not checker.by_words:
        warnings.append(
            "The passages are in another language: of each sentence, its figures and identifiers were checked."
        )
    status, missing = ending(state)
    draft: Draft = {
        "answer": joined(kept), "status": status, "citations": checker.citations(kept, material), "missing": missing,
        "mode": "model", "message_id": stream.message_id,
    }  # fmt: skip
    stream.settle(draft["answer"])
    removed = [mark for c in found for mark in c.removed]
    if removed:
        marks = ", ".join(f"[{mark}]" for mark in dict.fromkeys(removed))
        warnings.append(f"Marks that open on nothing, or on what does not say it, were removed: {marks}.")
    return draft, {
        "citations_removed": removed, "revised": revised, "dropped": dropped, "passages_read": len(packed),
        "passages_left_out": len(material.evidence) - len(packed), "warnings": warnings,
    }  # fmt: skip


def _material(step: Step, state: State) -> Material:
    """The passages of the plan's context, whole, and the web's results, in the order of their rank."""
    plan, grading = state["decided"], state["grading"]
    passages: dict[str, Passage] = {}
    about = ""
    if state["passages"] and (grading is None or grading["verdict"] != "weak"):
        workspace = step.workspace()
        reading = read_evidence(step, state, workspace)
        keep = max(plan["context_k"], 1)
        passages = {str(n): p for n, p in enumerate(reading.passages[:keep], start=1)}
        if plan["task_type"] == "overview":
            scope = step.call("reads", workspace.resolve_scope, state["said"].get("scope") or [])
            about = outline(step.call("reads", workspace.manifest, scope), OUTLINE_CHARS)
    web = {f"W{n}": r for n, r in enumerate(state["web_results"][:MOST_WEB], start=1)}
    evidence = [Evidence(mark, _where(p), p["text"]) for mark, p in passages.items()]
    evidence += [
        Evidence(m, f"{r['title']} ({r['url']}, {r.get('date') or 'no date'})", r["content"]) for m, r in web.items()
    ]
    return Material(evidence, passages, web, about)


def _where(passage: Passage) -> str:
    return " · ".join(part for part in (passage["title"], " > ".join(passage["heading"]), passage["place"]) if part)


async def _ask(
    step: Step, state: State, model: ChatModel, material: Material, language: str, stream: _Stream
) -> tuple[list[Evidence], ChatReply, list[str]]:
    """The reply and the evidence that it saw; once more with less where the endpoint finds the prompt too long."""
    window = model.context_window
    for last in (False, True):
        packed, request = _pack(state, material, language, window - model.max_completion)
        if not packed:
            raise Unwritten(
                f"No passage fits into the context of the model {model.name} ({model.context_window:,} tokens)."
            )
        try:
            reply = await ask_text(step, model, request, on_token=stream.feed)
        except OverBudget as limit:
            raise Unwritten(f"The budget {limit} ended the model's work.") from None
        except ModelUnavailable as error:
            if last or error.kind != "context":
                raise Unwritten(str(error)) from None
            window = int(window * SMALLER)
            continue
        stream.end()
        cut = truncation(model, request, reply)
        return packed, reply, [cut] if cut else []
    raise AssertionError("unreachable")


def _pack(state: State, material: Material, language: str, room: int) -> tuple[list[Evidence], list[Message]]:
    """The request that fits: the question and the instructions whole, then passages by rank, whole or not at all."""
    plan = state["decided"]

    def request(evidence: Sequence[Evidence], turns: Sequence[Turn]) -> list[Message]:
        return answer.messages(
            state["asked"], language, evidence, turns, state["run"]["now"], plan["task_type"], plan["requested_count"],
            material.about,
        )  # fmt: skip

    turns: list[Turn] = []
    bare = estimate_messages(request([], []))
    for turn in reversed(state["turns"]):
        if estimate_messages(request([], [turn, *turns])) - bare > room * HISTORY_SHARE:
            break
        turns.insert(0, turn)
    packed: list[Evidence] = []
    for evidence in material.evidence:
        if estimate_messages(request([*packed, evidence], turns)) > room:
            break
        packed.append(evidence)
    return packed, request(packed, turns)


async def _revise(
    step: Step, state: State, model: ChatModel, packed: Sequence[Evidence], language: str, checker: _Checker,
    found: list[Checked],
) -> tuple[list[Checked], int]:  # fmt: skip
    """Unsupported sentences written anew, as often as the tier pays for; what then stands takes their place."""
    revised = 0
    for _ in range(TIER_REVISIONS[state["decided"]["tier"]]):
        weak = [n for n, c in enumerate(found) if not c.supported]
        if not weak:
            break
        request = revise.messages(state["asked"], language, packed, [found[n].claim.text for n in weak])
        try:
            reply = await ask_json(step, model, request, revise.Reply)
        except (ModelUnavailable, OverBudget) as error:
            step.tell(event="revision", failed=str(error))
            break
        for n, text in zip(weak, reply.sentences, strict=False):
            old = found[n].claim
            new = [
                replace(c, lead=old.lead, line=old.line) for c in claims_of(with_plain_marks(text, list(checker.texts)))
            ]
            if new and (again := (await checker.all(new[:1]))[0]).supported and not is_slight(again.claim.text):
                found[n] = replace(again, removed=found[n].removed + again.removed)
                revised += 1
    return found, revised


def _not_there(state: State, model: ChatModel) -> Draft:
    """The model has read the passages and finds no answer in them: they are named, and nothing is made of them."""
    closest = dict.fromkeys(f"{p['source']}{', ' + p['place'] if p['place'] else ''}" for p in state["passages"][:3])
    lines = ["The passages that were found do not answer this."]
    if closest:
        lines.append(f"Closest passages: {'; '.join(closest)}.")
    return {
        "answer": "\n".join(lines), "status": "abstained", "citations": [], "mode": "model",
        "missing": [f"a passage that answers: the model {model.name} read the closest ones and found none"],
    }  # fmt: skip


class _Checker:
    """Holds claims against the evidence that the model saw."""

    def __init__(self, step: Step, state: State, packed: Sequence[Evidence], language: str) -> None:
        self.step, self.state = step, state
        self.texts = {e.mark: f"{e.where}\n{e.text}" for e in packed}
        self.bodies = {e.mark: e.text for e in packed}
        self.idf: dict[str, float] = {}
        # what words decide, they decide within one language
        self.by_words = language in {language_of(e.text) for e in packed}

    async def all(self, claims: Sequence[Claim]) -> list[Checked]:
        await asyncio.to_thread(self._weigh, claims)
        return [check(c, self.texts, self.idf, by_words=self.by_words) for c in claims]

    def _weigh(self, claims: Sequence[Claim]) -> None:
        terms = sorted({t for c in claims for t in content_terms(c.text)})
        if self.state["passages"]:
            self.idf.update(self.step.call("reads", self.step.workspace().idf, terms))

    def citations(self, claims: Sequence[Claim], material: Material) -> list[Citation]:
        """What each mark opens on: the sentence of its passage that says most of the first claim that cites it."""
        out: dict[str, Citation] = {}
        for claim in claims:
            for mark in claim.marks:
                if mark not in out:
                    out[mark] = _citation(mark, quote(claim.text, self.bodies[mark], self.idf), material)
        return [out[mark] for mark in sorted(out, key=lambda m: (m.startswith("W"), int(m.lstrip("W"))))]


def _citation(mark: str, text: str, material: Material) -> Citation:
    if mark in material.web:
        result = material.web[mark]
        return {
            "id": mark, "kind": "web", "source": result["title"], "place": result["url"], "text": text,
            "score": float(result.get("score") or 0.0), "url": result["url"], "date": str(result.get("date") or ""),
        }  # fmt: skip
    passage = material.passages[mark]
    return {
        "id": mark, "kind": "document", "source": passage["source"], "place": passage["place"], "text": text,
        "score": round(passage["score"], 4),
    }  # fmt: skip


class _Stream:
    """Sends the answer's safe pieces to whoever streams messages, and the whole once where the check changed it."""

    def __init__(self, step: Step, marks: Sequence[str]) -> None:
        self.message_id = step.new_id()
        self._filter = AnswerStream(marks, self._send, NOT_THERE)

    @property
    def feed(self) -> Callable[[str], None]:
        return self._filter

    def end(self) -> None:
        self._filter.close()

    def settle(self, text: str) -> None:
        if self._filter.sent and self._filter.sent.strip() != text:
            push_message(AIMessage(text, id=self.message_id), state_key=None)

    def _send(self, text: str) -> None:
        push_message(AIMessageChunk(content=text, id=self.message_id), state_key=None)
