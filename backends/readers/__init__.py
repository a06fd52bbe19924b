"""Files into documents: one module per format, imported at first use, since some of the libraries are slow to load."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

from backends.errors import UnreadableFile
from backends.readers.options import AS_IT_IS, ReadOptions
from retrieval.types import Document

READERS: dict[str, str] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".log": "text",
    ".rst": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".csv": "csv",
    ".tsv": "csv",
    ".xlsx": "xlsx",
    ".jsonl": "beir",
    ".eml": "eml",
    ".epub": "epub",
    ".srt": "subtitles",
    ".vtt": "subtitles",
}
"""Suffix to the module that reads it: `read(path) -> Iterator[Document]`."""

WITH_OPTIONS = {"pdf"}
"""The modules whose `read(path, options)` takes options, too."""

MAX_BYTES = 200 * 1024 * 1024
_INSTEAD = {
    ".xls": "save it as .xlsx",
    ".xlsm": "save it as .xlsx",
    ".ods": "save it as .xlsx",
    ".doc": "save it as .docx",
    ".odt": "save it as .docx",
    ".ppt": "save it as a PDF",
    ".pptx": "save it as a PDF",
    ".odp": "save it as a PDF",
    ".msg": "save it as .eml",
}


def read_file(path: Path, options: ReadOptions = AS_IT_IS) -> Iterator[Document]:
    """The documents of a file: one, or for BEIR one per line; of a long text several, each continuing the one before.

    Raises UnreadableFile, here or while iterating, with a sentence that says why and what would help.
    """
    suffix = path.suffix.lower()
    if suffix not in READERS:
        kind = f"{suffix} files" if suffix else "files without a suffix"
        instead = f"{_INSTEAD[suffix]}; " if suffix in _INSTEAD else ""
        raise UnreadableFile(f"{path.name}: {kind} are not read; {instead}supported: {', '.join(READERS)}.")
    size = path.stat().st_size
    if size == 0:
        raise UnreadableFile(f"{path.name}: the file is empty.")
    if size > MAX_BYTES:
        raise UnreadableFile(
            f"{path.name}: the file is too large ({size / 2**20:.0f} MB, the limit is {MAX_BYTES // 2**20} MB); split it."
        )
    module = importlib.import_module(f"backends.readers.{READERS[suffix]}")
    if READERS[suffix] in WITH_OPTIONS:
        return cast(Callable[[Path, ReadOptions], Iterator[Document]], module.read)(path, options)
    read = cast(Callable[[Path], Iterator[Document]], module.read)
    return read(path)
