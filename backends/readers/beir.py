"""BEIR corpora: a JSON object a line, each a document of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from backends.errors import UnreadableFile
from backends.readers.decoding import clean
from retrieval.types import Block, Document

_FORM = '{"_id": "…", "title": "…", "text": "…"}'


def read(path: Path) -> Iterator[Document]:
    fitted = False
    fault = 0
    with path.open("rb") as stream:
        for number, raw in enumerate(stream, 1):
            if not raw.strip():
                continue
            document = _document(raw)
            if document is None:
                fault = fault or number
                if fitted:
                    break
            elif fault:
                fitted = True
                break
            else:
                fitted = True
                yield document
    if fault and fitted:
        raise UnreadableFile(f"{path.name}: line {fault} is not in the form {_FORM}; mend or remove it.")
    if not fitted:
        raise UnreadableFile(f"{path.name}: not in the form {_FORM}, one object a line.")


def _document(raw: bytes) -> Document | None:
    """The document of a line; None where it does not fit the form."""
    try:
        entry = json.loads(raw.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(entry, dict):
        return None
    name, title, text = entry.get("_id", entry.get("id")), entry.get("title") or "", entry.get("text")
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        return None
    if not isinstance(title, str) or not isinstance(text, str):
        return None
    title, text = clean(title).strip(), clean(text).strip()
    extra = entry.get("metadata")
    metadata = (
        {k: str(v) for k, v in extra.items() if isinstance(v, str | int | float)} if isinstance(extra, dict) else {}
    )
    blocks = tuple(Block(part.strip()) for part in (text or title).split("\n\n") if part.strip())
    return Document(title, "beir", blocks, metadata=metadata, source_id=clean(str(name)))
