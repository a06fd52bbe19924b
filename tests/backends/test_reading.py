"""Files read by workers: in order, within limits, whatever a file does to the process that reads it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import hostile_readers
import pytest

from backends.errors import PerquireError, UnreadableFile
from backends.readers import read_file
from backends.reading import ReaderPool
from backends.reading_process import Limits
from backends.reading_worker import GROWN
from retrieval.types import Document

TIGHT = Limits(seconds=2.0, memory=256 * 2**20)


def files(folder: Path, *contents: str) -> list[Path]:
    paths = [folder / f"{n:02d}.txt" for n in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_text(content)
    return paths


def children() -> set[int]:
    """The processes that this one started and that are not gone, those that nobody waited for included."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # the thread has ended meanwhile
            found.update(int(pid) for pid in (task / "children").read_text().split())
    return found


@contextmanager
def hostile(workers: int = 2, limits: Limits = TIGHT) -> Iterator[ReaderPool]:
    before = children()
    with ReaderPool(workers, limits, "hostile_readers:read") as pool:
        yield pool
    assert children() == before


def outcomes(pool: ReaderPool, paths: Iterable[Path]) -> list[list[Document] | str]:
    out: list[list[Document] | str] = []
    for _, documents in pool.read(paths):
        try:
            out.append(list(documents))
        except UnreadableFile as error:
            out.append(str(error))
    return out


@pytest.mark.parametrize("workers", [1, 3])
def test_documents_come_whole_and_in_the_order_of_the_files(tmp_path: Path, workers: int) -> None:
    contents = [f"yield {n % 4}" for n in range(20)]
    contents[3] = "sleep 0.2"
    paths = files(tmp_path, *contents)
    with hostile(workers) as pool:
        read = [(path, list(documents)) for path, documents in pool.read(iter(paths))]
    assert [path for path, _ in read] == paths
    assert [documents for _, documents in read] == [list(hostile_readers.read(path)) for path in paths]


def test_a_file_costs_itself_alone_and_the_limit_is_named(tmp_path: Path) -> None:
    cases = {
        "segfault": "its reader crashed (SIGSEGV); the file may be corrupt: open it in its program and save it anew.",
        "kill": "the system ended the process that read it (out of memory?); close other programs, or split the file.",
        "exit": "its reader crashed (exit code 7); the file may be corrupt: open it in its program and save it anew.",
        "sys-exit": "its reader crashed (exit code 3); the file may be corrupt: open it in its program and save it anew.",
        "loop": "reading it took longer than 2 s; split it, or save it anew in its program.",
        "loop-in-c": "reading it took longer than 2 s; split it, or save it anew in its program.",
        "memory": "reading it needs more than 256 MB of memory; split it.",
        "memory-bit-by-bit": "reading it needs more than 256 MB of memory; split it.",
        "recursion": "it is nested too deeply to be read; save a flatter copy.",
        "fault": "its reader failed (KeyError: 'part'); open the file in its program and save it anew.",
    }
    paths = files(tmp_path, *(word for case in cases for word in (case, "yield 2")))
    paths.append(tmp_path / "gone.txt")
    with hostile() as pool:
        read = outcomes(pool, paths)
    said = [f"{path.name}: {reason}" for path, reason in zip(paths[::2], cases.values(), strict=False)]
    assert read[:-1:2] == said
    assert read[-1] == "gone.txt: it cannot be opened: No such file or directory."
    assert all(len(documents) == 2 for documents in read[1::2])


def test_what_was_read_before_a_crash_is_given(tmp_path: Path) -> None:
    with hostile(1) as pool:
        walk = pool.read(files(tmp_path, "segfault-after"))
        _, documents = next(walk)
        # a crash comes before the batch is full: nothing of it is promised but the error
        with pytest.raises(UnreadableFile, match="SIGSEGV"):
            list(documents)


def test_a_file_does_not_pay_for_the_one_before(tmp_path: Path) -> None:
    with hostile(1) as pool:
        harm, brittle = outcomes(pool, files(tmp_path, "harm", "brittle"))
    assert [d.title for d in (*harm, *brittle) if isinstance(d, Document)] == ["harm", "brittle"]


def test_a_worker_that_grew_is_replaced_and_others_are_kept(tmp_path: Path) -> None:
    with hostile(1, Limits()) as pool:
        read = outcomes(pool, files(tmp_path, "pid", "pid", "grow 600", "pid"))
        pids = [d.title.split()[0] for documents in read for d in documents if isinstance(d, Document)]
    assert pids[0] == pids[1]
    assert pids[2] == "600"
    assert pids[3] != pids[0]


def test_a_worker_waits_until_its_documents_are_taken(tmp_path: Path) -> None:
    with hostile(1) as pool:
        walk = pool.read(files(tmp_path, "many 400"))
        _, documents = next(walk)
        assert [next(documents).title for _ in range(3)] == ["0", "1", "2"]
        time.sleep(2.5)  # longer than the time limit, which waiting does not count against
        assert int((tmp_path / "progress").read_text()) < 30
        assert [d.title for d in documents][-1] == "399"


def test_a_file_that_is_left_halfway_does_not_mix_with_the_next(tmp_path: Path) -> None:
    path = files(tmp_path, "many 400")[0]
    titles = []
    with hostile(1) as pool:
        for _, documents in pool.read([path] * 3):
            titles.append(next(documents).title)
        assert titles == ["0"] * 3
        assert len(outcomes(pool, [path])[0]) == 400


def test_one_that_stops_early_leaves_no_process(tmp_path: Path) -> None:
    before = children()

    def interrupted() -> None:
        with hostile() as pool:
            for _ in pool.read(files(tmp_path, "yield 1", "loop", "many 400", "sleep 9")):
                assert len(children() - before) == 2
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert children() == before
    with hostile() as pool:
        next(pool.read(files(tmp_path, "loop", "loop")))
        pool.close()
        assert children() == before
        assert [len(documents) for documents in outcomes(pool, files(tmp_path, "yield 4"))] == [4]  # it starts anew


def test_no_process_is_started_before_a_file_needs_it(tmp_path: Path) -> None:
    before = children()
    with hostile(3) as pool:
        assert outcomes(pool, []) == []
        assert children() == before
        walk = pool.read(files(tmp_path, "yield 1"))
        next(walk)
        assert len(children() - before) == 1


def test_what_a_worker_started_ends_with_it(tmp_path: Path) -> None:
    with hostile(1) as pool:
        (said,) = outcomes(pool, files(tmp_path, "child"))
    assert "longer than 2 s" in said
    status = Path("/proc", (tmp_path / "child").read_text(), "stat")
    deadline = time.monotonic() + 5
    while status.exists() and status.read_text().split()[2] != "Z" and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not status.exists() or status.read_text().split()[2] == "Z"


def test_workers_end_where_their_parent_is_killed(tmp_path: Path) -> None:
    path = files(tmp_path, "many 400", "loop")
    script = (
        "import os, signal, sys; from pathlib import Path; from backends.reading import ReaderPool\n"
        "from backends.reading_process import Limits\n"
        "pool = ReaderPool(2, Limits(seconds=2.0), 'hostile_readers:read')\n"
        "walk = pool.read(map(Path, sys.argv[1:])); path, documents = next(walk); next(documents)\n"
        "print(*[w._process._process.pid for w in pool._workers], flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", script, *path], capture_output=True, text=True, env=env, check=False)
    pids = run.stdout.split()
    assert len(pids) == 2, run.stderr
    deadline = time.monotonic() + 10
    while any(_runs(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in pids if _runs(pid)]


def _runs(pid: str) -> bool:
    try:
        return Path("/proc", pid, "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_workers_get_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    with hostile(1) as pool:
        (documents,) = outcomes(pool, files(tmp_path, "pid"))
    assert isinstance(documents[0], Document)
    assert "PATH" in documents[0].title
    assert "OPENAI_API_KEY" not in documents[0].title


def test_nothing_is_imported_from_the_folder_that_one_stands_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "charset_normalizer.py").write_text("raise SystemExit(9)")
    (tmp_path / "a.txt").write_text("Hello.")
    monkeypatch.chdir(tmp_path)
    with ReaderPool(1) as pool:
        (documents,) = outcomes(pool, [tmp_path / "a.txt"])
    assert documents == list(read_file(tmp_path / "a.txt"))


def test_workers_that_cannot_start_are_no_fault_of_the_file(tmp_path: Path) -> None:
    before = children()
    with ReaderPool(1, TIGHT, "no_such_module:read") as pool:
        walk = pool.read(files(tmp_path, "yield 1"))
        _, documents = next(walk)
        with pytest.raises(PerquireError, match="cannot be started: ModuleNotFoundError: No module") as caught:
            list(documents)
    assert not isinstance(caught.value, UnreadableFile)
    assert children() == before


def test_a_large_process_can_have_its_files_read(tmp_path: Path) -> None:
    """What a process holds when it starts another counts as the other's in the system's books."""
    held = bytearray(GROWN + 2**20)
    held[::4096] = b"x" * len(held[::4096])
    (tmp_path / "a.txt").write_text("The dock closes at 18:20.")
    with ReaderPool(workers=1) as pool:
        [(_, documents)] = [(path, list(found)) for path, found in pool.read([tmp_path / "a.txt"])]
    assert documents[0].blocks[0].text == "The dock closes at 18:20."
