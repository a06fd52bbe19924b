"""The commands as a person types them: output, errors in a sentence, exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from perquire.cli import app

runner = CliRunner()


@pytest.fixture
def run(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("PERQUIRE_WORKSPACE", str(workspace))

    def call(*args: str) -> Any:
        return runner.invoke(app, list(args))

    return call


def test_ask_shows_plan_answer_citations_and_receipt(run: Any) -> None:
    result = run("ask", "What does PX-311 mean?")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("plan      documents")
    assert any("inlet pressure" in line and "[1]" in line for line in lines)
    assert any(line.startswith("[1] pumps.md") for line in lines)
    assert "receipt   answered" in result.stdout


def test_ask_json_is_the_answer_object(run: Any) -> None:
    answer = json.loads(run("ask", "What does PX-311 mean?", "--json").stdout)
    assert set(answer) >= {
        "question", "answer", "status", "mode", "language", "citations", "plan", "grade", "corrections", "web", "trace",
        "usage", "missing", "warnings",
    }  # fmt: skip
    assert set(answer["citations"][0]) >= {"id", "kind", "source", "place", "text", "score"}
    assert set(answer["usage"]) >= {"model_calls", "input_tokens", "output_tokens", "ms", "by_node"}


def test_an_abstention_is_a_result(run: Any) -> None:
    result = run("ask", "Who wrote Hamlet?")
    assert result.exit_code == 0
    assert "do not answer this" in result.stdout


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["ask", ""], "The question is empty"),
        (["ask", "x " * 50_000], "ingest long texts as documents"),
        (["ask", "What is PX-311?", "--scope", "nowhere.md"], "Known: brochure.md"),
        (["ask", "What is PX-311?", "--strategy", "hyde"], "not available in this version"),
        (["ask", "What is PX-311?", "--strategy", "fast"], 'Option "strategy"'),
        (["ask", "What is PX-311?", "--top-k", "0"], 'Option "top_k"'),
        (["ask"], "Give either a question or --questions FILE"),
        (["ask", "--questions", "nowhere.jsonl", "--out", "x"], "There is no file nowhere.jsonl"),
        (["remove", "nowhere.md"], "perquire sources"),
    ],
)
def test_wrong_usage_is_one_sentence(run: Any, args: list[str], says: str) -> None:
    result = run(*args)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_no_workspace_says_what_to_do(tmp_path: Path) -> None:
    for command in ("sources", "status"):
        result = runner.invoke(app, [command, "--workspace", str(tmp_path / "none")])
        assert result.exit_code == 1
        assert "perquire ingest" in result.stderr
    answer = runner.invoke(app, ["ask", "What is PX-311?", "--workspace", str(tmp_path / "none")])
    assert answer.exit_code == 0
    assert "perquire ingest" in answer.stdout


def test_ingest_reports_each_file(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nSome text about nothing much.\n")
    (tmp_path / "b.pdf").write_bytes(b"not a pdf")
    args = ["ingest", str(tmp_path / "a.md"), str(tmp_path / "b.pdf"), "--workspace", str(tmp_path / "w")]
    result = runner.invoke(app, args)
    assert result.exit_code == 0
    assert "+ added     a.md  1 chunk" in result.stdout
    assert "! failed    b.pdf" in result.stdout
    again = json.loads(runner.invoke(app, [*args, "--json"]).stdout)
    assert again["outcomes"] == {"unchanged": 1, "failed": 1}
    missing = runner.invoke(app, ["ingest", str(tmp_path / "nowhere"), "--workspace", str(tmp_path / "w")])
    assert missing.exit_code == 1
    assert "There is nothing at" in missing.stderr


def test_status_and_sources_and_doctor(run: Any) -> None:
    status = json.loads(run("status", "--json").stdout)
    assert status["sources"] == 6
    assert status["tables"][0]["name"] == "prices"
    assert status["vectors_pending"] == 0
    sources = json.loads(run("sources", "--json").stdout)
    assert {s["source"] for s in sources["sources"]} >= {"pumps.md", "people.md"}
    findings = {f["part"]: f for f in json.loads(run("doctor", "--json").stdout)["findings"]}
    assert findings["vectors"]["state"] == "ok"
    assert findings["web"]["state"] == "off"
    assert "TAVILY_API_KEY" in findings["web"]["says"]


def test_plan_shows_reasons_and_runs_nothing(run: Any) -> None:
    shown = run("plan", "Compare the leave policy version 1 with version 2.").stdout
    assert "comparison" in shown
    assert "by capability" in shown
    plan = json.loads(run("plan", "What does PX-311 mean?", "--json").stdout)
    assert plan["fields"]["strategy"]["by"] == "capability"


def test_search_prints_passages(run: Any) -> None:
    found = json.loads(run("search", "PX-311", "-k", "3", "--json").stdout)["passages"]
    assert found[0]["source"] == "pumps.md"
    assert len(found) == 3


def test_batches_keep_order_options_and_what_is_done(run: Any, tmp_path: Path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    rows = [
        {"id": "one", "text": "What does PX-311 mean?", "colour": "ignored"},
        {"id": "two", "text": "How many days of leave do staff have?", "scope": ["policy-v1.md"]},
        {"id": "three", "text": ""},
        {"id": "four", "text": "Where was she born?", "history": [
            {"role": "user", "content": "Who founded the workshop?"}, {"role": "assistant", "content": "Ilse Varga."}]},
    ]  # fmt: skip
    questions.write_text("\n".join(json.dumps(r) for r in rows))
    assert run("ask", "--questions", str(questions), "--out", str(out)).exit_code == 0
    answers = [json.loads(line) for line in out.read_text().splitlines()]
    assert [a["id"] for a in answers] == ["one", "two", "three", "four"]
    assert [a["status"] for a in answers][2] == "failed"
    assert {c["source"] for c in answers[1]["citations"]} == {"policy-v1.md"}
    assert "Tarmouth" in answers[3]["answer"]
    kept = out.read_text().splitlines()[:2]
    out.write_text("\n".join([*kept, '{"id": "thr']))  # as a killed run leaves it
    assert run("ask", "--questions", str(questions), "--out", str(out)).exit_code == 0
    resumed = out.read_text().splitlines()
    assert resumed[:2] == kept
    assert [json.loads(line)["id"] for line in resumed] == ["one", "two", "three", "four"]


def test_plan_batch_and_trec_run(run: Any, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "q1", "text": "What does PX-311 mean?"}\n{"_id": "q2", "text": "leave policy"}\n')
    assert run("plan", "--questions", str(questions), "--out", str(tmp_path / "p.jsonl")).exit_code == 0
    plans = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert [(p["id"], p["plan"]["route"]) for p in plans] == [("q1", "documents"), ("q2", "documents")]
    assert run("search", "--queries", str(questions), "--run", str(tmp_path / "r.trec")).exit_code == 0
    lines = [line.split() for line in (tmp_path / "r.trec").read_text().splitlines()]
    assert lines[0][:4] == ["q1", "Q0", "pumps.md", "1"]
    assert all(len(line) == 6 and line[5] == "perquire" for line in lines)
    first = [line[2] for line in lines if line[0] == "q1"]
    assert len(first) == len(set(first))


def test_a_bad_row_names_its_line(run: Any, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "q1", "text": "fine"}\n{"id": "q2"\n')
    result = run("ask", "--questions", str(questions), "--out", str(tmp_path / "a"))
    assert result.exit_code == 2
    assert "line 2: not JSON" in result.stderr


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b'{"id": "a", "text": "one"}\n{"id": "a", "text": "two"}\n', 'line 2: the id "a" occurs twice'),
        ('{"id": "a", "text": "caf\u00e9"}'.encode("latin-1"), "is not UTF-8"),
        (b'{"id": "a", "text": 7}', 'line 1: a row needs "id" and "text"'),
    ],
)
def test_bad_rows_are_named(run: Any, tmp_path: Path, content: bytes, says: str) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_bytes(content)
    result = run("ask", "--questions", str(questions), "--out", str(tmp_path / "a"))
    assert result.exit_code == 2
    assert says in result.stderr


def test_one_rows_unknown_scope_fails_alone(run: Any, tmp_path: Path) -> None:
    questions, out = tmp_path / "q.jsonl", tmp_path / "a.jsonl"
    rows = [
        {"id": "x", "text": "What does PX-311 mean?", "scope": ["nowhere.md"]},
        {"id": "y", "text": "What does PX-311 mean? \ud83d"},
    ]
    questions.write_text("\n".join(json.dumps(r) for r in rows))
    assert run("ask", "--questions", str(questions), "--out", str(out)).exit_code == 0
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert first["status"] == "failed"
    assert "nowhere.md" in first["warnings"][0]
    assert second["status"] == "answered"


def test_a_place_that_cannot_be_written_is_a_sentence(run: Any, tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"id": "a", "text": "What does PX-311 mean?"}')
    nowhere = tmp_path / "none" / "a.jsonl"
    result = run("ask", "--questions", str(questions), "--out", str(nowhere))
    assert (result.exit_code, result.stderr) == (1, f"{nowhere}: No such file or directory. Check the path.\n")
    result = run("ask", "--questions", str(questions), "--out", str(tmp_path))
    assert (result.exit_code, result.stderr) == (2, f"{tmp_path} is a folder: name a file in it.\n")
