"""The rules planner: what the question's features and the manifest suggest, without a model.

It reads kinds of question (what is asked for, of what, how broadly), never particular ones.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from graph.options import Route
from graph.state import Evidence, Level, Relevance, Scope, TaskType
from retrieval.arithmetic import compute
from retrieval.features import Features
from retrieval.types import Manifest, Turn

UNKNOWN_WORLD = (
    0.45  # ⚙ share of a question's weight that the corpus does not hold, above which "today" means the world
)
LONGEST_SUBJECT = 300  # characters of the question before that a follow-up takes along
TABLE_BAR = 0.5  # ⚙ share of a question's terms that are names, columns or values of one table

_GREETING = re.compile(
    r"^\W*(hi|hello|hey|good (?:morning|afternoon|evening|day)|thanks?(?: you)?|thank you|bye|goodbye|hallo|guten tag|"
    r"danke|bonjour|merci|hola|gracias|ciao|こんにちは|你好|안녕하세요)\b[\s\w,]{0,24}[!.?]*\s*$",
    re.I,
)
_IDENTITY = re.compile(
    r"\b(who|what) are you\b|\bwhat can (?:you do|i ask)\b|\bhow do you work|\bwhat is perquire\b|\byour name\b",
    re.I,
)
_REWORD = re.compile(
    r"^\W*(?:please\s+)?(?:can you\s+|could you\s+)?(?:write|compose|translate|rephrase|reword|rewrite|proofread|spell)\b.*"
    r"(?:\b(?:poem|haiku|limerick|joke|song|story)\b|[\"“'].+[\"”'])",
    re.I | re.S,
)
_REFUSE = re.compile(
    r"(?:ignore|disregard|forget) (?:all |any |the |your )*(?:previous |prior |above )*(?:instructions|rules)|"
    r"\b(?:your|the) (?:system|hidden|initial) (?:prompt|instructions|message)|"
    r"\b(?:other|another) (?:tenant|user|customer|account)s?\W*(?:'s|s')?\b.{0,40}\b(?:server|workspace|system|data|"
    r"documents|files)\b|"
    r"\b(?:read_csv|read_text|read_blob|pragma|attach|copy)\s*\(?.*['\"]?/?(?:etc|home|var|proc)/",
    re.I | re.S,
)


@dataclass(frozen=True)
class Suggestion:
    """What a planner proposes. `confidence` is 0 to 1; `reasoning` one sentence that a person can read."""

    route: Route
    knowledge_scope: Scope
    task_type: TaskType
    retrieval_strategy: Evidence
    level: Level
    web_relevance: Relevance
    requires_fresh_web: bool
    breadth: int
    decomposable: bool
    rewritten_query: str
    confidence: float
    reasoning: str
    chat: str | None = None
    sub_questions: tuple[str, ...] = ()
    document_queries: tuple[str, ...] = ()
    web_queries: tuple[str, ...] = ()


def suggest(features: Features, history: Sequence[Turn], manifest: Manifest) -> Suggestion:
    """The suggestion for one question."""
    chat = _small_talk(features.text)
    if chat:
        kind, why = chat
        return _of(features, "none", "corpus", "fact_lookup", "none", "none", why, 0.9, chat=kind)
    rewritten = _standalone(features, history)
    parts = len(features.sub_questions) > 1
    if features.fresh and not features.ours and features.unknown >= UNKNOWN_WORLD:
        return _of(
            features, "web", "external", "fact_lookup", "none", "simple",
            "asks about the world as it is now, in words that the documents do not hold", 0.7, web="required", fresh=True,
        )  # fmt: skip
    if features.fresh and features.ours and features.unknown >= UNKNOWN_WORLD / 2 and features.comparison:
        return _of(
            features, "hybrid", "mixed", "comparison", "hierarchical", "moderate",
            "sets what the documents say beside what holds outside today", 0.6, web="required", fresh=True, breadth=1,
        )  # fmt: skip
    if features.insight:
        return _of(
            features, "documents", "corpus", "insight_synthesis", "analytical", "complex",
            "asks what stands out across sources", 0.7, breadth=2, decomposable=parts,
        )  # fmt: skip
    if features.overview:
        return _of(
            features,
            "documents",
            "corpus",
            "overview",
            "global",
            "simple",
            "asks about the collection itself",
            0.8,
            breadth=3,
        )
    if features.comparison:
        return _of(
            features, "documents", "corpus", "comparison", "hierarchical", "moderate",
            "sets two things side by side", 0.8, breadth=1, decomposable=True, rewritten=rewritten,
        )  # fmt: skip
    if manifest["tables"] and features.table_overlap >= TABLE_BAR and (features.aggregation or not features.quoted):
        task: TaskType = "aggregation" if features.aggregation else "fact_lookup"
        return _of(
            features, "sql", "structured_data", task, "table", "simple",
            "its words are a table's columns and values", 0.6, rewritten=rewritten,
        )  # fmt: skip
    if features.broad:
        return _of(
            features, "documents", "corpus", "cross_document_synthesis", "hierarchical", "moderate",
            "needs several areas, each with a passage of its own", 0.6, breadth=2, decomposable=parts,
        )  # fmt: skip
    if features.follow_up:
        return _of(
            features, "documents", "corpus", "followup", "semantic", "simple",
            "continues the conversation", 0.6, rewritten=rewritten,
        )  # fmt: skip
    exact = bool(features.identifiers or features.quoted)
    return _of(
        features, "documents", "corpus", "fact_lookup", "semantic", "moderate" if parts else "simple",
        "looks up an exact term" if exact else "looks up one fact", 0.8 if exact else 0.6,
        breadth=1 if features.requested_count or parts else 0, decomposable=parts, rewritten=rewritten,
    )  # fmt: skip


def _of(
    features: Features, route: Route, scope: Scope, task: TaskType, evidence: Evidence, level: Level, why: str,
    confidence: float, *, web: Relevance = "irrelevant", fresh: bool = False, breadth: int = 0,
    decomposable: bool = False, rewritten: str = "", chat: str | None = None,
) -> Suggestion:  # fmt: skip
    return Suggestion(
        route, scope, task, evidence, level, web, fresh, breadth, decomposable, rewritten or features.text,
        confidence, why, chat, features.sub_questions if decomposable else (),
    )  # fmt: skip


def _small_talk(text: str) -> tuple[str, str] | None:
    """What needs no evidence: (kind of reply, reason)."""
    if _REFUSE.search(text):
        return "refuse", "asks for something outside the job"
    if _GREETING.match(text):
        return "greeting", "is a greeting"
    if _IDENTITY.search(text):
        return "identity", "asks about Perquire itself"
    if compute(text) is not None:
        return "arithmetic", "is arithmetic"
    if _REWORD.match(text):
        return "reword", "asks for writing, which needs no evidence"
    return None


def _standalone(features: Features, history: Sequence[Turn]) -> str:
    """A follow-up with the subject of what came before put in front: the last question's own terms, and the names in the
    last answer. The asker's own words are searched too, so a wrong subject costs little."""
    if not features.follow_up or not history:
        return features.text
    questions = [t["content"] for t in history if t["role"] == "user"]
    answers = [t["content"] for t in history if t["role"] == "assistant"]
    names = re.findall(r"\b(?:[A-Z][\w-]*\w(?:\s+(?=[A-Z]))?)+", _without_marks(answers[-1])[:400]) if answers else []
    proper = [n.strip() for n in names if " " in n.strip() or re.search(r"\d|[A-Z].*[A-Z]", n)]
    subject = " ".join(dict.fromkeys([*(q[:LONGEST_SUBJECT] for q in questions[-1:]), *proper[:4]]))
    return f"{features.text} ({subject})" if subject else features.text


def _without_marks(answer: str) -> str:
    return re.sub(r"\[[TW]?\d+\]", "", answer)
