"""The workspace's record: one SQLite file that holds sources, chunks, their vectors, and the tables' schemas.

Everything else (Chroma, BM25, DuckDB) is derived from it. A file's change is one transaction, so a reader sees the
state before or after, never between; WAL mode lets readers go on while one writer works. What Chroma has still to
learn stands in `outbox`, written in that same transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from backends.errors import NoWorkspace, PerquireError
from backends.sqlite import Database
from retrieval.types import Chunk, Json, Manifest, Passage, SourceProfile, TableSchema

LAYOUT = 1
FILE_NAME = "catalog.sqlite"

_SCHEMA = """
create table settings (key text primary key, value text not null);
create table files (
    path text primary key, size integer not null, mtime_ns integer not null, sha256 text not null, report text not null);
create table sources (
    source text primary key, path text not null, digest text not null, title text not null, kind text not null,
    units integer not null, profile text not null);
create index sources_by_path on sources(path);
create table chunks (
    n integer primary key, id text not null unique, source text not null references sources(source), ordinal integer not null,
    heading text not null, place text not null, page integer, text text not null, terms text not null, vector blob not null);
create index chunks_by_source on chunks(source);
create table tables (name text primary key, source text not null, file text not null, schema text not null);
create table outbox (n integer primary key autoincrement, id text not null, op text not null);
"""


@dataclass(frozen=True)
class FileRow:
    """A file as it was last ingested."""

    path: str
    size: int
    mtime_ns: int
    sha256: str
    report: Json


@dataclass(frozen=True)
class NewSource:
    """A source ready to be written: chunks with their index terms and vectors (float32 bytes), in reading order."""

    source: str
    path: str
    digest: str
    title: str
    kind: str
    units: int
    profile: SourceProfile
    ids: Sequence[str]
    chunks: Sequence[Chunk]
    terms: Sequence[str]
    vectors: Sequence[bytes]
    tables: Sequence[tuple[TableSchema, str]] = ()


class Catalog:
    """Reads and writes the record. Safe to share between threads: each has a connection of its own."""

    def __init__(self, folder: Path, *, create: bool = False) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        if not create and not self.path.exists():
            raise NoWorkspace(
                f"There is no workspace at {folder}: run `perquire ingest PATH --workspace {folder}` first."
            )
        self.database = Database(self.path)
        if create:
            try:
                folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise PerquireError(
                    f"{folder} cannot be a workspace ({error.strerror}): name another folder."
                ) from None
            self._create()
        layout = self.setting("layout")
        if layout != str(LAYOUT):
            raise PerquireError(f"{folder} has layout {layout}, this version reads {LAYOUT}: ingest into a new folder.")

    # -- reading -----------------------------------------------------------------------------------------------

    def setting(self, key: str) -> str | None:
        row = self.database.rows("select value from settings where key = ?", key)
        return str(row[0][0]) if row else None

    def generation(self) -> int:
        """Counts the changes of what is indexed: equal numbers mean equal indexes."""
        return int(self.setting("generation") or 0)

    def count(self, what: str) -> int:
        """Rows of `sources`, `chunks`, `tables`, `files` or `outbox`."""
        assert what in {"sources", "chunks", "tables", "files", "outbox"}
        return int(self.database.rows(f"select count(*) from {what}")[0][0])

    def dimension(self) -> int | None:
        """Of the vectors in the index; None where there are none."""
        row = self.database.rows("select length(vector) / 4 from chunks limit 1")
        return int(row[0][0]) if row else None

    def files(self) -> dict[str, FileRow]:
        return {
            r["path"]: FileRow(r["path"], r["size"], r["mtime_ns"], r["sha256"], json.loads(r["report"]))
            for r in self.database.rows("select * from files")
        }

    def digests(self, path: str | None = None) -> dict[str, str]:
        """Content digest by source, of one file or of all."""
        where, args = ("where path = ?", (path,)) if path else ("", ())
        return {r[0]: r[1] for r in self.database.rows(f"select source, digest from sources {where}", *args)}

    def source_paths(self) -> dict[str, str]:
        return {r[0]: r[1] for r in self.database.rows("select source, path from sources order by source")}

    def manifest(self, scope: Sequence[str] = (), max_sources: int = 200) -> Manifest:
        """Profiles, and schemas of the files that are tables, inside the scope (all, if empty).

        At most `max_sources` profiles; the counts are of all.
        """
        wanted = set(scope)
        profiles: list[SourceProfile] = []
        chunks = 0
        kinds: Counter[str] = Counter()
        for row in self.database.rows("select source, kind, profile from sources order by source"):
            if wanted and row["source"] not in wanted:
                continue
            profile: SourceProfile = json.loads(row["profile"])
            chunks += profile["chunks"]
            kinds[row["kind"]] += 1
            if len(profiles) < max_sources:
                profiles.append(profile)
        schemas: list[TableSchema] = [
            json.loads(r["schema"])
            for r in self.database.rows("select source, schema from tables order by name")
            if not wanted or r["source"] in wanted
        ]
        return {
            "sources": profiles,
            "tables": [
                s for s in schemas if not s.get("place")
            ],  # one inside a document is planned for as a part of it
            "chunks": chunks,
            "source_count": kinds.total(),
            "kinds": dict(kinds.most_common()),
        }

    def tables(self) -> dict[str, tuple[TableSchema, Path]]:
        return {
            r["name"]: (json.loads(r["schema"]), self.folder / "tables" / r["file"])
            for r in self.database.rows("select * from tables order by name")
        }

    def terms(self) -> Iterator[tuple[int, str, str]]:
        """(n, source, index terms joined by blanks) of every chunk, in index order."""
        for r in self.database.stream("select n, source, terms from chunks order by n"):
            yield r["n"], r["source"], r["terms"]

    def vectors(self) -> Iterator[tuple[int, bytes]]:
        for r in self.database.stream("select n, vector from chunks order by n"):
            yield r["n"], r["vector"]

    def passages(self, numbers: Iterable[int]) -> dict[int, Passage]:
        """Chunks by number, as passages without scores; a number that is gone is left out."""
        wanted = list(numbers)
        out: dict[int, Passage] = {}
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            marks = ",".join("?" * len(part))
            rows = self.database.rows(
                "select n, id, source, heading, place, page, text, title from chunks join sources using (source) "
                f"where n in ({marks})",
                *part,
            )
            for r in rows:
                out[r["n"]] = {
                    "id": r["id"],
                    "source": r["source"],
                    "title": r["title"],
                    "heading": json.loads(r["heading"]),
                    "place": r["place"],
                    "page": r["page"],
                    "text": r["text"],
                    "score": 0.0,
                    "dense": None,
                    "sparse": None,
                    "ranks": {},
                }
        return out

    def chunk_numbers(self, ids: Sequence[str]) -> dict[str, int]:
        out: dict[str, int] = {}
        for start in range(0, len(ids), 500):
            part = ids[start : start + 500]
            marks = ",".join("?" * len(part))
            out.update(
                {r[0]: r[1] for r in self.database.rows(f"select id, n from chunks where id in ({marks})", *part)}
            )
        return out

    def opening_chunks(self, sources: Sequence[str]) -> list[int]:
        """The number of the first chunk of each source, in the order given."""
        out: list[int] = []
        for source in sources:
            rows = self.database.rows("select n from chunks where source = ? order by ordinal limit 1", source)
            out.extend(int(r["n"]) for r in rows)
        return out

    def outbox(self) -> list[tuple[int, str, str, bytes | None]]:
        """What the vector store has still to learn: (entry, chunk id, "add" or "remove", vector of an add)."""
        return [
            (r["n"], r["id"], r["op"], r["vector"])
            for r in self.database.rows(
                "select o.n, o.id, o.op, c.vector from outbox o left join chunks c on c.id = o.id order by o.n"
            )
        ]

    # -- writing -----------------------------------------------------------------------------------------------

    def set(self, key: str, value: str) -> None:
        with self.database.transaction() as db:
            db.execute("insert or replace into settings values (?, ?)", (key, value))

    def write(self, file: FileRow, new: Iterable[NewSource], gone: Iterable[str]) -> None:
        """One file's change, whole or not at all: its row, its new or changed sources, and the sources it lost."""
        with self.database.transaction() as db:
            changed = False
            for source in gone:
                self._drop(db, source)
                changed = True
            for item in new:
                self._drop(db, item.source)
                self._add(db, item)
                changed = True
            db.execute(
                "insert or replace into files values (?, ?, ?, ?, ?)",
                (file.path, file.size, file.mtime_ns, file.sha256, json.dumps(file.report)),
            )
            if changed:
                self._next_generation(db)

    def remove_sources(self, sources: Iterable[str]) -> None:
        with self.database.transaction() as db:
            for source in sources:
                self._drop(db, source)
            db.execute("delete from files where path not in (select path from sources)")
            self._next_generation(db)

    def remove_file(self, path: str) -> list[str]:
        """Takes a file and its sources out; returns the sources."""
        gone = list(self.digests(path))
        with self.database.transaction() as db:
            for source in gone:
                self._drop(db, source)
            db.execute("delete from files where path = ?", (path,))
            self._next_generation(db)
        return gone

    def clear_outbox(self, up_to: int) -> None:
        with self.database.transaction() as db:
            db.execute("delete from outbox where n <= ?", (up_to,))

    # -- inside ------------------------------------------------------------------------------------------------

    def _add(self, db: sqlite3.Connection, item: NewSource) -> None:
        db.execute(
            "insert into sources values (?, ?, ?, ?, ?, ?, ?)",
            (
                item.source,
                item.path,
                item.digest,
                item.title,
                item.kind,
                item.units,
                json.dumps(item.profile),
            ),
        )
        rows = zip(item.ids, item.chunks, item.terms, item.vectors, strict=True)
        db.executemany(
            "insert into chunks (id, source, ordinal, heading, place, page, text, terms, vector) values (?,?,?,?,?,?,?,?,?)",
            [
                (i, item.source, n, json.dumps(c.heading), c.place, c.page, c.text, terms, vector)
                for n, (i, c, terms, vector) in enumerate(rows)
            ],
        )
        db.executemany("insert into outbox (id, op) values (?, 'add')", [(i,) for i in item.ids])
        for schema, file in item.tables:
            db.execute(
                "insert into tables values (?, ?, ?, ?)",
                (schema["name"], item.source, file, json.dumps(schema)),
            )

    def _drop(self, db: sqlite3.Connection, source: str) -> None:
        db.execute("insert into outbox (id, op) select id, 'remove' from chunks where source = ?", (source,))
        for table in ("chunks", "tables", "sources"):
            db.execute(f"delete from {table} where source = ?", (source,))

    def _next_generation(self, db: sqlite3.Connection) -> None:
        db.execute("update settings set value = cast(value as integer) + 1 where key = 'generation'")

    def _create(self) -> None:
        with self.database.transaction() as db:
            if not db.execute("select 1 from sqlite_master where name = 'settings'").fetchone():
                for statement in _SCHEMA.split(";"):
                    db.execute(statement)
                db.execute("insert into settings values ('layout', ?), ('generation', '0')", (str(LAYOUT),))
