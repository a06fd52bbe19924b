"""`perquire doctor`: each part, its state (ok, off, broken), and what to do."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from backends.catalog import FILE_NAME, Catalog
from backends.embeddings.choice import check_dimension, check_made_by, settings_of
from backends.embeddings.openai_compatible import OpenAIEmbeddings
from backends.embeddings.registry import embedder_for
from backends.errors import NoWorkspace, PerquireError
from backends.openai_chat import OpenAIChat
from backends.settings import load_settings
from retrieval.types import Json

ENDPOINT_S = 6.0


PROBE_S = 20.0  # a small model on a busy machine may take this long to begin


def examine(folder: Path) -> list[Json]:
    """Findings in a fixed order. Looks only: nothing is changed, no secret is read out.

    An embeddings endpoint and the answering model get one small call each; no other service is called.
    """
    return [*_workspace(folder), _embeddings(folder), _model(), _web()]


def _workspace(folder: Path) -> list[Json]:
    try:
        catalog = Catalog(folder)
        if damage := catalog.database.damage():
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
    """One short request to the answering model, where one is configured."""
    off = "no model: rules plan, signals grade, answers are extracts. Set PERQUIRE_MODEL to have them written"
    try:
        settings = load_settings()
        endpoint = settings.endpoint("answering")
        if endpoint is None:
            kept_off = settings.local_only and settings.model
            return _finding(
                "model", "off", "the endpoint is not on this machine, and local_only is set" if kept_off else off
            )
        model = OpenAIChat(endpoint)
        asyncio.run(model.attempt([{"role": "user", "content": "Say yes."}], max_completion=16, timeout_s=PROBE_S))
    except PerquireError as error:
        return _finding("model", "broken", str(error))
    return _finding("model", "ok", f"{endpoint.model} at {endpoint.host} answers")


def _web() -> Json:
    if os.environ.get("TAVILY_API_KEY"):
        return _finding("web", "ok", "a Tavily key is set")
    return _finding("web", "off", "no web key: set TAVILY_API_KEY to let answers look outside")


def _finding(part: str, state: str, says: str) -> Json:
    return {"part": part, "state": state, "says": says}
