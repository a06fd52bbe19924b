"""`make bench`: how fast, as medians with their spread, on whatever machine this is.

Times of a shared machine are noisy; the ratios beside them, taken in the same run, are what to compare.
"""

from __future__ import annotations

import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from backends.embeddings import WordLlama
from backends.ingest import Ingestor
from backends.library import Library
from perquire.agent import Agent
from perquire.batch import search

ROOT = Path(__file__).resolve().parent.parent
PASSAGES, WORDS = 10_000, 75
RUNS, QUESTIONS = 5, 60


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        _ingestion(base)
        _overhead(base / "large")
        _cold(base)


def _corpus(file: Path) -> None:
    """Synthetic passages: words drawn by Zipf's law from a made vocabulary, with a fixed seed."""
    random.seed(7)
    letters = "abcdefghijklmnoprstuvw"
    vocabulary = ["".join(random.choices(letters, k=random.randint(3, 9))) for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
    with file.open("w", encoding="utf-8") as sink:
        for n in range(PASSAGES):
            text = " ".join(random.choices(vocabulary, weights, k=WORDS))
            sink.write(json.dumps({"_id": f"p{n}", "title": f"Passage {n}", "text": text}) + "\n")


def _ingestion(base: Path) -> None:
    file = base / "passages.jsonl"
    _corpus(file)
    embedder = WordLlama()
    embedder.embed(["warm up"])
    start = time.perf_counter()
    Ingestor(base / "large", embedder).ingest([file])
    took = time.perf_counter() - start
    start = time.perf_counter()
    Ingestor(base / "large", embedder).ingest([file])
    again = time.perf_counter() - start
    print(f"ingestion   {PASSAGES:,} passages of {WORDS} words: {PASSAGES / took:,.0f} chunks/s ({took:.1f} s)")
    print(f"            the same again, unchanged: {again * 1000:.0f} ms")


def _overhead(folder: Path) -> None:
    """The whole graph beside retrieval alone, on the same questions in turn."""
    workspace = Library(folder).workspace()
    agent = Agent(folder)
    texts = [p["text"] for p in workspace.passages(range(1, QUESTIONS + 1)).values()]
    questions = [f"What is the {' '.join(text.split()[:5])}?" for text in texts]

    async def both() -> tuple[list[float], list[float]]:
        alone, whole = [], []
        for question in questions:
            start = time.perf_counter()
            search(workspace, question, 8, [])
            alone.append((time.perf_counter() - start) * 1000)
            start = time.perf_counter()
            await agent.aask(question)
            whole.append((time.perf_counter() - start) * 1000)
        return alone, whole

    asyncio.run(both())  # warms the indexes and the worker threads
    alone, whole = asyncio.run(both())
    over = [b - a for a, b in zip(alone, whole, strict=True)]
    print(f"retrieval   {PASSAGES:,} chunks: {_spread(alone)} ms")
    print(f"whole graph {_spread(whole)} ms, over retrieval {_spread(over)} ms")


def _cold(base: Path) -> None:
    """A cold `perquire ask` on the demo corpus, beside a process that only imports langgraph."""
    workspace = base / "demo"
    Ingestor(workspace, WordLlama()).ingest([ROOT / "demo" / "corpus"])
    question = "Who may stop an observation?"
    ask = [sys.executable, "-m", "perquire.cli", "ask", question, "--workspace", str(workspace)]
    peer = [sys.executable, "-c", "import langgraph.graph"]
    times, floor = [], []
    for _ in range(RUNS + 1):
        floor.append(_timed(lambda: subprocess.run(peer, check=True, capture_output=True)))
        times.append(_timed(lambda: subprocess.run(ask, check=True, capture_output=True, cwd=ROOT)))
    ratio = [a / b for a, b in zip(times[1:], floor[1:], strict=True)]
    print(
        f"cold ask    demo corpus: {_spread(times[1:], 2)} s, {_spread(ratio, 2)} times `import langgraph.graph` alone"
    )


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _spread(values: list[float], digits: int = 1) -> str:
    """Median, and the range from the least to the greatest."""
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


if __name__ == "__main__":
    main()
