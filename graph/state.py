"""What flows through the graph. Plain data only: it survives a checkpoint and `json.dumps`."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from langgraph.managed import RemainingSteps
from langgraph.types import Overwrite
from pydantic import Field, PrivateAttr
from typing_extensions import TypedDict

from backends.errors import BadRequest
from graph.options import OneTurn, Options, Route, Strategy, Tier
from retrieval.types import Citation, Json, Passage, Turn

TaskType = Literal[
    "fact_lookup",
    "overview",
    "cross_document_synthesis",
    "comparison",
    "aggregation",
    "insight_synthesis",
    "followup",
]
Evidence = Literal["semantic", "global", "hierarchical", "analytical", "table", "none"]
Level = Literal["none", "simple", "moderate", "complex"]
Scope = Literal["corpus", "external", "mixed", "structured_data"]
Relevance = Literal["required", "useful", "irrelevant"]
DecidedBy = Literal["caller", "plan", "normalisation", "lint", "tier", "capability", "default"]
Status = Literal["answered", "partial", "abstained", "clarify", "failed"]
Verdict = Literal["sufficient", "borderline", "weak"]
Mode = Literal["model", "extractive"]


class Decision(TypedDict):
    """Where one field of the plan comes from."""

    suggested: Any
    applied: Any
    by: DecidedBy


class Search(TypedDict):
    """One search: the only thing that is executed."""

    text: str
    kind: Literal["original", "rewrite", "correction"]
    legs: list[Literal["sparse", "dense"]]
    depth: int
    weight: float


class Price(TypedDict):
    """What carrying a plan out may cost at most before corrections, beyond what planning cost. Tokens are estimates."""

    model_calls: int
    input_tokens: int
    output_tokens: int
    searches: int
    cost: float | None


class Plan(TypedDict):
    """The decision for one question (SPEC §3). `fields` holds the provenance of each value."""

    route: Route
    knowledge_scope: Scope
    task_type: TaskType
    retrieval_strategy: Evidence
    strategy: Strategy
    tier: Tier
    level: Level
    effective_level: Level
    web_relevance: Relevance
    requires_fresh_web: bool
    rewritten_query: str
    document_queries: list[str]
    web_queries: list[str]
    variants: list[Json]
    decomposable: bool
    sub_questions: list[str]
    requested_count: int | None
    quoted: list[str]
    identifiers: list[str]
    breadth: int
    top_k: int
    hybrid: bool
    graph: bool
    rerank: bool
    candidates: int
    context_k: int
    searches: list[Search]
    sources: dict[str, bool]
    chat: str | None
    confidence: float
    reasoning: str
    planner: Literal["rules", "semantic", "off"]
    fallback: bool
    fallback_reason: str | None
    planning_ms: float
    price: Price
    notes: list[str]
    fields: dict[str, Decision]


class Grade(TypedDict):
    """Does the evidence suffice? `probability` is not calibrated on this workspace while `calibrated` is false."""

    probability: float
    verdict: Verdict
    calibrated: bool
    band: Literal["high", "medium", "low"]
    signals: dict[str, float]
    missing_words: list[str]
    reason: str


class Correction(TypedDict):
    """What one correction changed, and why."""

    kind: Literal["spelling", "depth"]
    reason: str
    query: str
    repairs: dict[str, str]


class WebReport(TypedDict):
    """Whether the web was used, and why or why not."""

    used: bool
    reason: str
    queries: list[str]
    results: int
    error: NotRequired[str]


class Draft(TypedDict):
    """An ending before it is put together: the text with its marks, and what they open on."""

    answer: str
    status: Status
    citations: list[Citation]
    missing: list[str]
    mode: NotRequired[Mode]
    message_id: NotRequired[str]  # of the message whose pieces were streamed


class Usage(TypedDict):
    """What a turn has cost so far. `cost` is money where the models that were asked have prices, else None."""

    model_calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    searches: int
    web_calls: int
    ms: float
    by_node: dict[str, dict[str, float]]


NO_USAGE: Usage = {
    "model_calls": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "cost": None,
    "searches": 0,
    "web_calls": 0,
    "ms": 0.0,
    "by_node": {},
}


def append(old: list[Json], new: list[Json]) -> list[Json]:
    """Reducer of the trace; a turn starts with Overwrite([])."""
    return [*old, *new]


class Request(Options):
    """The graph's input: a conversation or a question, and the per-call options.

    What cannot be taken is kept, for `begin_turn` to raise. The graph makes a Request while it prepares a step, and again
    over the last checkpoint when the next question arrives: raised here, one bad option would close its thread for good.
    """

    messages: Annotated[list[AnyMessage], add_messages] = Field(
        default_factory=list,
        title="Messages",
        description="The conversation; its last human message is the question.",
    )
    question: Annotated[str | None, OneTurn] = Field(None, title="Question", description="In place of messages.")
    _refusal: BadRequest | None = PrivateAttr(None)

    def __init__(self, /, **data: Any) -> None:
        refusal: BadRequest | None = None
        try:
            super().__init__(**data)
        except BadRequest as error:
            super().__init__()
            refusal = error
        self._refusal = refusal

    def check(self) -> None:
        """Raises BadRequest that names what cannot be taken."""
        if self._refusal is not None:
            raise self._refusal


class Result(TypedDict):
    """The answer object: what `ask --json` prints, what the state's `result` holds."""

    question: str
    answer: str
    status: Status
    mode: Mode
    language: str
    citations: list[Citation]
    plan: Plan
    grade: Grade | None
    corrections: list[Correction]
    web: WebReport
    trace: list[Json]
    usage: Usage
    missing: list[str]
    warnings: list[str]


class Answer(TypedDict, total=False):
    """What a run gives back: the message for chat, and the whole object for machines."""

    messages: Annotated[list[AnyMessage], add_messages]
    result: Result


class Shared(TypedDict, total=False):
    """What a turn works on. Each key has one writer a step; `begin_turn` resets them all."""

    result: Result
    asked: str
    turns: list[Turn]
    said: Json
    run: Json
    decided: Plan
    passages: list[Passage]
    tried: list[str]
    grading: Grade | None
    corrections: list[Correction]
    web_report: WebReport
    web_results: list[Json]
    end: Json | None
    draft: Draft
    usage: Usage
    warnings: list[str]


class State(Shared, total=False):
    """Everything between the nodes: the conversation lasts, the trace grows within a turn, the rest is replaced."""

    messages: Annotated[list[AnyMessage], add_messages]
    trace: Annotated[list[Json], append]
    remaining_steps: RemainingSteps


class Update(Shared, total=False):
    """What a node may change; a misspelt key is a type error."""

    messages: list[AnyMessage | Json]
    trace: list[Json] | Overwrite


def web_permitted(state: State) -> bool:
    """`allow` is the default; whether a key is configured is known to the node, which says so in its report."""
    return bool(state["said"].get("web", "allow") == "allow")
