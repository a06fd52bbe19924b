"""Importing the graph costs nothing but time: no connection, no file, no model; the index waits for a question, once."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backends import workspace as opened
from backends.library import Library
from graph.build import build_graph
from graph.context import Context
from retrieval.bm25 import Postings, postings

TREE = Path(__file__).resolve().parents[2]
SLOWER_THAN_LANGGRAPH = 2.0  # times; about a third where nothing heavy is imported

# Both are timed in the same process, langgraph first: what it needs anyway is not counted twice.
WATCHED_IMPORT = """
import json, os, sys, time

seen = []


def watch(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.mkdir", "sqlite3.connect"):
        seen.append(f"{event} {args}")
    if event == "open" and args[0] != os.devnull:
        path, mode, flags = args
        wanted = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if wanted and not str(path).endswith(".pyc") and ".pyc." not in str(path):
            seen.append(f"{event} {path}")


sys.addaudithook(watch)
start = time.perf_counter()
import langgraph.graph
framework = time.perf_counter() - start
start = time.perf_counter()
import graph.build
own = time.perf_counter() - start
heavy = [name for name in ("chromadb", "duckdb", "wordllama", "openai", "torch") if name in sys.modules]
print(json.dumps({"file": graph.build.__file__, "seen": seen, "heavy": heavy, "times": own / framework}))
"""


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What happened while a fresh process, without keys, imported the graph in a folder that it may not write to."""
    folder = tmp_path_factory.mktemp("cwd")
    folder.chmod(0o555)
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    env = {**kept, "PYTHONPATH": str(TREE), "PYTHONDONTWRITEBYTECODE": "1", "LANGSMITH_TRACING": "false"}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED_IMPORT], cwd=folder, env=env, capture_output=True, text=True, check=True
    )
    folder.chmod(0o755)
    return {**json.loads(done.stdout), "left": list(folder.iterdir()), "said": done.stderr}


def test_this_tree_is_imported(imported: Any) -> None:
    assert imported["file"] == str(TREE / "graph" / "build.py")


def test_import_makes_no_connection_and_no_file(imported: Any) -> None:
    assert imported["seen"] == []
    assert imported["left"] == []
    assert imported["said"] == ""


def test_import_loads_no_store_and_no_model(imported: Any) -> None:
    assert imported["heavy"] == []


def test_import_is_quick(imported: Any) -> None:
    assert imported["times"] < SLOWER_THAN_LANGGRAPH


async def test_two_first_questions_at_once_build_the_index_once(
    workspace: Path, embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []

    def counted(rows: Any) -> Postings:
        built.append(1)
        return postings(rows)

    monkeypatch.setattr(opened, "postings", counted)
    context = Context(library=Library(workspace, embedder))
    agent: Any = build_graph()
    questions = ("How heavy is the Q4 pump?", "Who founded the workshop?")
    states = await asyncio.gather(*(agent.ainvoke({"question": q}, context=context) for q in questions))
    assert [state["result"]["status"] for state in states] == ["answered", "answered"]
    assert len(built) == 1
