"""What cannot be taken is said in one sentence, and the forms that clients see keep their bounds."""

from types import SimpleNamespace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from backends.errors import BadRequest
from graph.build import build_graph, graph
from graph.context import Context, context_of
from graph.options import Options
from graph.state import Request

BAD = [
    ({"tier": "huge"}, r'^Option "tier": Input should be \'fast\', \'balanced\' or \'deep\'\.$'),
    ({"top_k": 0}, r'^Option "top_k": Input should be greater than or equal to 1\.$'),
    ({"filters": {"colour": "red"}}, r'^Option "filters\.colour": '),
    ({"now": "yesterday"}, r'^Option "now": '),
]


@pytest.mark.parametrize(("said", "sentence"), BAD)
@pytest.mark.parametrize("kind", [Options, Context])
def test_an_option_that_cannot_be_taken_is_named(kind: Any, said: Any, sentence: str) -> None:
    with pytest.raises(BadRequest, match=sentence):
        kind(**said)


def test_a_value_is_not_repeated_in_the_sentence() -> None:
    with pytest.raises(BadRequest) as caught:
        Options(tier="sk-secret")
    assert "sk-secret" not in str(caught.value)


def test_unknown_options_are_ignored_whatever_their_name() -> None:
    assert Options(**{"self": 1, "colour": "red", "top_k": 3}).said() == {"top_k": 3}


@pytest.mark.parametrize(("said", "sentence"), BAD)
def test_a_request_is_refused_when_it_is_checked(said: Any, sentence: str) -> None:
    request = Request(question="How heavy is the Q4 pump?", **said)
    with pytest.raises(BadRequest, match=sentence):
        request.check()
    Request(question="How heavy is the Q4 pump?").check()


def test_a_context_that_comes_as_plain_data_is_checked_too(context: Context) -> None:
    runtime: Any = SimpleNamespace(context={"tier": "huge"})
    with pytest.raises(BadRequest, match='Option "tier"'):
        context_of(runtime)


async def test_a_bad_option_raises_from_the_graph_and_leaves_the_thread_usable(context: Context) -> None:
    agent: Any = build_graph(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "t"}}
    for _ in range(2):
        with pytest.raises(BadRequest, match='Option "tier"'):
            await agent.ainvoke({"question": "How heavy is the Q4 pump?", "tier": "huge"}, thread, context=context)
    state = await agent.ainvoke({"question": "How heavy is the Q4 pump?"}, thread, context=context)
    assert "58 kg" in state["result"]["answer"]
    assert state["result"]["plan"]["tier"] == "balanced"


def test_the_input_form_keeps_titles_bounds_and_choices() -> None:
    shown = graph.get_input_jsonschema()["properties"]
    assert set(shown) == set(Request.model_fields)
    assert shown["top_k"]["anyOf"][0] == {"maximum": 50, "minimum": 1, "type": "integer"}
    assert shown["tier"]["anyOf"][0]["enum"] == ["fast", "balanced", "deep"]
    assert all("title" in field for field in shown.values())


def test_what_a_graph_is_exported_with() -> None:
    """The server brings its own checkpointer and store, and refuses a graph that has one."""
    assert graph.checkpointer is None
    assert graph.store is None
