"""What was learnt about an endpoint and a model, kept for later processes: how it can be asked for JSON, what it refuses.

A file that is damaged, unreadable or unwritable is no error: all that is lost is that it has to be found out anew.
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args
from urllib.parse import urlsplit, urlunsplit

from backends.settings import OutputMode

_MODES: tuple[OutputMode, ...] = get_args(OutputMode)


def default_memory() -> Path:
    """In the user's cache folder: losing it costs a few requests."""
    cache = os.environ.get("XDG_CACHE_HOME") or ""
    # the XDG specification says to ignore relative paths
    folder = Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache"
    return folder / "perquire" / "endpoints.json"


def without_login(url: str) -> str:
    """The URL without user, password, query and fragment, any of which may be a secret."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class EndpointMemory:
    """One endpoint and model's entry. The file is read at first use, never before; without a file it forgets at exit.

    It does file I/O: not for an event loop.
    """

    def __init__(self, file: Path | None, base_url: str, model: str) -> None:
        self._file = file
        self._name = f"{without_login(base_url)} {model}"
        self._lock = threading.Lock()
        self._mode: OutputMode | None = None
        self._refused: frozenset[str] = frozenset()
        self._read = False

    @property
    def mode(self) -> OutputMode | None:
        """The way to ask for JSON that worked."""
        with self._lock:
            self._look()
            return self._mode

    @property
    def refused(self) -> frozenset[str]:
        """The request's parameters that the endpoint does not take."""
        with self._lock:
            self._look()
            return self._refused

    def keep_mode(self, mode: OutputMode | None) -> None:
        with self._lock:
            self._look()
            if mode != self._mode:
                self._mode = mode
                self._write()

    def keep_refused(self, parameter: str) -> None:
        with self._lock:
            self._look()
            if parameter not in self._refused:
                self._refused |= {parameter}
                self._write()

    def _look(self) -> None:
        if self._read:
            return
        self._read = True
        entry = self._entries().get(self._name)
        if isinstance(entry, dict):
            self._mode = entry.get("mode") if entry.get("mode") in _MODES else None
            refused = entry.get("refused")
            self._refused = (
                frozenset(r for r in refused if isinstance(r, str)) if isinstance(refused, list) else frozenset()
            )

    def _entries(self) -> dict[str, Any]:
        if self._file is None:
            return {}
        try:
            entries = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        return entries if isinstance(entries, dict) else {}

    def _write(self) -> None:
        """Whole or not at all: to a file beside it, then renamed. Two writers at once may lose one's entry, no more."""
        if self._file is None:
            return
        entries = self._entries() | {self._name: {"mode": self._mode, "refused": sorted(self._refused)}}
        with suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(dir=self._file.parent, prefix=f".{self._file.name}-")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as out:
                    json.dump(entries, out, indent=1, sort_keys=True)
                Path(beside).replace(self._file)
            except BaseException:
                Path(beside).unlink(missing_ok=True)
                raise
