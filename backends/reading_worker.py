"""The process that reads files for a ReaderPool, one after the other, each under limits that the system enforces.

Started as `python -m backends.reading_worker SOCKET SECONDS BYTES MODULE:FUNCTION`. It ends by itself once the other end of
the socket closes, whatever became of the process there.
"""

from __future__ import annotations

import importlib
import os
import pickle
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from backends.errors import UnreadableFile
from retrieval.types import Document

Read = Callable[[Path], Iterable[Document]]
Message = tuple[Literal["begun"], None] | tuple[Literal["documents"], list[Document]] | tuple[Literal["done"], str]
"""What is sent of each file: begun, documents any number of times, done with the reason that ended it ("" for none)."""

BATCH_DOCUMENTS, BATCH_CHARS, BATCH_S = 500, 500_000, 0.5  # a batch is sent once it is as large, or as old
LARGEST = 512 * 2**20  # bytes of one batch on its way, and so of one document
GROWN = 512 * 2**20  # bytes: a worker that ever held more makes way for a fresh one, since not all is given back


def main() -> None:
    number, seconds, memory, reader = sys.argv[1:]
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the default ends the process, also in the midst of a library's loop
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    module, function = reader.split(":")
    with _in_time(float(seconds)):
        read: Read = getattr(importlib.import_module(module), function)
        _limit(int(memory))
    with Connection(int(number)) as parent, suppress(EOFError, BrokenPipeError, ConnectionResetError):
        serve(parent, read, float(seconds), int(memory))
    signal.alarm(5)  # no library's farewell may take longer


def _limit(memory: int) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    memory = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError):  # where memory runs out nevertheless, this process is the one to go
        Path("/proc/self/oom_score_adj").write_text("1000")
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 2)  # up to here a failure to start was to be seen; libraries' murmurs are not
    os.close(quiet)


def serve(parent: Connection, read: Read, seconds: float, memory: int) -> None:
    """Reads what it is told to until the connection closes. A full socket makes it wait: nothing piles up."""
    while _held_at_most() < GROWN:
        path = Path(parent.recv())
        parent.send_bytes(_packed(("begun", None)))
        for batch in _answer(path, read, seconds, memory):
            parent.send_bytes(batch)


def _held_at_most() -> int:
    """The most memory that this process ever held, in bytes. getrusage() would count what its parent held at the start."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _answer(path: Path, read: Read, seconds: float, memory: int) -> Iterator[bytes]:
    reason = ""
    try:
        for batch in _batches(_timed(path, read, seconds)):
            packed = _packed(("documents", batch))
            if len(packed) > LARGEST:
                raise UnreadableFile(f"{path.name}: it holds more than {LARGEST // 2**20} MB at once; split it.")
            yield packed
    except UnreadableFile as error:
        reason = str(error)
    except MemoryError:
        reason = f"{path.name}: reading it needs more than {memory // 2**20} MB of memory; split it."
    except RecursionError:
        reason = f"{path.name}: it is nested too deeply to be read; save a flatter copy."
    except OSError as error:
        reason = f"{path.name}: it cannot be opened: {error.strerror or error}."
    except Exception as error:  # noqa: BLE001 - whatever a library raises costs one file, not the run
        said = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        reason = f"{path.name}: its reader failed ({said}); open the file in its program and save it anew."
    yield _packed(("done", reason))


def _timed(path: Path, read: Read, seconds: float) -> Iterator[Document]:
    """The documents, each within the time allowed; waiting for them to be taken does not count."""
    with _in_time(seconds):
        documents = iter(read(path))
    while True:
        with _in_time(seconds):
            document = next(documents, None)
        if document is None:
            return
        yield document


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    chars, since = 0, time.monotonic()
    for document in documents:
        batch.append(document)
        chars += sum(len(block.text) for block in document.blocks) + BATCH_CHARS * bool(document.tables)
        if len(batch) >= BATCH_DOCUMENTS or chars >= BATCH_CHARS or time.monotonic() - since > BATCH_S:
            yield batch
            batch, chars, since = [], 0, time.monotonic()
    if batch:
        yield batch


def _packed(message: Message) -> bytes:
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


if __name__ == "__main__":
    main()
