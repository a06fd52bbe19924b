"""An embedding model that goes away: the words still answer, and the answer says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from fakes import SteadyClock

from backends.embeddings import Vectors, WordLlama
from backends.errors import EmbeddingsUnavailable
from backends.library import Library
from graph.build import build_graph
from graph.context import Context
from perquire.batch import search, trec_run

QUESTION = "What does PX-311 mean?"


class Leaving(WordLlama):
    """Answers so many times, then is away."""

    def __init__(self, answers: int) -> None:
        self.answers = answers

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.answers -= 1
        if self.answers < 0:
            raise EmbeddingsUnavailable("Embeddings are away: come back later.")
        return super().embed(texts)


async def ask(workspace: Path, answers: int) -> Any:
    context = Context(library=Library(workspace, Leaving(answers)), clock=SteadyClock())
    state = await build_graph().ainvoke({"question": QUESTION}, context=context)
    return state["result"]


@pytest.mark.parametrize(
    ("answers", "says"),
    [(0, "Searched by words alone."), (1, "Evidence was weighed by words alone.")],  # away at the search, or after it
)
async def test_the_words_answer_and_one_warning_says_so(workspace: Path, answers: int, says: str) -> None:
    result = await ask(workspace, answers)
    assert result["status"] == "answered"
    assert "inlet pressure" in result["answer"]
    assert result["warnings"] == [f"{says} Embeddings are away: come back later."]


async def test_no_warning_while_the_model_is_there(workspace: Path) -> None:
    assert (await ask(workspace, 99))["warnings"] == []


def test_a_plain_search_goes_on_where_somebody_is_told(workspace: Path, tmp_path: Path) -> None:
    space = Library(workspace, Leaving(0)).workspace()
    warnings: list[str] = []
    assert search(space, "PX-311", 3, [], warnings=warnings)[0]["source"] == "pumps.md"
    assert warnings == ["Searched by words alone. Embeddings are away: come back later."]
    (tmp_path / "q.jsonl").write_text('{"id": "a", "text": "PX-311"}')
    with pytest.raises(EmbeddingsUnavailable):  # a run is for measuring
        trec_run(space, tmp_path / "q.jsonl", tmp_path / "run", 3, [])
