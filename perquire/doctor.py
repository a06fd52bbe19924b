"""`perquire doctor`: each part, its state (ok, off, broken), and what to do."""

from __future__ import annotations

import os
from pathlib import Path

from backends.catalog import FILE_NAME, Catalog
from backends.embeddings.choice import check_dimension, check_made_by, settings_of
from backends.embeddings.openai_compatible import OpenAIEmbeddings
from backends.embeddings.registry import embedder_for
from backends.errors import NoWorkspace, PerquireError
from backends.settings import load_settings
from retrieval.types import Json

ENDPOINT_S = 6.0


def examine(folder: Path) -> list[Json]:
    """Findings in a fixed order. Looks only: nothing is changed, no secret is read out.

    An embeddings endpoint gets one small call; no other service is called.
    """
    return [*_workspace(folder), _embeddings(folder), _model(), _web()]


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


def _embeddings(folder: Path) -> Json:
    """The model that this workspace uses, tried on two words; an endpoint gets little time for them."""
    try:
        settings = load_settings()
        own = settings_of(folder, settings)
        own = own.model_copy(update={"timeout_s": min(own.timeout_s, ENDPOINT_S)})
        embedder = embedder_for(own, settings.local_only)
        works = bool(embedder.embed(["a pump"]).any())
        says = f"{embedder.name}, {embedder.dimension} dimensions"
        if isinstance(embedder, OpenAIEmbeddings):
            says += f", by {embedder.address}"
        if (folder / FILE_NAME).exists():
            check_made_by(Catalog(folder), embedder)
            check_dimension(Catalog(folder), embedder, embedder.dimension)
    except PerquireError as error:
        return _finding("embeddings", "broken", str(error))
    return _finding("embeddings", "ok" if works else "broken", says if works else f"{says}: gives empty vectors")


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
