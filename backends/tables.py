"""Tables found in files, as typed Parquet files, and a closed DuckDB connection that holds them.

Everything is text first; `backends.readers.columns` decides on a type only where every value of a column allows it, and says
what it assumed. DuckDB is imported late: it takes 0.4 s.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from backends.readers.columns import Converted, convert
from retrieval.types import Column, Grid, TableSchema

if TYPE_CHECKING:
    import duckdb

LAYOUT = 1  # part of each file's name: raise it when the conversion changes
_SCRATCH = "part-"
SAMPLES, SAMPLE_CHARS = 5, 80


class TableStore:
    """Parquet files in a folder, named by their content: what is written is never changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, source: str, grid: Grid) -> tuple[TableSchema, Path]:
        """Writes a grid unless its content is already there. The schema's name need not be unique: see to it."""
        names = _unique(grid.header)
        columns = [convert(name, [row[n] for row in grid.rows]) for n, name in enumerate(names)]
        path = self.folder / f"{_digest(grid)}.parquet"
        if not path.exists():
            self._write_parquet(path, names, columns, len(grid.rows))
        return _schema(source, grid, names, columns), path

    def sweep(self, in_use: set[str]) -> None:
        """Removes files that no table uses any more, and what an interrupted run left behind."""
        for path in self.folder.glob("*"):
            if path.is_dir() and path.name.startswith(_SCRATCH):
                shutil.rmtree(path, ignore_errors=True)
            elif path.suffix == ".parquet" and path.name not in in_use:
                path.unlink(missing_ok=True)

    def _write_parquet(self, path: Path, names: list[str], columns: list[Converted], rows: int) -> None:
        """Through lines of JSON, which carry any text unharmed, into a scratch file that is renamed when it is whole."""
        import duckdb

        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=self.folder) as scratch:
            lines, part = Path(scratch, "rows.json"), Path(scratch, "table.parquet")
            with lines.open("w", encoding="utf-8") as stream:
                for n in range(rows):
                    row = {f"c{at}": c.values[n] for at, c in enumerate(columns)}
                    stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            wanted = ", ".join(
                f"CAST(c{at} AS {c.type}) AS {quoted(name)}"
                for at, (name, c) in enumerate(zip(names, columns, strict=True))
            )
            found = ", ".join(f"c{at}: 'VARCHAR'" for at in range(len(columns)))
            reading = (
                f"read_json({_literal(lines)}, format='newline_delimited', columns={{{found}}}, "
                f"maximum_object_size={max(16 * 2**20, lines.stat().st_size + 1)})"
            )
            connection = duckdb.connect()
            try:
                connection.execute(f"COPY (SELECT {wanted} FROM {reading}) TO {_literal(part)} (FORMAT parquet)")  # noqa: S608 - quoted above
            finally:
                connection.close()
            part.replace(path)


def connect(paths: Mapping[str, Path]) -> duckdb.DuckDBPyConnection:
    """An in-memory DuckDB that holds a table of each name, and can reach neither files nor network any more."""
    import duckdb

    connection = duckdb.connect()
    for name, path in paths.items():
        connection.execute(f"CREATE TABLE {quoted(name)} AS SELECT * FROM read_parquet({_literal(path)})")  # noqa: S608 - quoted
    connection.execute("SET enable_external_access=false")
    connection.execute("SET lock_configuration=true")
    return connection


def quoted(name: str) -> str:
    """An SQL identifier for any name.

    >>> quoted('5" pipe')
    '"5"" pipe"'
    """
    return '"' + name.replace('"', '""') + '"'


def table_name(source: str, grid_name: str) -> str:
    """A plain SQL name after the source's stem and the grid, letters of any script kept.

    >>> table_name("prices/Fares 2026.csv", "Fares 2026")
    'fares_2026'
    """
    stem = PurePosixPath(source.replace("\\", "/")).stem
    parts = [stem] if grid_name.casefold() in (stem.casefold(), "sheet1", "") else [stem, grid_name]
    name = re.sub(r"\W+", "_", "_".join(parts).lower()).strip("_")
    name = re.sub(r"__+", "_", name)[:60].rstrip("_") or "table"
    return f"t_{name}" if name[0].isdigit() else name


def _schema(source: str, grid: Grid, names: list[str], columns: list[Converted]) -> TableSchema:
    described: list[Column] = []
    for name, converted in zip(names, columns, strict=True):
        samples = Counter(v for v in converted.values if v is not None).most_common(SAMPLES)
        column = Column(name=name, type=converted.type, values=[v[:SAMPLE_CHARS] for v, _ in samples])
        if converted.assumption:
            column["assumption"] = converted.assumption
        described.append(column)
    schema = TableSchema(
        name=table_name(source, grid.name),
        source=source,
        rows=len(grid.rows),
        columns=described,
        assumptions=[*grid.notes, *(c.assumption for c in columns if c.assumption)],
    )
    return TableSchema(**schema, place=grid.place) if grid.place else schema


def _digest(grid: Grid) -> str:
    content = json.dumps([LAYOUT, grid.header, grid.rows])
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _unique(header: tuple[str, ...]) -> list[str]:
    """Names that differ for DuckDB, too, which does not look at case."""
    names: list[str] = []
    seen: set[str] = set()
    for n, found in enumerate(header, 1):
        base = found.replace("\0", "").strip() or f"column_{n}"
        name, count = base, 2
        while name.casefold() in seen:
            name, count = f"{base}_{count}", count + 1
        seen.add(name.casefold())
        names.append(name)
    return names


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
