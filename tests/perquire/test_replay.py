"""A recorded run gives the same answer object again without its backends, or the reason for a difference by name."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import KEY, endpoint
from fakes import FakeWeb
from standin import Say, StandIn, Status
from typer.testing import CliRunner

import perquire.replay as module
from backends.embeddings import WordLlama
from backends.errors import BadRequest, ModelUnavailable
from backends.ingest import Ingestor
from backends.library import Library
from backends.openai_chat import OpenAIChat
from backends.settings import Settings
from backends.tavily import WebResult
from graph.seam import Diverged, OverBudget, Recorder, Replayer
from perquire.agent import Agent
from perquire.cli import app
from perquire.replay import record, replay

QUESTION = "How heavy is the Q4 pump?"
NEWS: WebResult = {
    "url": "https://example.org/copper",
    "title": "Copper price",
    "text": "The copper price was 9,120 dollars a tonne this week.",
    "date": "2026-03-30",
    "score": 0.9,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


@pytest.fixture
def own(corpus: Path, embedder: WordLlama, tmp_path: Path) -> Path:
    """A workspace that a test may change or delete."""
    folder = tmp_path / "own"
    Ingestor(folder, embedder).ingest([corpus])
    return folder


def lines_of(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def rewrite(file: Path, change: Callable[[list[Any]], None]) -> None:
    lines = lines_of(file)
    change(lines)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def with_model(workspace: Path, embedder: WordLlama, server: StandIn, *roles: Any) -> Agent:
    model = OpenAIChat(endpoint(server.base_url, structured_output="json"))
    return Agent(library=Library(workspace, embedder, models=dict.fromkeys(roles or ("answering",), model)))


@pytest.mark.parametrize(
    ("question", "status"),
    [
        (QUESTION, "answered"),
        ("Who wrote the opera about the lighthouse?", "abstained"),
        ("What does PX-311 mean?", "answered"),
        ("Hello!", "answered"),
        ("Compare the Q4 pump with the Q9 pump.", None),
        ("What is in these documents?", None),
    ],
)
def test_the_same_answer_with_the_workspace_gone(
    own: Path, embedder: WordLlama, file: Path, question: str, status: str | None
) -> None:
    then = record(Agent(library=Library(own, embedder)), question, {}, file)
    assert status in (None, then["status"])
    shutil.rmtree(own)
    again = replay(file)
    assert again.same
    assert again.result is not None
    assert again.result["answer"] == then["answer"]
    assert again.result["citations"] == then["citations"]
    (note,) = again.notes
    assert str(own) in note


def test_nothing_stands_in_for_a_workspace_that_never_was(tmp_path: Path, embedder: WordLlama, file: Path) -> None:
    record(Agent(library=Library(tmp_path / "none", embedder)), QUESTION, {}, file)
    assert replay(file).same


def test_options_deadline_and_scope_run_again(library: Library, file: Path) -> None:
    options = {"deadline_s": 60, "scope": ["people.md"], "tier": "deep", "now": "2026-03-31"}
    record(Agent(library=library), QUESTION, options, file)
    assert replay(file).same


def test_a_web_answer_runs_again_without_the_web(workspace: Path, embedder: WordLlama, file: Path) -> None:
    web = FakeWeb([NEWS])
    agent = Agent(library=Library(workspace, embedder, web, settings=Settings()))
    then = record(agent, "What is the copper price this week?", {"web": "allow"}, file)
    asked = len(web.queries)
    assert asked
    assert replay(file).same
    assert len(web.queries) == asked
    assert then["citations"][0]["source"] == "Copper price"


def test_a_model_s_answer_runs_again_with_the_model_gone(workspace: Path, embedder: WordLlama, file: Path) -> None:
    with StandIn([Status(429, retry_after=0), Say("The Q4 pump weighs 58 kg [1].")]) as server:
        then = record(with_model(workspace, embedder, server), QUESTION, {}, file)
    assert (then["mode"], then["usage"]["model_calls"]) == ("model", 2)
    again = replay(file)
    assert again.same
    assert again.result is not None
    assert again.result["usage"]["input_tokens"] == then["usage"]["input_tokens"]
    assert KEY not in file.read_text(encoding="utf-8")


def test_a_plan_by_a_model_runs_again(workspace: Path, embedder: WordLlama, file: Path) -> None:
    with StandIn([Say("no JSON at all")]) as server:
        then = record(with_model(workspace, embedder, server, "planning", "answering"), QUESTION, {}, file)
    assert then["plan"]["fallback"]
    assert replay(file).same


def test_a_reply_that_was_changed_is_told_by_its_place(workspace: Path, embedder: WordLlama, file: Path) -> None:
    with StandIn([Say("The Q4 pump weighs 58 kg [1].")]) as server:
        record(with_model(workspace, embedder, server), QUESTION, {}, file)

    def tamper(lines: list[Any]) -> None:
        for line in lines[1:-1]:
            if line["call"]["effect"] == "attempt":
                line["call"]["gave"]["text"] = "58 kg the Q4 pump weighs [1]."

    rewrite(file, tamper)
    again = replay(file)
    assert not again.same
    assert "58 kg. [1]" in again.differences[0]
    assert "58 kg the Q4 pump weighs" in again.differences[0]


def test_a_changed_index_is_named_and_the_answer_is_still_that_of_then(
    own: Path, embedder: WordLlama, file: Path, tmp_path: Path
) -> None:
    record(Agent(library=Library(own, embedder)), QUESTION, {}, file)
    extra = tmp_path / "extra.md"
    extra.write_text("# Extra\n\nThe Q4 pump was painted blue.\n", encoding="utf-8")
    assert replay(file).notes == []
    Ingestor(own, embedder).ingest([extra])
    again = replay(file)
    assert again.same
    (note,) = again.notes
    assert note.startswith("The index has changed since: 6 sources")
    assert "7 sources" in note


def test_a_changed_prompt_is_named_as_the_reason(
    workspace: Path, embedder: WordLlama, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with StandIn([Say("The Q4 pump weighs 58 kg [1].")]) as server:
        record(with_model(workspace, embedder, server), QUESTION, {}, file)
    rewrite(file, lambda lines: lines[0]["prompts"].update({"prompts/answer.py": "0" * 64}))
    rewrite(file, lambda lines: [c["call"].update(digest="0") for c in lines[1:-1] if c["call"]["effect"] == "attempt"])
    again = replay(file)
    assert not again.same
    assert again.result is None
    assert again.differences[0].startswith("generate asks for attempt(")
    assert "The prompts have changed since: prompts/answer.py." in again.differences


def test_another_version_is_named(library: Library, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(Agent(library=library), QUESTION, {}, file)
    monkeypatch.setattr(module, "__version__", "99.0")
    assert any("99.0" in note for note in replay(file).notes)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not a recording"),
        (b"hello\n", "is not a recording"),
        (b"\xff\xfe\x00", "is not a recording"),
        (b'{"id": 1}\n', "is not a recording"),
        (b'{"format": 99}\n', "format 99"),
        (b'{"format": 1}\n', "version, question"),
    ],
)
def test_what_is_no_recording_is_refused_in_a_sentence(file: Path, content: bytes, says: str) -> None:
    file.write_bytes(content)
    with pytest.raises(BadRequest, match=says) as caught:
        replay(file)
    assert str(file) in str(caught.value)


def test_a_recording_cut_anywhere_is_refused(library: Library, file: Path) -> None:
    record(Agent(library=library), QUESTION, {}, file)
    whole = file.read_bytes()
    for end in (len(whole) // 3, len(whole) // 2, len(whole) - 20, whole.rstrip().rfind(b"\n") + 1):
        file.write_bytes(whole[:end])
        with pytest.raises(BadRequest, match=r"cut off|damaged"):
            replay(file)
    file.unlink()
    with pytest.raises(BadRequest, match="no file"):
        replay(file)


@pytest.mark.parametrize("gave", [None, "zap", {"$tuple": 5}, [1, 2]])
def test_a_reply_that_nothing_can_be_done_with_is_a_difference_with_its_reason(
    library: Library, file: Path, gave: Any
) -> None:
    record(Agent(library=library), QUESTION, {}, file)
    whole = file.read_text(encoding="utf-8")
    told: list[str] = []
    for n in range(1, len(whole.splitlines()) - 1):

        def damage(lines: list[Any], n: int = n) -> None:
            lines[n]["call"]["gave"] = gave

        file.write_text(whole, encoding="utf-8")
        rewrite(file, damage)
        told.extend(replay(file).differences)
    assert any(reason.startswith("The run broke on what was recorded") for reason in told)


@pytest.mark.parametrize(
    ("name", "value"),
    [("options", [1]), ("options", {"now": "yesterday"}), ("prompts", 7), ("index", 3), ("models", "x"), ("web", 9)],
)
def test_a_damaged_first_line_is_refused_by_name(library: Library, file: Path, name: str, value: Any) -> None:
    record(Agent(library=library), QUESTION, {}, file)
    rewrite(file, lambda lines: lines[0].update({name: value}))
    with pytest.raises(BadRequest, match=f"line 1: {name}.* is damaged"):
        replay(file)


def test_a_mark_at_the_beginning_of_the_file_is_no_damage(library: Library, file: Path) -> None:
    record(Agent(library=library), QUESTION, {}, file)
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert replay(file).same


def test_what_is_no_recording_is_not_written_over(library: Library, file: Path) -> None:
    file.write_text("my notes", encoding="utf-8")
    with pytest.raises(BadRequest, match="holds something else"):
        record(Agent(library=library), QUESTION, {}, file)
    assert file.read_text(encoding="utf-8") == "my notes"


def test_a_recording_takes_the_place_of_another(library: Library, file: Path) -> None:
    for _ in range(2):
        record(Agent(library=library), QUESTION, {}, file)
    assert replay(file).same


def test_a_failing_run_leaves_the_file_as_it_was(library: Library, file: Path) -> None:
    record(Agent(library=library), QUESTION, {}, file)
    kept = file.read_text(encoding="utf-8")
    with pytest.raises(BadRequest, match="tier"):
        record(Agent(library=library), QUESTION, {"tier": "huge"}, file)
    assert file.read_text(encoding="utf-8") == kept
    assert [p.name for p in file.parent.iterdir() if p.name.startswith(file.name)] == [file.name]


def test_the_commands_by_their_exit_codes(own: Path, file: Path, tmp_path: Path) -> None:
    run = CliRunner()
    asked = run.invoke(app, ["ask", QUESTION, "-w", str(own), "--record", str(file)])
    assert asked.exit_code == 0, asked.output
    assert "58 kg" in asked.output
    same = run.invoke(app, ["replay", str(file)])
    assert (same.exit_code, same.output.split()[0]) == (0, "same")
    rewrite(file, lambda lines: lines[-1]["result"].update(answer="Something else."))
    other = run.invoke(app, ["replay", str(file), "--json"])
    assert other.exit_code == 1
    said = json.loads(other.output)
    assert said["same"] is False
    assert said["differences"][0].startswith('answer was "Something else."')
    assert run.invoke(app, ["replay", str(tmp_path / "none")]).exit_code == 2
    nowhere = run.invoke(app, ["ask", QUESTION, "-w", str(own), "--record", str(tmp_path / "no" / "run.jsonl")])
    assert nowhere.exit_code == 1
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"id": "1", "text": "x"}\n', encoding="utf-8")
    both = run.invoke(app, ["ask", "--questions", str(rows), "--out", str(tmp_path / "o"), "--record", str(file)])
    assert both.exit_code == 2


def test_a_seam_gives_equal_calls_in_order_and_failures_as_they_were() -> None:
    recorder = Recorder()
    given = iter([(1, 2.5), {3: "c"}])

    def ask(what: str) -> Any:
        return next(given)

    def fail(timeout_s: float) -> None:
        raise ModelUnavailable("away", "rate_limit", retry=True, retry_after=2.0)

    def stop() -> None:
        raise OverBudget("max_tokens")

    assert recorder.call("plan", ask, ("a",), {}) == (1, 2.5)
    assert recorder.call("plan", ask, ("a",), {}) == {3: "c"}
    with pytest.raises(ModelUnavailable):
        recorder.call("plan", fail, (), {"timeout_s": 1.0})
    with pytest.raises(OverBudget):
        recorder.call("plan", stop, (), {})

    again = Replayer(json.loads(json.dumps(recorder.calls)))
    assert [again.call("plan", ask, ("a",), {}) for _ in range(3)] == [(1, 2.5), {3: "c"}, {3: "c"}]
    with pytest.raises(ModelUnavailable, match="away") as caught:
        again.call("plan", fail, (), {"timeout_s": 9.0})  # time is no part of what is asked
    assert (caught.value.kind, caught.value.retry, caught.value.retry_after) == ("rate_limit", True, 2.0)
    with pytest.raises(OverBudget, match="max_tokens"):
        again.call("plan", stop, (), {})
    with pytest.raises(Diverged, match=r"grade asks for ask\('a'\)"):
        again.call("grade", ask, ("a",), {})
    with pytest.raises(Diverged):
        again.call("plan", ask, ("b",), {})
