"""Threads, readers beside a writer, and a file that is no database."""

import sqlite3
import threading
from pathlib import Path

import pytest

from backends.errors import PerquireError
from backends.sqlite import Database


@pytest.fixture
def database(tmp_path: Path) -> Database:
    database = Database(tmp_path / "record.sqlite")
    with database.transaction() as db:
        db.execute("create table words (word text)")
        db.executemany("insert into words values (?)", [("pump",), ("valve",)])
    return database


def words(database: Database) -> list[str]:
    return [row["word"] for row in database.rows("select word from words order by rowid")]


def test_a_change_that_fails_leaves_the_state_before(database: Database) -> None:
    def change() -> None:
        with database.transaction() as db:
            db.execute("delete from words")
            raise RuntimeError("the power went")

    with pytest.raises(RuntimeError, match="the power went"):
        change()
    assert words(database) == ["pump", "valve"]


def test_a_reader_is_not_held_up_and_sees_no_half_change(database: Database) -> None:
    seen: list[list[str]] = []

    def read() -> None:
        seen.append(words(database))
        database.close()

    with database.transaction() as db:
        db.execute("insert into words values ('seal')")
        reader = threading.Thread(target=read)
        reader.start()
        reader.join()
    assert seen == [["pump", "valve"]]
    assert words(database) == ["pump", "valve", "seal"]


def test_a_stream_gives_every_row(database: Database) -> None:
    with database.transaction() as db:
        db.executemany("insert into words values (?)", [(str(n),) for n in range(2_500)])
    streamed = [row["word"] for row in database.stream("select word from words order by rowid")]
    assert streamed == ["pump", "valve", *map(str, range(2_500))]


def test_what_was_removed_leaves_the_bytes(database: Database) -> None:
    with database.transaction() as db:
        db.execute("delete from words where word = 'valve'")
    database.forget()
    held = b"".join(path.read_bytes() for path in database.path.parent.iterdir())
    assert b"pump" in held
    assert b"valve" not in held


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "record.sqlite"
    path.write_bytes(b"these are no pages of a database" * 200)
    with pytest.raises(PerquireError, match=r"record\.sqlite cannot be used"):
        Database(path).rows("select 1 from sqlite_master")


def test_a_fault_of_ours_speaks_for_itself(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        database.rows("select * from pumps")
