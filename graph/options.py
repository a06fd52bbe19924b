"""The per-call options: one model serves as the graph's input, as the saved settings of an assistant, and at the doors.

Every field is optional, and absent means "not said": an option that is said wins over the plan, field by field.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from langgraph.channels import EphemeralValue
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from backends.errors import BadRequest
from retrieval.types import Turn

Tier = Literal["fast", "balanced", "deep"]
Strategy = Literal["hybrid", "multi_query", "hyde", "multi_hop", "self_rag", "crag"]
Route = Literal["documents", "web", "hybrid", "sql", "none"]
WebPermission = Literal["allow", "ask", "deny"]

# Model requests a question may cost at most, by tier ⚙ (SPEC §1); `max_model_calls` replaces it.
TIER_CALLS: dict[Tier, int] = {"fast": 3, "balanced": 8, "deep": 24}
# How often an answer's unsupported sentences are written anew.
TIER_REVISIONS: dict[Tier, int] = {"fast": 0, "balanced": 1, "deep": 2}

# Read in the first step of a turn and gone after it, so that nothing said for one turn is heard in the next.
OneTurn = EphemeralValue


class FilterOptions(BaseModel):
    """What may be searched, beside the pinned sources."""

    model_config = ConfigDict(extra="forbid")

    folder: str = Field("", description="Only sources below this folder of the workspace.")
    kinds: list[str] = Field(default_factory=list, description="Only these kinds of file: markdown, pdf, docx, html, …")


def _node(*names: str) -> dict[str, Any]:
    """Which nodes a setting belongs to, for Studio's form."""
    return {"langgraph_nodes": list(names)}


class Options(BaseModel):
    """What a call may set (SPEC §2). Made from what a person typed: raises BadRequest, whichever door it came through.

    The graph makes the context by calling its class, so a sentence raised here is what clients read.
    """

    model_config = ConfigDict(extra="ignore")

    def __init__(self, /, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False, include_context=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "options"
            raise BadRequest(f'Option "{where}": {first["msg"]}.') from None

    tier: Annotated[Tier | None, OneTurn] = Field(
        None, title="Tier", description="The most that a question may cost.", json_schema_extra=_node("plan")
    )
    strategy: Annotated[Strategy | None, OneTurn] = Field(
        None,
        title="Strategy",
        description="How the search reaches the evidence.",
        json_schema_extra=_node("retrieve"),
    )
    top_k: Annotated[int | None, OneTurn] = Field(
        None,
        ge=1,
        le=50,
        title="Passages",
        description="Passages sought.",
        json_schema_extra=_node("plan", "retrieve"),
    )
    hybrid: Annotated[bool | None, OneTurn] = Field(
        None,
        title="Exact terms too",
        description="Search BM25 beside the vectors.",
        json_schema_extra=_node("retrieve"),
    )
    graph: Annotated[bool | None, OneTurn] = Field(
        None, title="Graph", description="Follow entity relations.", json_schema_extra=_node("retrieve")
    )
    rerank: Annotated[bool | None, OneTurn] = Field(
        None, title="Rerank", description="Reorder the passages found.", json_schema_extra=_node("retrieve")
    )
    scope: Annotated[list[str] | None, OneTurn] = Field(
        None,
        title="Scope",
        description="Sources to stay within.",
        json_schema_extra=_node("preflight", "retrieve"),
    )
    filters: Annotated[FilterOptions | None, OneTurn] = Field(
        None, title="Filters", description="Folder and kinds of file.", json_schema_extra=_node("retrieve")
    )
    web: Annotated[WebPermission | None, OneTurn] = Field(
        None,
        title="Web",
        description="Whether the web may be searched.",
        json_schema_extra=_node("search_web"),
    )
    route: Annotated[Route | None, OneTurn] = Field(
        None, title="Route", description="Where to look.", json_schema_extra=_node("plan")
    )
    plan: Annotated[bool | None, OneTurn] = Field(
        None,
        title="Plan",
        description="False: the configured defaults alone.",
        json_schema_extra=_node("plan"),
    )
    include_original: Annotated[bool | None, OneTurn] = Field(
        None, title="Search the asker's own words", description="", json_schema_extra=_node("plan")
    )
    max_variants: Annotated[int | None, OneTurn] = Field(
        None, ge=1, le=12, title="Query variants", description="At most.", json_schema_extra=_node("plan")
    )
    max_risk: Annotated[float | None, OneTurn] = Field(
        None,
        ge=0,
        le=1,
        title="Risk",
        description="Accepted chance that the evidence does not suffice.",
        json_schema_extra=_node("grade"),
    )
    history: Annotated[list[Turn] | None, OneTurn] = Field(
        None, title="History", description="Turns before this question.", json_schema_extra=_node("plan")
    )
    now: Annotated[datetime | None, OneTurn] = Field(
        None, title="Clock", description="The time to answer from.", json_schema_extra=_node("plan")
    )
    principal: Annotated[str | None, OneTurn] = Field(
        None, title="Principal", description="Who asks.", json_schema_extra=_node("preflight")
    )
    include_trace: Annotated[bool | None, OneTurn] = Field(
        None,
        title="Trace",
        description="Return the trace with the answer.",
        json_schema_extra=_node("generate"),
    )
    max_model_calls: Annotated[int | None, OneTurn] = Field(
        None, ge=0, le=100, title="Model calls", description="At most.", json_schema_extra=_node("plan")
    )
    max_tokens: Annotated[int | None, OneTurn] = Field(
        None, ge=0, title="Tokens", description="At most.", json_schema_extra=_node("plan")
    )
    max_cost: Annotated[float | None, OneTurn] = Field(
        None,
        ge=0,
        title="Cost",
        description="At most, in the currency of the prices.",
        json_schema_extra=_node("plan"),
    )
    deadline_s: Annotated[float | None, OneTurn] = Field(
        None, gt=0, title="Deadline", description="Seconds.", json_schema_extra=_node("plan")
    )
    max_hops: Annotated[int | None, OneTurn] = Field(
        None, ge=1, le=8, title="Hops", description="At most.", json_schema_extra=_node("retrieve")
    )
    max_corrections: Annotated[int | None, OneTurn] = Field(
        None, ge=0, le=5, title="Corrections", description="At most.", json_schema_extra=_node("correct")
    )

    def said(self) -> dict[str, Any]:
        """The options that were set, as plain data."""
        return self.model_dump(mode="json", exclude_none=True, include=set(Options.model_fields))
