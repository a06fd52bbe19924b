"""What cannot be taken reaches the client as a sentence that says what to do."""

import asyncio
from typing import Any

import pytest
from booting import Server
from langgraph_sdk import get_client
from langgraph_sdk.client import SyncLangGraphClient

QUESTION = "How heavy is the Q4 pump?"

REFUSED = [
    ({"tier": "huge"}, 'Option "tier"', "'fast', 'balanced' or 'deep'"),
    ({"top_k": 0}, 'Option "top_k"', "greater than or equal to 1"),
    ({"filters": {"colour": "red"}}, 'Option "filters.colour"', "not permitted"),
    ({"history": [{"role": "user"}]}, 'Option "history.0.content"', "required"),
    ({"scope": ["nowhere.md"]}, '"nowhere.md" is no source', "pumps.md"),
    ({"question": ""}, "The question is empty", "ask something in words"),
    ({"question": "x" * 30_000}, "30,000 characters", "ingest long texts"),
    ({"question": ["how", "heavy"]}, 'Option "question"', "valid string"),
    ({"messages": [{"role": "stranger", "content": "Hello"}]}, "'stranger'", "Use one of 'human'"),
]


NOISE = ("Traceback", "pydantic", 'File "', "internal error", "type=")


def failure(client: SyncLangGraphClient, request: Any, context: Any = None, thread: str | None = None) -> str:
    output: Any = client.runs.wait(thread, "agent", input=request, context=context, raise_error=False)
    message: str = output["__error__"]["message"]
    return message


@pytest.fixture(scope="module")
def messages(server: Server) -> list[str]:
    """What each refused request is told; asked side by side, since every run waits for the queue."""

    async def all_at_once() -> list[Any]:
        async with get_client(url=server.url, api_key=None) as client:
            inputs: list[Any] = [{"question": QUESTION, **extra} for extra, _, _ in REFUSED]
            return await asyncio.gather(*(client.runs.wait(None, "agent", input=i, raise_error=False) for i in inputs))

    return [output["__error__"]["message"] for output in asyncio.run(all_at_once())]


@pytest.mark.parametrize("n", range(len(REFUSED)), ids=[f"{next(iter(extra))}-{helps}" for extra, _, helps in REFUSED])
def test_a_request_that_cannot_be_taken(messages: list[str], n: int) -> None:
    _, names, helps = REFUSED[n]
    assert names in messages[n]
    assert helps in messages[n]
    assert not any(noise in messages[n] for noise in NOISE)


def test_a_setting_that_cannot_be_taken(client: SyncLangGraphClient) -> None:
    message = failure(client, {"question": QUESTION}, context={"tier": "huge"})
    assert message == "Option \"tier\": Input should be 'fast', 'balanced' or 'deep'."


def test_the_client_library_raises_the_sentence(client: SyncLangGraphClient) -> None:
    with pytest.raises(Exception, match='BadRequest: Option "tier"'):
        client.runs.wait(None, "agent", input={"question": QUESTION, "tier": "huge"})


def test_a_stream_ends_with_the_sentence(client: SyncLangGraphClient) -> None:
    parts = list(client.runs.stream(None, "agent", input={"question": QUESTION, "top_k": 0}, stream_mode="custom"))
    assert parts[-1].event == "error"
    assert 'Option "top_k"' in parts[-1].data["message"]


def test_a_workspace_that_does_not_exist_is_an_abstention_that_says_what_to_run(ask: Any) -> None:
    result = ask(question=QUESTION, context={"workspace": "/nowhere/at/all"})["result"]
    assert result["status"] == "abstained"
    assert "perquire ingest PATH --workspace /nowhere/at/all" in result["answer"]


@pytest.mark.parametrize("bad", [{"tier": "huge"}, {"scope": ["nowhere.md"]}, {"question": ""}], ids=str)
def test_after_a_refusal_the_thread_goes_on(client: SyncLangGraphClient, ask: Any, thread: str, bad: Any) -> None:
    assert failure(client, {"question": QUESTION, **bad}, thread=thread)
    result = ask(thread, question="What does PX-311 mean?")["result"]
    assert "0.8 bar" in result["answer"]
    assert (result["plan"]["tier"], result["status"]) == ("balanced", "answered")
