"""The backends of one process: workspaces by folder, the embedding model, the web."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from backends.chat import ChatModel
from backends.embeddings import Embedder, WordLlama
from backends.settings import Role
from backends.tavily import Tavily, WebSearch
from backends.workspace import Workspace

DEFAULT_WORKSPACE = ".perquire"


class Library:
    """Opens each workspace once and keeps it; safe to share between threads."""

    def __init__(
        self,
        default: Path | None = None,
        embedder: Embedder | None = None,
        web: WebSearch | None = None,
        models: Mapping[Role, ChatModel] | None = None,
    ) -> None:
        self.default = default or Path(os.environ.get("PERQUIRE_WORKSPACE") or DEFAULT_WORKSPACE)
        self.embedder: Embedder = embedder or WordLlama()
        self.web = web
        self._models: dict[Role, ChatModel | None] = dict(models or {})
        self._open: dict[Path, Workspace] = {}
        self._lock = threading.Lock()

    def workspace(self, folder: str | None = None) -> Workspace:
        """Raises NoWorkspace where nothing was ingested."""
        path = Path(folder) if folder else self.default
        with self._lock:
            if path not in self._open:
                self._open[path] = Workspace(path, self.embedder)
            return self._open[path]

    def chat(self, role: Role) -> ChatModel | None:
        """The model that plays a role, None where none is configured."""
        return self._models.get(role)


@cache
def default_library() -> Library:
    """The library that the environment describes."""
    return Library(web=Tavily.from_env())
