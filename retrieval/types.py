"""The words everything else is written in: what is read, indexed, searched, found and cited.

Plain data only. What lands in the graph's state is a TypedDict (it must survive a checkpoint and `json.dumps`);
what stays inside one process is a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import (
    Any,
    Literal,
    NotRequired,  # pydantic refuses typing.TypedDict before Python 3.12
)

from typing_extensions import TypedDict

BlockKind = Literal["heading", "paragraph", "list_item", "code", "table"]


@dataclass(frozen=True)
class Block:
    """A piece of a document's structure, in reading order.

    A `table` block is one table as text: its first line is the header, each further line a row, cells joined by " | ".
    `level` is 1 to 6 for headings and the nesting depth (from 0) for list items; `page` and `line` count from 1 (of slides,
    `page` is the slide). `spot` says where it stands in other words: a time such as "00:12:07".
    """

    text: str
    kind: BlockKind = "paragraph"
    level: int = 0
    page: int | None = None
    line: int | None = None
    spot: str = ""


@dataclass(frozen=True)
class Grid:
    """A table as it was found: text cells, nothing converted yet. Every row has as many cells as the header.

    `first_row` is the number, as a person counts them in the file, of the first data row. `place` is where a table inside a
    document stands ("p. 3, Fees"); empty for a file that is a table itself.
    """

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    first_row: int = 2
    notes: tuple[str, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Document:
    """What a reader makes of a file, or of one line of a BEIR file.

    A long source comes in several documents: one that `continues` belongs to the source of the document right before it.
    Its blocks go on where those ended, under the headings that they stand under, said again; lines and pages count on, and
    `title`, `kind` and `metadata` are the first one's. Chunks of the parts, one after the other, are those of the source.
    `source_id` is set where the file names its own (BEIR `_id`); else the source is named after the file.
    `units` counts pages, sheets or 1; `warnings` say in a sentence what was lost ("page 2 holds no text (a scan?)").
    """

    title: str
    kind: str
    blocks: tuple[Block, ...] = ()
    tables: tuple[Grid, ...] = ()
    units: int = 1
    warnings: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    source_id: str | None = None
    continues: bool = False


@dataclass(frozen=True)
class Chunk:
    """The passage that is indexed and cited. `heading` is the path of headings above it, outermost first.

    `place` is where a person finds it: "p. 3, § 4 Luggage", "rows 2-9", "line 14".
    """

    text: str
    heading: tuple[str, ...] = ()
    place: str = ""
    page: int | None = None


class Column(TypedDict):
    """One column of a table: its DuckDB type, a few distinct values, and what was assumed on reading it."""

    name: str
    type: str
    values: list[str]
    assumption: NotRequired[str]


class TableSchema(TypedDict):
    """A relation in DuckDB. `assumptions` are sentences that whoever asks the table must see; `place` as of a Grid."""

    name: str
    source: str
    rows: int
    columns: list[Column]
    assumptions: list[str]
    place: NotRequired[str]


class SourceProfile(TypedDict):
    """What a source is about, made at ingestion by code alone (never evidence, never cited).

    `metadata` is what the file states about itself; a workspace of an earlier version does not have it.
    """

    source: str
    title: str
    kind: str
    units: int
    chunks: int
    headings: list[str]
    excerpts: list[str]
    warnings: list[str]
    metadata: NotRequired[dict[str, str]]


class Manifest(TypedDict):
    """What the planner may see inside the scope: profiles (a bounded number), all schemas, and what there is in all."""

    sources: list[SourceProfile]
    tables: list[TableSchema]
    chunks: int
    source_count: int
    kinds: dict[str, int]


class Turn(TypedDict):
    """One message of the conversation so far, never the current question."""

    role: Literal["user", "assistant"]
    content: str


class Message(TypedDict):
    """One message of a request to a model."""

    role: Literal["system", "user", "assistant"]
    content: str


class Passage(TypedDict):
    """A chunk as a search found it. The text is the chunk's own; `ranks` holds its rank (from 1) by leg."""

    id: str
    source: str
    title: str
    heading: list[str]
    place: str
    page: int | None
    text: str
    score: float
    dense: float | None
    sparse: float | None
    ranks: dict[str, int]


class Citation(TypedDict):
    """A mark in the answer and the passage that it opens on."""

    id: str
    kind: Literal["document", "table", "web"]
    source: str
    place: str
    text: str
    score: float
    url: NotRequired[str]
    date: NotRequired[str]


Json = dict[str, Any]
