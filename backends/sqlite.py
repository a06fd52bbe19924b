"""One SQLite file in WAL mode: readers go on while one writer works, and each thread has a connection of its own."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from backends.errors import PerquireError

WAIT_S = 30
BATCH = 1_000  # rows that a stream fetches at a time


class Database:
    """Statements against one file. Raises PerquireError where SQLite says that the file is damaged, or no database."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()

    def rows(self, sql: str, *args: Any) -> list[sqlite3.Row]:
        with self._sound():
            return self._connection().execute(sql, args).fetchall()

    def stream(self, sql: str, *args: Any) -> Iterator[sqlite3.Row]:
        """The rows as they are asked for; memory does not grow with their number."""
        with self._sound():
            cursor = self._connection().execute(sql, args)
            while batch := cursor.fetchmany(BATCH):
                yield from batch

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A change, whole or not at all."""
        with self._sound():
            db = self._connection()
            db.execute("begin immediate")
            try:
                yield db
            except BaseException:
                db.execute("rollback")
                raise
            db.execute("commit")

    def damage(self) -> str | None:
        """What SQLite finds wrong with the file, if anything."""
        found = str(self.rows("pragma quick_check(1)")[0][0])
        return None if found == "ok" else found

    def forget(self) -> None:
        """Empties the write-ahead log, in which what was removed still stands."""
        self.rows("pragma wal_checkpoint(truncate)")

    def close(self) -> None:
        """Closes this thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)
            connection.row_factory = sqlite3.Row
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma secure_delete = on")  # what is deleted leaves the file's bytes
            connection.execute("pragma foreign_keys = on")
            self._local.connection = connection
        return connection

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # a lock, a full disk, a fault of ours speak for themselves
                raise
            raise PerquireError(
                f"{self.path} cannot be used ({error}): move the workspace away and ingest its files again."
            ) from None
