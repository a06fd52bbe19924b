"""Many at once: nobody gets another's answer, and the server stays awake."""

import asyncio
import time
from collections.abc import Awaitable
from typing import Any

import httpx
import pytest
from booting import Server
from langgraph_sdk import get_client

ASKED = {
    "How heavy is the Q4 pump?": "58 kg",
    "How heavy is the Q9 pump?": "91 kg",
    "What does PX-311 mean?": "0.8 bar",
    "What does PX-312 mean?": "seal runs hot",
    "How often is the filter changed?": "400 running hours",
    "How often is the oil changed?": "900 running hours",
    "Who founded the workshop?": "Ilse Varga",
    "Who signs the permit?": "duty engineer",
    "By whom is the store kept?": "Omar Quill",
    "Which seal fits the Q4 pump?": "Brightline",
}
STALL_S = 1.0


@pytest.mark.parametrize("count", [2, 10])
async def test_threads_do_not_mix(server: Server, count: int) -> None:
    asked = dict(list(ASKED.items())[:count])
    async with get_client(url=server.url, api_key=None) as client:

        async def one(question: str) -> Any:
            thread = await client.threads.create()
            return await client.runs.wait(thread["thread_id"], "agent", input={"question": question})

        outputs = await asyncio.gather(*(one(question) for question in asked))
    for (question, says), output in zip(asked.items(), outputs, strict=True):
        assert output["result"]["question"] == question
        assert says in output["result"]["answer"]
        assert [m["content"] for m in output["messages"]] == [question, output["result"]["answer"]]


async def test_the_server_answers_while_ten_questions_run(server: Server) -> None:
    """A blocked event loop stalls /ok for as long as the work takes; threads only make it wait its turn.

    A bound of 200 ms would measure the machine: ten runs share the interpreter with the loop. The longest of many looks
    is held under a second instead, and half of them under 200 ms.
    """
    long = " ".join(f"zq{n:x}vux" for n in range(1_900))
    waits: list[float] = []
    async with get_client(url=server.url, api_key=None) as client, httpx.AsyncClient() as door:
        runs: list[Awaitable[Any]] = [
            client.runs.wait(None, "agent", input={"question": f"Which comet {n} {long}"}) for n in range(10)
        ]
        work = asyncio.gather(*runs)
        while not work.done():
            start = time.perf_counter()
            response = await door.get(f"{server.url}/ok", timeout=30)
            waits.append(time.perf_counter() - start)
            assert response.status_code == 200
            await asyncio.sleep(0.02)
        outputs = await work
    assert [output["result"]["status"] for output in outputs] == ["abstained"] * 10
    assert len(waits) >= 10
    assert sorted(waits)[len(waits) // 2] < 0.2
    assert max(waits) < STALL_S


BY_ROUTE = {
    "What does PX-311 mean?": ("documents", "answered"),
    "Hello": ("none", "answered"),
    "What is zinc trading at this morning?": ("web", "abstained"),
    "Who wrote the symphony about glaciers?": ("documents", "abstained"),
}


async def test_every_route_runs_beside_the_others(server: Server) -> None:
    async with get_client(url=server.url, api_key=None) as client:
        outputs: Any = await asyncio.gather(
            *(client.runs.wait(None, "agent", input={"question": question}) for question in BY_ROUTE)
        )
    found = {o["result"]["question"]: (o["result"]["plan"]["route"], o["result"]["status"]) for o in outputs}
    assert found == BY_ROUTE
    web = outputs[2]["result"]
    assert "TAVILY_API_KEY" in web["web"]["reason"]
