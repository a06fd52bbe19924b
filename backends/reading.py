"""Files read in other processes, so that no file can take the run along, and reading goes on while others embed.

Workers are started as programs of their own (no fork of a process with threads, and nothing of the caller's main module
runs again), lazily, and kept for many files. The first one costs about 80 ms, which is why there is no second way of
reading small files in this process: a file of 10 KB can keep a parser busy for minutes. They get none of the environment's
secrets. What they send is trusted: the limits are against files that exhaust a parser, not against one that takes it over.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from types import TracebackType

from backends.errors import PerquireError, UnreadableFile
from backends.reading_process import Limits, ReadingProcess
from retrieval.types import Document

MOST_WORKERS = 4  # reading is a small part of ingestion
AHEAD = 4  # files that a worker is told of in advance


class ReaderPool:
    """Reads files in worker processes; a context manager that leaves no process behind, however it is left.

        with ReaderPool() as pool:
            for path, documents in pool.read(paths):
                try:
                    for document in documents: ...
                except UnreadableFile: ...

    For one thread at a time. `reader` is "module:function", called with a path, giving documents.
    """

    def __init__(
        self, workers: int | None = None, limits: Limits | None = None, reader: str = "backends.readers:read_file"
    ) -> None:
        """`workers` processes at most, by default one a core up to four; none is started before a file needs it."""
        count = workers or min(MOST_WORKERS, len(os.sched_getaffinity(0)))
        self._workers = [_Worker(limits or Limits(), reader) for _ in range(count)]

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the workers at once, whatever they do. The pool can be used again: they start anew."""
        for worker in self._workers:
            worker.stop()

    def read(self, paths: Iterable[Path]) -> Iterator[tuple[Path, Iterator[Document]]]:
        """Each path with its documents, in the order of the paths, whichever worker is first.

        A few paths are taken in advance and read meanwhile; a file's documents come in batches of about half a million
        characters, and its worker waits until they are taken. The documents of a file must be taken before the next
        path is; what is left of them then is given up. Iterating over them raises UnreadableFile, with a sentence that
        names the file, and the limit if it is one; the files after it are not affected. Raises PerquireError where no
        worker can be started.
        """
        coming = iter(paths)
        window: deque[_Worker] = deque()
        try:
            while True:
                while len(window) < AHEAD * len(self._workers) and (path := next(coming, None)) is not None:
                    worker = min(self._workers, key=lambda worker: len(worker.tasks))
                    worker.give(path)
                    window.append(worker)
                if not window:
                    return
                worker = window.popleft()
                before = worker.finished
                documents = worker.documents()
                yield worker.tasks[0], documents
                documents.close()
                if worker.finished == before:
                    worker.give_up()
        finally:
            for worker in self._workers:
                if worker.tasks:
                    worker.stop()


class _Worker:
    """A process, replaced where it ends, and the files that it was told to read, the present one first."""

    def __init__(self, limits: Limits, reader: str) -> None:
        self.tasks: deque[Path] = deque()
        self.finished = 0  # files, whatever came of them
        self._limits, self._reader = limits, reader
        self._process: ReadingProcess | None = None

    def give(self, path: Path) -> None:
        self.tasks.append(path)
        if self._process:
            self._process.send(path)
        else:
            self._start()

    def documents(self) -> Generator[Document]:
        """Of the present file; once they are through, the next one is the present."""
        path, taken = self.tasks[0], False
        while True:
            process = self._process or self._start()
            match process.receive():
                case ("documents", batch):
                    taken = True
                    yield from batch
                case ("done", reason):
                    self._finish()
                    if reason:
                        raise UnreadableFile(reason)
                    return
                case None:
                    self._process = None
                    why = process.why()
                    if not process.begun:
                        raise PerquireError(f"The process that reads files cannot be started: {why}")
                    if process.reading and (taken or process.begun == 1 or process.late):
                        self._finish()
                        raise UnreadableFile(f"{path.name}: {why}")
                    # else it ended between two files, or an earlier one may have harmed it: a fresh one decides

    def give_up(self) -> None:
        """Leaves the present file as far as it was read."""
        self._end()
        self._finish()
        if self.tasks:
            self._start()

    def stop(self) -> None:
        self._end()
        self.tasks.clear()

    def _start(self) -> ReadingProcess:
        self._process = ReadingProcess(self._limits, self._reader)
        for path in self.tasks:
            self._process.send(path)
        return self._process

    def _finish(self) -> None:
        self.tasks.popleft()
        self.finished += 1

    def _end(self) -> None:
        process, self._process = self._process, None
        if process:
            process.end()
