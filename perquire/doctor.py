"""`perquire doctor`: each part, its state (ok, off, broken), and what to do."""

from __future__ import annotations

import os
from pathlib import Path

from backends.catalog import Catalog
from backends.embeddings import WordLlama
from backends.errors import NoWorkspace, PerquireError
from retrieval.types import Json


def examine(folder: Path) -> list[Json]:
    """Findings in a fixed order. Looks only; nothing is changed, no service is called, no secret is read out."""
    return [*_workspace(folder), _embeddings(), _model(), _web()]


def _workspace(folder: Path) -> list[Json]:
    try:
        catalog = Catalog(folder)
        if damage := catalog.damage():
            return [
                _finding("workspace", "broken", f"{catalog.path} is damaged ({damage}): ingest into a new workspace")
            ]
    except NoWorkspace as error:
        return [_finding("workspace", "off", str(error))]
    except PerquireError as error:
        return [_finding("workspace", "broken", str(error))]
    chunks, pending = catalog.count("chunks"), catalog.count("outbox")
    findings = [_finding("workspace", "ok", f"{folder}: {catalog.count('sources'):,} sources, {chunks:,} chunks")]
    if pending:
        findings.append(
            _finding("vectors", "broken", f"{pending} entries are not in Chroma yet: run `perquire ingest` again")
        )
    else:
        findings.append(_finding("vectors", *_in_chroma(catalog, chunks)))
    lost = [name for name, (_, file) in catalog.tables().items() if not file.exists()]
    if lost:
        findings.append(_finding("tables", "broken", f"{', '.join(lost)}: the file is gone; ingest its source again"))
    else:
        findings.append(_finding("tables", "ok", f"{catalog.count('tables')} tables"))
    return findings


def _in_chroma(catalog: Catalog, chunks: int) -> tuple[str, str]:
    if not chunks:
        return "ok", "nothing indexed yet"
    from backends.dense import open_collection

    held = open_collection(catalog.folder).count()
    if held != chunks:
        return "broken", f"Chroma holds {held:,} of {chunks:,} chunks: ingest into a new workspace"
    return "ok", f"Chroma holds all {chunks:,} chunks"


def _embeddings() -> Json:
    embedder = WordLlama()
    vector = embedder.embed(["a pump"])[0]
    works = len(vector) == embedder.dimension and bool(vector.any())
    return _finding("embeddings", "ok" if works else "broken", f"{embedder.name}, {embedder.dimension} dimensions")


def _model() -> Json:
    return _finding(
        "model", "off", "this version runs without a model: rules plan, signals grade, answers are extracts"
    )


def _web() -> Json:
    if os.environ.get("TAVILY_API_KEY"):
        return _finding("web", "ok", "a Tavily key is set")
    return _finding("web", "off", "no web key: set TAVILY_API_KEY to let answers look outside")


def _finding(part: str, state: str, says: str) -> Json:
    return {"part": part, "state": state, "says": says}
