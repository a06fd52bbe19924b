"""One server for all of these tests, its log read when they are over; and ways to ask it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from booting import GRAPH, TREE, Server, boot
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

Ask = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def server(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Any alarm in its log, whichever test caused it, fails the last test of the session."""
    running = boot(tmp_path_factory.mktemp("server"), {"PERQUIRE_WORKSPACE": str(workspace)})
    try:
        yield running
    finally:
        running.stop()
    assert running.alarms() == []
    assert running.watched == [f"imports {TREE / 'graph' / 'build.py'}"]


@pytest.fixture(scope="session")
def client(server: Server) -> Iterator[SyncLangGraphClient]:
    with get_sync_client(url=server.url, api_key=None) as opened:
        yield opened


@pytest.fixture
def thread(client: SyncLangGraphClient) -> str:
    made: str = client.threads.create()["thread_id"]
    return made


@pytest.fixture(scope="session")
def ask(client: SyncLangGraphClient) -> Ask:
    """Runs to the end, without a thread unless one is given; gives the graph's output."""

    def run(
        thread: str | None = None, *, assistant: str = GRAPH, context: Any = None, **request: Any
    ) -> dict[str, Any]:
        output: Any = client.runs.wait(thread, assistant, input=request, context=context)
        return dict(output)

    return run
