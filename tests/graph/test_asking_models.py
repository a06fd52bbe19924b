"""How a node asks a model: what is asked again and what is not, within the budgets, and JSON by whichever way works."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import endpoint
from fakes import FakeChat, SteadyClock
from pydantic import BaseModel, Field
from standin import Cut, Hang, Say, StandIn, Status

from backends.embeddings import WordLlama
from backends.errors import ModelUnavailable
from backends.library import Library
from backends.openai_chat import OpenAIChat
from backends.settings import Settings
from graph.asking import LONGEST_WAIT_S, _strict, ask_json, ask_text
from graph.build import build_graph
from graph.context import Context, Step
from graph.seam import OverBudget
from prompts import plan, revise

QUESTION = "How often is the oil changed?"
PLAN = json.dumps({"route": "documents", "task_type": "fact_lookup", "confidence": 0.9})
OTHER = json.dumps({"route": "documents", "task_type": "overview", "confidence": 0.9})


class PatientClock(SteadyClock):
    """Remembers how long it was asked to wait."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await super().sleep(seconds)


@pytest.fixture
def clock() -> PatientClock:
    return PatientClock()


@pytest.fixture
def ask(workspace: Path, embedder: WordLlama, clock: PatientClock) -> Callable[..., Any]:
    """Asks the agent with a planning model behind a server; each call makes a model that knows the server's ways not."""

    async def run(server: StandIn, *, model: OpenAIChat | None = None, mode: Any = "json", **options: Any) -> Any:
        planning = model or OpenAIChat(endpoint(server.base_url, structured_output=mode, timeout_s=0.3))
        library = Library(workspace, embedder, models={"planning": planning})
        request: Any = {"question": QUESTION, **options}
        state = await build_graph().ainvoke(request, context=Context(library=library, clock=clock))
        return state["result"]

    return run


@pytest.mark.parametrize("trouble", [Status(429), Status(500), Status(503), Status(408), Hang(), Cut()])
async def test_passing_trouble_is_asked_again_and_counted(ask: Any, clock: PatientClock, trouble: Any) -> None:
    with StandIn([trouble, Say(PLAN)]) as server:
        result = await ask(server)
    assert result["plan"]["planner"] == "semantic"
    assert result["usage"]["model_calls"] == len(server.chats) == 2
    assert result["usage"]["by_node"]["plan"]["model_calls"] == 2
    assert clock.waits == [0.5]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_what_asking_again_cannot_mend_is_asked_once(ask: Any, clock: PatientClock, status: int) -> None:
    with StandIn([Status(status), Say(PLAN)]) as server:
        result = await ask(server)
    assert result["plan"]["fallback"] is True
    assert f"(HTTP {status})" in result["plan"]["fallback_reason"]
    assert f"Planned by rules: {result['plan']['fallback_reason']}" in result["warnings"]
    assert "900 running hours" in result["answer"]
    assert result["usage"]["model_calls"] == len(server.chats) == 1
    assert clock.waits == []


async def test_lasting_trouble_ends_after_three(ask: Any, clock: PatientClock) -> None:
    with StandIn([Status(500)]) as server:
        result = await ask(server)
    assert "(HTTP 500)" in result["plan"]["fallback_reason"]
    assert result["usage"]["model_calls"] == len(server.chats) == 3
    assert clock.waits == [0.5, 1.0]


async def test_the_budget_covers_repetitions_and_nothing_is_waited_for_in_vain(ask: Any, clock: PatientClock) -> None:
    with StandIn([Status(500)]) as server:
        result = await ask(server, max_model_calls=2)
    assert result["plan"]["fallback_reason"] == "The budget max_model_calls is spent."
    assert result["usage"]["model_calls"] == len(server.chats) == 2
    assert clock.waits == [0.5]


async def test_every_second_call_failing_stays_within_the_cap(ask: Any) -> None:
    with StandIn([Status(500), Say("{}"), Status(500), Say("{}"), Status(500), Say("{}")]) as server:
        result = await ask(server)
    assert result["plan"]["fallback"] is True
    assert result["usage"]["model_calls"] == len(server.chats) == 4  # the question and its repair, each twice


async def test_retry_after_is_honoured(ask: Any, clock: PatientClock) -> None:
    with StandIn([Status(429, retry_after=7), Say(PLAN)]) as server:
        result = await ask(server)
    assert result["plan"]["planner"] == "semantic"
    assert clock.waits == [7.0]


async def test_too_long_a_wait_is_not_waited_for(ask: Any, clock: PatientClock) -> None:
    with StandIn([Status(429, retry_after=int(LONGEST_WAIT_S) + 1), Say(PLAN)]) as server:
        result = await ask(server)
    assert "asked too often" in result["plan"]["fallback_reason"]
    assert (clock.waits, len(server.chats)) == ([], 1)


async def test_no_wait_goes_past_the_deadline(ask: Any, clock: PatientClock) -> None:
    with StandIn([Status(429, retry_after=15), Say(PLAN)]) as server:
        result = await ask(server, deadline_s=10)
    assert result["plan"]["fallback_reason"] == "The budget deadline_s is spent."
    assert "900 running hours" in result["answer"]
    assert (clock.waits, len(server.chats)) == ([], 1)


def asked_by(server: StandIn) -> list[str]:
    """The ways in which JSON was asked for, request by request."""
    bodies = [request.body for request in server.chats]
    return ["tool" if b.get("tools") else b.get("response_format", {}).get("type", "json") for b in bodies]


@pytest.mark.parametrize("refusal", [Status(500), Status(400), Status(503), Status(422)])
async def test_a_refused_way_is_stepped_down_from_and_what_works_is_remembered(
    ask: Any, clock: PatientClock, tmp_path: Path, refusal: Status
) -> None:
    def behave(body: dict[str, Any]) -> Any:
        return refusal if "response_format" in body else Say(PLAN)

    with StandIn(behave) as server:
        memory = tmp_path / "endpoints.json"
        first = await ask(server, model=OpenAIChat(endpoint(server.base_url), memory))
        second = await ask(server, model=OpenAIChat(endpoint(server.base_url), memory))
    assert {first["plan"]["planner"], second["plan"]["planner"]} == {"semantic"}
    assert asked_by(server) == ["json_schema", "tool", "tool"]
    assert (first["usage"]["model_calls"], second["usage"]["model_calls"]) == (2, 1)
    assert clock.waits == []


async def test_plain_text_is_the_last_way_and_asked_patiently(ask: Any, clock: PatientClock) -> None:
    taken = iter([Status(500), Say(PLAN)])

    def behave(body: dict[str, Any]) -> Any:
        return Status(400) if "response_format" in body or "tools" in body else next(taken)

    with StandIn(behave) as server:
        result = await ask(server, mode=None)
    assert result["plan"]["planner"] == "semantic"
    assert len(server.chats) == 4
    assert clock.waits == [0.5]


async def test_a_wrong_key_is_no_reason_to_ask_in_another_way(ask: Any) -> None:
    with StandIn([Status(401)]) as server:
        result = await ask(server, mode=None)
    assert "does not accept the key" in result["plan"]["fallback_reason"]
    assert len(server.chats) == 1


async def test_a_way_that_gave_nothing_usable_is_not_remembered() -> None:
    model = FakeChat("prose", modes=("json_schema", "tool", "json"))
    with pytest.raises(ModelUnavailable, match="also when asked again"):
        await ask_json(step(), model, [{"role": "user", "content": "?"}], plan.Reply)
    assert model.modes == ["json_schema", "tool", "json"]
    assert [asked["mode"] for asked in model.asked] == ["json_schema"] * 2


def step(said: dict[str, Any] | None = None, **more: Any) -> Step:
    class Runtime:
        context = Context(library=Library(), clock=PatientClock())
        stream_writer = staticmethod(lambda event: None)

    return Step("plan", {"said": said or {}, **more}, Runtime())  # type: ignore[arg-type, typeddict-item]


async def test_what_was_streamed_once_is_not_streamed_again() -> None:
    class Breaking(FakeChat):
        async def attempt(self, *args: Any, on_token: Any = None, **how: Any) -> Any:
            if on_token:
                on_token("The oil ")
            return await super().attempt(*args, **how)

    told: list[str] = []
    model = Breaking(ModelUnavailable("It broke off.", "cut", retry=True), "The oil is changed.")
    reply = await ask_text(step(), model, [{"role": "user", "content": "?"}], told.append)
    assert (reply["text"], told) == ("The oil is changed.", ["The oil "])


async def test_no_text_is_asked_for_past_the_budget() -> None:
    model = FakeChat("never said")
    with pytest.raises(OverBudget, match="max_model_calls"):
        await ask_text(step({"max_model_calls": 0}), model, [{"role": "user", "content": "?"}])
    assert model.prompts == []


class Part(BaseModel):
    name: str | None = None
    weights: list[int] = Field(default_factory=list)


class Named(BaseModel):
    title: str = "none"
    default: int = 3
    part: Part | None = None
    parts: dict[str, Part] | list[Part] = Field(default_factory=list)


def objects(schema: Any) -> list[Any]:
    inner = [o for v in (schema.values() if isinstance(schema, dict) else schema) if isinstance(v, dict | list)
             for o in objects(v)]  # fmt: skip
    return [schema, *inner] if isinstance(schema, dict) and schema.get("type") == "object" else inner


@pytest.mark.parametrize("shape", [plan.Reply, revise.Reply, Named])
def test_a_strict_schema_requires_all_and_allows_nothing_else(shape: type[BaseModel]) -> None:
    schema = _strict(shape.model_json_schema())
    own = [o for o in objects(schema) if "properties" in o]
    assert own
    for part in own:
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False
        assert all("default" not in p and "title" not in p for p in part["properties"].values())
    assert "default" not in schema
    assert "title" not in schema


def test_properties_keep_their_names_whatever_these_are() -> None:
    assert list(_strict(Named.model_json_schema())["properties"]) == ["title", "default", "part", "parts"]


async def test_the_schema_that_leaves_is_strict(ask: Any) -> None:
    with StandIn([Say(OTHER)]) as server:
        result = await ask(server, mode="json_schema")
    assert result["plan"]["task_type"] == "overview"
    sent = server.chats[0].body["response_format"]["json_schema"]
    assert sent["strict"] is True
    assert sent["schema"]["required"] == list(sent["schema"]["properties"])


async def test_a_model_that_local_only_keeps_off_is_named(
    workspace: Path, embedder: WordLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-nobody")
    settings = Settings(model="big", base_url="https://models.example/v1", local_only=True)
    request: Any = {"question": QUESTION}
    for library, told in (
        (Library(workspace, embedder, settings=settings), 1),
        (Library(workspace, embedder, settings=Settings(local_only=True)), 0),
    ):
        result = (await build_graph().ainvoke(request, context=Context(library=library)))["result"]
        assert [w for w in result["warnings"] if "models.example is not this machine" in w] == result["warnings"]
        assert len(result["warnings"]) == told
