"""A file that changes, goes, cannot be read, or fails half-way: the workspace holds the state before or after."""

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from backends.catalog import Catalog
from backends.dense import open_collection
from backends.embeddings import Vectors, WordLlama
from backends.errors import NoWorkspace, PerquireError, StaleIndex, UnknownSource
from backends.ingest import Ingestor
from backends.reading import ReaderPool
from backends.workspace import Filters, Workspace


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "policy.md").write_text(
        "# Returns\n\nReturns are accepted within 30 days.\n\nThe customer pays the postage.\n"
    )
    (folder / "notes.txt").write_text("The dock closes at 18:20.\n")
    (folder / "parts.csv").write_text("code,price\n00714,3.20\n00715,4.00\n")
    return folder


def ingestor(tmp_path: Path, embedder: WordLlama) -> Ingestor:
    return Ingestor(tmp_path / "workspace", embedder)


def held(tmp_path: Path, embedder: WordLlama) -> tuple[int, int, int]:
    """Chunks in the record, in Chroma, and in BM25."""
    workspace = Workspace(tmp_path / "workspace", embedder)
    chunks = workspace.catalog.count("chunks")
    return chunks, open_collection(workspace.folder).count(), len(workspace._current().sparse)


def test_everything_goes_in_together(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    reports = ingestor(tmp_path, embedder).ingest([files])
    assert {Path(r.path).name: r.outcome for r in reports} == dict.fromkeys(
        ["notes.txt", "parts.csv", "policy.md"], "added"
    )
    chunks, vectors, terms = held(tmp_path, embedder)
    assert chunks == vectors == terms > 0
    (schema, file) = Catalog(tmp_path / "workspace").tables()["parts"]
    assert (schema["rows"], [c["name"] for c in schema["columns"]]) == (2, ["code", "price"])
    assert file.exists()


def test_unchanged_does_nothing(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    generation = Catalog(tmp_path / "workspace").generation()
    (files / "notes.txt").touch()
    reports = ingestor(tmp_path, embedder).ingest([files])
    assert {r.outcome for r in reports} == {"unchanged"}
    assert Catalog(tmp_path / "workspace").generation() == generation


def test_a_shorter_file_leaves_nothing_behind(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    (files / "policy.md").write_text("# Returns\n\nReturns are accepted within 14 days.\n")
    reports = ingestor(tmp_path, embedder).ingest([files])
    assert {Path(r.path).name: r.outcome for r in reports}["policy.md"] == "changed"
    workspace = Workspace(tmp_path / "workspace", embedder)
    texts = [p["text"] for p in workspace.passages(range(1, 100)).values()]
    assert any("14 days" in t for t in texts)
    assert not any("30 days" in t or "postage" in t for t in texts)
    assert workspace.search_sparse("postage", 5, Filters()) == []
    chunks, vectors, terms = held(tmp_path, embedder)
    assert chunks == vectors == terms


def test_a_vanished_file_goes_and_so_does_its_table(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    table = Catalog(tmp_path / "workspace").tables()["parts"][1]
    (files / "parts.csv").unlink()
    reports = ingestor(tmp_path, embedder).ingest([files])
    assert [Path(r.path).name for r in reports if r.outcome == "removed"] == ["parts.csv"]
    assert Catalog(tmp_path / "workspace").tables() == {}
    assert not table.exists()
    chunks, vectors, terms = held(tmp_path, embedder)
    assert chunks == vectors == terms


def test_remove_takes_a_source_out_of_everything(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    ingestor(tmp_path, embedder).remove(["policy.md"])
    workspace = Workspace(tmp_path / "workspace", embedder)
    assert "policy.md" not in workspace.catalog.digests()
    assert workspace.search_sparse("postage", 5, Filters()) == []
    chunks, vectors, terms = held(tmp_path, embedder)
    assert chunks == vectors == terms
    with pytest.raises(UnknownSource, match="perquire sources"):
        ingestor(tmp_path, embedder).remove(["policy.md"])


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    (files / "broken.pdf").write_bytes(b"\x00\x01 no pdf at all")
    (files / "image.xyz").write_bytes(b"\x00")
    reports = {Path(r.path).name: r for r in ingestor(tmp_path, embedder).ingest([files])}
    assert reports["broken.pdf"].outcome == "failed"
    assert "broken.pdf" in reports["broken.pdf"].reason
    assert reports["image.xyz"].outcome == "skipped"
    assert reports["policy.md"].outcome == "added"


def test_a_file_that_turns_unreadable_keeps_what_was_read(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    (files / "policy.md").write_bytes(b"")
    report = next(r for r in ingestor(tmp_path, embedder).ingest([files]) if r.path.endswith("policy.md"))
    assert report.outcome == "failed"
    assert "before stays" in report.reason
    assert Workspace(tmp_path / "workspace", embedder).search_sparse("postage", 5, Filters())


def test_beir_lines_are_sources(tmp_path: Path, embedder: WordLlama) -> None:
    file = tmp_path / "corpus.jsonl"
    rows = [{"_id": f"d{n}", "title": f"T{n}", "text": f"Record {n} holds {n * 7}."} for n in range(3)]
    file.write_text("\n".join(json.dumps(r) for r in rows))
    ingestor(tmp_path, embedder).ingest([file])
    rows[1]["text"] = "Record 1 was rewritten."
    file.write_text("\n".join(json.dumps(r) for r in rows[:2]))
    ingestor(tmp_path, embedder).ingest([file])
    workspace = Workspace(tmp_path / "workspace", embedder)
    assert sorted(workspace.catalog.digests()) == ["d0", "d1"]
    assert [
        p["text"]
        for p in workspace.passages([n for n, _ in workspace.search_sparse("rewritten", 5, Filters())]).values()
    ]


class Failing(WordLlama):
    """Embeds two batches, then breaks once."""

    def __init__(self) -> None:
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls == 2:
            raise RuntimeError("the embedding service went away")
        return super().embed(texts)


def test_a_fault_half_way_leaves_the_state_before(
    tmp_path: Path, embedder: WordLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backends.ingest.BATCH_SOURCES", 10)
    file = tmp_path / "corpus.jsonl"
    file.write_text("\n".join(json.dumps({"_id": f"d{n}", "text": f"Record {n}: value {n * 7}."}) for n in range(25)))
    failing = Failing()
    with pytest.raises(RuntimeError, match="went away"):
        ingestor(tmp_path, failing).ingest([file])
    assert Catalog(tmp_path / "workspace").count("chunks") == 0
    ingestor(tmp_path, failing).ingest([file])
    chunks, vectors, terms = held(tmp_path, embedder)
    assert chunks == vectors == terms == 25


def test_chroma_catches_up_after_a_crash(
    files: Path, tmp_path: Path, embedder: WordLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed between the record and the vector store: the outbox brings the rest in next time."""

    def killed(catalog: Catalog) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("backends.ingest.sync_chroma", killed)
    with pytest.raises(KeyboardInterrupt):
        ingestor(tmp_path, embedder).ingest([files])
    assert Catalog(tmp_path / "workspace").count("outbox") > 0
    monkeypatch.undo()
    ingestor(tmp_path, embedder).ingest([files])
    chunks, vectors, _ = held(tmp_path, embedder)
    assert chunks == vectors > 0


def test_same_names_in_two_folders_stay_apart(tmp_path: Path, embedder: WordLlama) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "note.md").write_text(f"# Note\n\nThis is note {name}.\n")
    ingestor(tmp_path, embedder).ingest([tmp_path / "a"])
    ingestor(tmp_path, embedder).ingest([tmp_path / "b"])
    assert sorted(Catalog(tmp_path / "workspace").digests()) == ["b/note.md", "note.md"]


def test_equal_paragraphs_are_all_kept(tmp_path: Path, embedder: WordLlama) -> None:
    file = tmp_path / "same.md"
    file.write_text("".join(f"# Part {n}\n\nCheck the seal.\n\n" for n in range(3)))
    ingestor(tmp_path, embedder).ingest([file])
    chunks, vectors, terms = held(tmp_path, embedder)
    assert chunks == vectors == terms == 3


def test_another_embedding_model_is_noticed(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    class Other(WordLlama):
        name = "other/256"  # of equal dimension: only the name tells

    ingestor(tmp_path, embedder).ingest([files])
    with pytest.raises(StaleIndex, match="other/256"):
        ingestor(tmp_path, Other()).ingest([files])
    workspace = Workspace(tmp_path / "workspace", Other())
    with pytest.raises(StaleIndex, match="ingest into a new workspace"):
        workspace.search_dense("dock", 3, Filters())
    assert workspace.search_sparse("dock", 3, Filters())


def test_paths_that_are_not_there(tmp_path: Path, embedder: WordLlama) -> None:
    with pytest.raises(PerquireError, match="There is nothing at"):
        ingestor(tmp_path, embedder).ingest([tmp_path / "nowhere"])
    with pytest.raises(NoWorkspace, match="perquire ingest"):
        Catalog(tmp_path / "none")


def test_a_link_out_of_the_folder_is_not_followed(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("the combination is 4711")
    (files / "link.txt").symlink_to(secret)
    reports = ingestor(tmp_path, embedder).ingest([files])
    left_out = next(r for r in reports if Path(r.path).name == "link.txt")
    assert (left_out.outcome, left_out.reason) == ("skipped", "It is a link that leads out of the folder.")


def test_two_writers_do_not_meet(
    files: Path, tmp_path: Path, embedder: WordLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    from filelock import FileLock

    monkeypatch.setattr("backends.ingest.LOCK_WAIT_S", 0.05)
    one = ingestor(tmp_path, embedder)
    with FileLock(tmp_path / "workspace" / "writer.lock"), pytest.raises(PerquireError, match="Another process"):
        one.ingest([files])
    assert one.ingest([files])


def test_removed_words_are_gone_from_the_bytes(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    (files / "secret.md").write_text("# Note\n\nThe safe word is quixotwombat.\n")
    ingestor(tmp_path, embedder).ingest([files])

    def holds(word: bytes) -> list[str]:
        return [str(p) for p in (tmp_path / "workspace").rglob("*") if p.is_file() and word in p.read_bytes()]

    assert holds(b"quixotwombat")
    ingestor(tmp_path, embedder).remove(["secret.md"])
    assert holds(b"quixotwombat") == []


def test_what_is_no_regular_file_does_not_hang(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    os.mkfifo(files / "pipe.txt")
    reports = {Path(r.path).name: r for r in ingestor(tmp_path, embedder).ingest([files, files / "pipe.txt"])}
    assert "no regular file" in reports["pipe.txt"].reason
    assert reports["policy.md"].outcome == "added"


def test_a_name_that_is_not_utf8_is_one_line(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    try:
        Path(os.fsdecode(os.fsencode(files) + b"/bad\xff.md")).write_text("# Bad\n\nname\n")
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    reports = ingestor(tmp_path, embedder).ingest([files])
    assert [r.outcome for r in reports].count("failed") == 1
    assert [r.outcome for r in reports].count("added") == 3


def test_the_same_file_twice_is_read_once(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    reports = ingestor(tmp_path, embedder).ingest([files / "notes.txt", files / "notes.txt"])
    assert [r.outcome for r in reports] == ["added"]


def test_a_damaged_record_is_a_sentence(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    record = tmp_path / "workspace" / "catalog.sqlite"
    record.write_bytes(b"this is no database at all, whatever its name says" * 100)
    with pytest.raises(PerquireError, match="ingest its files again"):
        Catalog(tmp_path / "workspace")
    with pytest.raises(PerquireError, match="cannot be a workspace"):
        Ingestor(files / "notes.txt", embedder)


def test_neither_words_nor_name_stay_in_chroma(files: Path, tmp_path: Path, embedder: WordLlama) -> None:
    ingestor(tmp_path, embedder).ingest([files])
    ingestor(tmp_path, embedder).remove(["policy.md"])
    store = [p.read_bytes() for p in (tmp_path / "workspace" / "chroma").rglob("*") if p.is_file()]
    assert store
    assert not any(b"policy.md" in data for data in store)


def test_what_an_ignore_file_names_is_left_out_and_goes_where_it_was_in(
    files: Path, tmp_path: Path, embedder: WordLlama
) -> None:
    (files / "drafts").mkdir()
    (files / "drafts" / "plan.md").write_text("# Plan\n\nThe dock moves to Tarmouth.\n")
    ingestor(tmp_path, embedder).ingest([files])
    (files / ".perquireignore").write_text("drafts/\nnotes.*\n")
    outcomes = {(Path(r.path).name, r.outcome) for r in ingestor(tmp_path, embedder).ingest([files])}
    assert {
        ("drafts", "skipped"),
        ("notes.txt", "skipped"),
        ("plan.md", "removed"),
        ("notes.txt", "removed"),
    } <= outcomes
    workspace = Workspace(tmp_path / "workspace", embedder)
    assert sorted(workspace.catalog.digests()) == ["parts.csv", "policy.md"]
    assert workspace.search_sparse("dock", 5, Filters()) == []


def test_a_workspace_inside_the_folder_is_not_ingested(files: Path, embedder: WordLlama) -> None:
    for _ in range(2):
        reports = Ingestor(files / "index", embedder).ingest([files])
    assert sorted(Path(r.path).name for r in reports) == ["notes.txt", "parts.csv", "policy.md"]


def test_a_file_that_takes_its_reader_down_costs_itself_alone(
    files: Path, tmp_path: Path, embedder: WordLlama, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in files.iterdir():
        path.unlink()
    for name, behaviour in (("a", "yield 1"), ("b", "segfault"), ("c", "segfault-after"), ("d", "yield 1")):
        (files / f"{name}.txt").write_text(behaviour)
    pool = partial(ReaderPool, reader="hostile_readers:read")
    monkeypatch.setattr("backends.ingest.ReaderPool", pool)
    reports = {Path(r.path).name: r for r in ingestor(tmp_path, embedder).ingest([files])}
    assert {name: r.outcome for name, r in reports.items()} == {
        "a.txt": "added", "b.txt": "failed", "c.txt": "failed", "d.txt": "added",
    }  # fmt: skip
    assert "b.txt: its reader crashed (SIGSEGV)" in reports["b.txt"].reason
    assert sorted(Catalog(tmp_path / "workspace").digests()) == ["a.txt", "d.txt"]


def test_a_long_text_is_one_source_whose_places_count_on(tmp_path: Path, embedder: WordLlama) -> None:
    file = tmp_path / "log.txt"
    lines = [f"{n} the ferry left berth {n % 7} with {n % 311} cars and the wind in the west" for n in range(24_000)]
    lines[23_990] = "23990 the chief engineer found a marmot below the boiler"
    file.write_text("\n\n".join(lines))
    for edit, outcome in ((None, "added"), ("\n\nand the marmot was given to the harbour master", "changed")):
        if edit:
            file.write_text(file.read_text() + edit)
        [report] = ingestor(tmp_path, embedder).ingest([file])
        assert (report.outcome, report.source_count, report.units) == (outcome, 1, 1)
    workspace = Workspace(tmp_path / "workspace", embedder)
    found = workspace.passages([n for n, _ in workspace.search_sparse("chief engineer marmot boiler", 1, Filters())])
    [passage] = found.values()
    assert passage["source"] == "log.txt"
    first = int(passage["place"].removeprefix("line "))
    stands = [first + 2 * n for n, line in enumerate(passage["text"].split("\n")) if "boiler" in line]
    assert stands == [2 * 23_990 + 1]
    assert workspace.search_sparse("harbour master", 1, Filters())


def test_what_a_file_states_about_itself_is_kept_and_can_be_asked(
    files: Path, tmp_path: Path, embedder: WordLlama
) -> None:
    page = files / "rules.md"
    for author in ("Jane Doe", "Omar Quill"):
        page.write_text(f"---\nauthor: {author}\ndate: 1 March 2024\n---\n\n# Rules\n\nNo bicycles on deck.\n")
        ingestor(tmp_path, embedder).ingest([files])
        workspace = Workspace(tmp_path / "workspace", embedder)
        profile = next(s for s in workspace.manifest()["sources"] if s["source"] == "rules.md")
        assert profile["metadata"] == {"author": author, "date": "2024-03-01"}
        found = workspace.passages([n for n, _ in workspace.search_sparse(author, 1, Filters())])
        assert [(p["source"], p["place"]) for p in found.values()] == [("rules.md", "line 2")]


def test_a_date_that_alone_has_changed_is_a_change(tmp_path: Path, embedder: WordLlama) -> None:
    page = tmp_path / "page.html"
    for day in ("2024-03-01", "2025-03-01"):
        page.write_text(f"<html><head><meta name='date' content='{day}'></head><body><p>No bicycles.</p></body></html>")
        ingestor(tmp_path, embedder).ingest([page])
        [profile] = Workspace(tmp_path / "workspace", embedder).manifest()["sources"]
        assert profile["metadata"] == {"created": day}
