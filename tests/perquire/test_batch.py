"""A batch that is run again keeps what it answered, asks anew what failed, and never writes over anything else."""

import json
from pathlib import Path
from typing import Any

import pytest

from backends.errors import BadRequest
from backends.library import Library
from perquire.agent import Agent
from perquire.batch import ask_rows, rows_of

PUMP = {"id": "a", "text": "How heavy is the Q4 pump?"}


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return tmp_path / "q.jsonl"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "a.jsonl"


def run(library: Library, questions: Path, out: Path, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    questions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    ask_rows(Agent(library=library), questions, out, {})
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_a_row_that_failed_is_asked_again(library: Library, questions: Path, out: Path) -> None:
    [failed] = run(library, questions, out, {**PUMP, "scope": ["nowhere.md"]})
    assert failed["status"] == "failed"
    [answered] = run(library, questions, out, PUMP)
    assert "58 kg" in answered["answer"]


@pytest.mark.parametrize("end", [b"How hea", "Wie schwer ist die ü".encode()[:-1]])
def test_a_line_that_was_cut_off_is_asked_again(library: Library, questions: Path, out: Path, end: bytes) -> None:
    out.write_bytes(b'{"id": "a", "question": "' + end)
    [answered] = run(library, questions, out, PUMP)
    assert answered["status"] == "answered"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"my notes\n", "line 1 is no answer"),
        (b'{"id": "a", "text": "How heavy is the Q4 pump?"}\n', "line 1 is no answer"),
        (b"\xff\xfe\x00", "line 1 is no answer"),
        (b'{"id": "a", "question": "Who?", "status": "answered"}\n', '"a" answers another question'),
        (b'{"id": "z", "question": "Who?", "status": "answered"}\n', '"z" is not asked'),
    ],
)
def test_what_else_a_file_holds_is_kept(
    library: Library, questions: Path, out: Path, content: bytes, says: str
) -> None:
    out.write_bytes(content)
    with pytest.raises(BadRequest, match=says):
        run(library, questions, out, PUMP)
    assert out.read_bytes() == content


def test_questions_are_not_written_over_by_their_answers(library: Library, questions: Path) -> None:
    questions.write_text(json.dumps(PUMP) + "\n")
    with pytest.raises(BadRequest, match="is no answer"):
        ask_rows(Agent(library=library), questions, questions, {})


def test_a_row_that_is_nested_too_deeply_is_named(questions: Path) -> None:
    questions.write_text("[" * 100_000)
    with pytest.raises(BadRequest, match="line 1"):
        list(rows_of(questions))
