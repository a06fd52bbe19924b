"""Files into a workspace: read, cut into chunks, embedded, and written to the record one file at a time.

What cannot be read is a line in the report, with the reason; the rest goes on, and what the workspace held before
stays. An unchanged file costs a look at its size and time.
"""

from __future__ import annotations

import glob
import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from backends.catalog import Catalog, FileRow, NewSource
from backends.dense import start_afresh, sync_chroma
from backends.embeddings import Embedder, Vectors
from backends.embeddings.choice import check_dimension, check_made_by, remember
from backends.errors import PerquireError, UnknownSource, UnreadableFile
from backends.readers import READERS
from backends.reading import ReaderPool
from backends.tables import TableStore
from backends.walk import Found, LeftOut, files_under
from retrieval.chunk import chunk
from retrieval.tokenise import passage_terms
from retrieval.types import Chunk, Document, SourceProfile, TableSchema

Outcome = Literal["added", "changed", "unchanged", "removed", "failed", "skipped"]
LOCK_WAIT_S = 2.0
BATCH_SOURCES = 2_000  # sources of one file (BEIR lines) that are embedded together
EXCERPTS, EXCERPT_CHARS, HEADINGS = 3, 160, 12


@dataclass
class FileReport:
    """What became of one file."""

    path: str
    outcome: Outcome
    sources: list[str] = field(default_factory=list)
    source_count: int = 0
    chunks: int = 0
    tables: list[str] = field(default_factory=list)
    units: int = 0
    warnings: list[str] = field(default_factory=list)
    reason: str = ""


Progress = Callable[[FileReport], None]


@dataclass(frozen=True)
class _Change:
    """A file that is new, or not what it was. `existed` where it was ingested before."""

    file: Path
    root: Path
    row: FileRow
    existed: bool


class Ingestor:
    """Writes one workspace; made for one run of `ingest` or `remove`."""

    def __init__(self, folder: Path, embedder: Embedder | None = None) -> None:
        """`remove` needs no embedder. Raises StaleIndex where another model made the index."""
        self.catalog = Catalog(folder, create=True)
        self._embedder = embedder
        self.store = TableStore(folder / "tables")
        if embedder:
            check_made_by(self.catalog, embedder)

    @property
    def embedder(self) -> Embedder:
        if self._embedder is None:
            raise TypeError("an Ingestor that takes files in needs an embedder")
        return self._embedder

    def ingest(self, paths: Sequence[Path | str], progress: Progress = lambda _: None) -> list[FileReport]:
        """Takes files, folders and globs in; files that vanished from an ingested folder are taken out.

        Raises PerquireError for a path that is not there, before anything is touched. Raises EmbeddingsUnavailable
        where the model fails; files taken in before it stay.
        """
        roots = expand(paths)
        with self._alone():
            check_made_by(self.catalog, self.embedder)  # again: another process may have been first
            return self._take_in(roots, progress)

    def _take_in(self, roots: Sequence[Path], progress: Progress) -> list[FileReport]:
        known = self.catalog.files()
        reports: list[FileReport] = []

        def tell(report: FileReport) -> None:
            reports.append(report)
            progress(report)

        waiting: deque[_Change] = deque()
        gone: list[str] = []

        def changed() -> Iterator[Path]:
            for change in self._changes(roots, known, gone, tell):
                waiting.append(change)
                yield change.file

        with ReaderPool() as pool:
            for _, documents in pool.read(changed()):
                tell(self._bring_in(waiting.popleft(), documents))
        for path in gone:
            removed = self.catalog.remove_file(path)
            tell(FileReport(path, "removed", removed[:20], len(removed)))
        self._settle()
        return reports

    def _changes(
        self, roots: Sequence[Path], known: dict[str, FileRow], gone: list[str], tell: Progress
    ) -> Iterator[_Change]:
        """The files to be read, as they are met; tells of the others, and adds to `gone` those that are there no more."""
        met: set[Path] = set()
        for root in roots:
            unseen: list[str] = []  # folders that could not be looked into: what is in them may still be there
            for found in files_under(root, exclude=[self.catalog.folder.resolve()]):
                if isinstance(found, LeftOut):
                    if found.why == "unreadable":
                        unseen.append(found.path)
                    if found.why in {"hidden", "excluded"} and found.path != str(root):
                        continue
                    lost = found.why in {"unreadable", "name"}
                    tell(FileReport(found.path, "failed" if lost else "skipped", reason=found.reason))
                elif found.path not in met:
                    met.add(found.path)
                    change = self._change(found, root, known.get(str(found.path)))
                    if isinstance(change, _Change):
                        yield change
                    else:
                        tell(change)
            below = [p for p in known if root.is_dir() and Path(p).is_relative_to(root) and Path(p) not in met]
            gone.extend(p for p in below if p not in gone and not any(Path(p).is_relative_to(u) for u in unseen))

    def remove(self, sources: Sequence[str]) -> list[str]:
        """Takes sources out of vectors, BM25 and tables together. Raises UnknownSource before anything is touched."""
        known = self.catalog.digests()
        for name in sources:
            if name not in known:
                raise UnknownSource(f'"{name}" is no source of this workspace: `perquire sources` lists them.')
        with self._alone():
            self.catalog.remove_sources(sources)
            self._settle()
        return list(sources)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One writer at a time; a writer that died leaves nothing locked. Raises PerquireError where another writes."""
        lock = FileLock(self.catalog.folder / "writer.lock")
        try:
            lock.acquire(timeout=LOCK_WAIT_S)
        except Timeout:
            raise PerquireError(
                f"Another process is writing to {self.catalog.folder}: wait until it is done and try again."
            ) from None
        try:
            yield
        finally:
            lock.release()

    def _settle(self) -> None:
        sync_chroma(self.catalog)
        in_use = {file.name for _, file in self.catalog.tables().values()}
        self.store.sweep(in_use)
        self.catalog.database.forget()

    def _change(self, found: Found, root: Path, known: FileRow | None) -> _Change | FileReport:
        """What is to be read, or what became of a file that is not."""
        file, stat = found.path, found.stat
        if known and (known.size, known.mtime_ns) == (stat.st_size, stat.st_mtime_ns):
            return _unchanged(known)
        try:
            digest = _sha256(file)
        except OSError as error:
            return FileReport(str(file), "failed", reason=f"{file.name} cannot be opened: {error.strerror or error}.")
        row = FileRow(str(file), stat.st_size, stat.st_mtime_ns, digest, known.report if known else {})
        if known and known.sha256 == digest:
            self.catalog.write(row, [], [])  # touched, not changed: remember the new time
            return _unchanged(known)
        return _Change(file, root, row, known is not None)

    def _bring_in(self, change: _Change, documents: Iterator[Document]) -> FileReport:
        try:
            return self._read(change.file, change.root, change.row, change.existed, documents)
        except UnreadableFile as error:
            outcome: Outcome = "skipped" if change.file.suffix.lower() not in READERS else "failed"
            kept = " What was read from it before stays." if change.existed else ""
            return FileReport(change.row.path, outcome, reason=str(error) + kept)

    def _read(self, file: Path, root: Path, row: FileRow, existed: bool, documents: Iterator[Document]) -> FileReport:
        before = self.catalog.digests(row.path)
        taken = {s for s, p in self.catalog.source_paths().items() if p != row.path}
        report = FileReport(row.path, "changed" if existed else "added")
        seen: set[str] = set()
        pending: list[NewSource] = []
        # the file's change is one transaction, whatever its size; only embedding goes batch by batch
        wholes = _wholes(documents)
        while batch := list(islice(wholes, BATCH_SOURCES)):
            fresh: list[tuple[Document, str, str, list[Chunk]]] = []
            for document, chunks, digest in batch:
                source = document.source_id or _source_name(file, root, before, taken)
                if source in seen:
                    report.warnings.append(f'"{source}" occurs twice; the first one is kept')
                    continue
                if source in taken:
                    raise UnreadableFile(f'{file.name} holds the id "{source}", which another file already uses.')
                seen.add(source)
                report.chunks += len(chunks)
                report.units += document.units
                report.warnings.extend(document.warnings)
                if before.get(source) != digest:
                    fresh.append((document, source, digest, chunks))
            pending.extend(self._prepare(row.path, fresh))
        report.sources, report.source_count = sorted(seen)[:20], len(seen)
        report.tables = [schema["name"] for item in pending for schema, _ in item.tables]
        gone = [source for source in before if source not in seen]
        stored = FileRow(row.path, row.size, row.mtime_ns, row.sha256, asdict(report))
        self.catalog.write(stored, pending, gone)
        return report

    def _prepare(self, path: str, fresh: Sequence[tuple[Document, str, str, list[Chunk]]]) -> Iterator[NewSource]:
        """Embeds the chunks of several sources in one go."""
        texts = [_indexed_text(document, c) for document, _, _, chunks in fresh for c in chunks]
        vectors = iter(self._embedded(texts))
        for document, source, digest, chunks in fresh:
            tables = self._tables(source, document)
            yield NewSource(
                source,
                path,
                digest,
                document.title,
                document.kind,
                document.units,
                _profile(source, document, chunks),
                [_chunk_id(source, n, c) for n, c in enumerate(chunks)],
                chunks,
                [" ".join(passage_terms(document.title, c.heading, c.text)) for c in chunks],
                [v.tobytes() for v in islice(vectors, len(chunks))],
                tables,
            )

    def _embedded(self, texts: list[str]) -> Vectors | list[Vectors]:
        """The first vectors of a workspace settle which model it has."""
        if not texts:
            return []
        vectors = self.embedder.embed(texts)
        check_dimension(self.catalog, self.embedder, vectors.shape[1])
        if not self.catalog.count("chunks"):
            start_afresh(self.catalog)
            remember(self.catalog, self.embedder)
        return vectors

    def _tables(self, source: str, document: Document) -> list[tuple[TableSchema, str]]:
        names = {name for name, (schema, _) in self.catalog.tables().items() if schema["source"] != source}
        out: list[tuple[TableSchema, str]] = []
        for grid in document.tables:
            schema, file = self.store.write(source, grid)
            base, n = schema["name"], 2
            while schema["name"] in names:
                schema["name"], n = f"{base}_{n}", n + 1
            names.add(schema["name"])
            out.append((schema, file.name))
        return out


def _wholes(documents: Iterator[Document]) -> Iterator[tuple[Document, list[Chunk], str]]:
    """Each source with its chunks and its digest; one that comes in several documents is put together again."""
    document = next(documents, None)
    while document is not None:
        whole, chunks, digests = document, chunk(document), [_digest(document)]
        while (document := next(documents, None)) is not None and document.continues:
            chunks.extend(chunk(document))
            digests.append(_digest(document))
            whole = replace(
                whole,
                blocks=(),  # they are in the chunks; a long text is not kept twice
                tables=(*whole.tables, *document.tables),
                units=whole.units + document.units,
                warnings=(*whole.warnings, *document.warnings),
            )
        yield whole, chunks, digests[0] if len(digests) == 1 else _sha256_of("\0".join(digests))


def expand(paths: Sequence[Path | str]) -> list[Path]:
    """The files and folders meant by paths and globs. Raises PerquireError where there is nothing."""
    return [root for path in paths for root in _expand(str(path))]


def _expand(path: str) -> list[Path]:
    if Path(path).exists():
        return [Path(path).resolve()]
    matches = glob.glob(path, recursive=True) if glob.has_magic(path) else []  # noqa: PTH207 - Path.glob takes no absolute pattern
    found = sorted(Path(match).resolve() for match in matches)
    if not found:
        raise PerquireError(f"There is nothing at {path}: check the path.")
    return found


def _source_name(file: Path, root: Path, before: dict[str, str], taken: set[str]) -> str:
    """The name a file had before; else its path inside the folder given, with parents put in front until unique."""
    if len(before) == 1:
        return next(iter(before))
    parts = list((file.relative_to(root) if root.is_dir() else Path(file.name)).parts)
    above = list(file.parts[: len(file.parts) - len(parts)])
    while (name := "/".join(parts)) in taken and len(above) > 1:
        parts.insert(0, above.pop())
    return name


def _indexed_text(document: Document, c: Chunk) -> str:
    """What is embedded and indexed: the passage under its title and headings, so that it can be found by them."""
    heading = " ".join(h for h in c.heading if h != document.title)
    return " ".join(part for part in (document.title, heading, c.text) if part)


def _chunk_id(source: str, ordinal: int, c: Chunk) -> str:
    return hashlib.sha256(f"{source}\0{ordinal}\0{c.text}".encode(errors="replace")).hexdigest()[:20]


def _digest(document: Document) -> str:
    parts = [
        document.title,
        json.dumps(dict(document.metadata)),
        *(f"{b.kind}{b.level}{b.page}{b.text}" for b in document.blocks),
    ]
    parts.extend(json.dumps([g.name, g.header, g.rows], ensure_ascii=True) for g in document.tables)
    return _sha256_of("\0".join(parts))


def _sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _profile(source: str, document: Document, chunks: Sequence[Chunk]) -> SourceProfile:
    """Name, counts, headings, and excerpts taken at even distances across the source."""
    headings = list(dict.fromkeys(h for c in chunks for h in c.heading if h != document.title))
    step = max(1, len(chunks) // EXCERPTS)
    return {
        "source": source,
        "title": document.title,
        "kind": document.kind,
        "units": document.units,
        "chunks": len(chunks),
        "headings": headings[:HEADINGS],
        "excerpts": [c.text[:EXCERPT_CHARS] for c in chunks[::step][:EXCERPTS]],
        "warnings": list(document.warnings),
        "metadata": dict(document.metadata),
    }


def _unchanged(known: FileRow) -> FileReport:
    report = FileReport(**known.report) if known.report else FileReport(known.path, "unchanged")
    report.outcome = "unchanged"
    return report
