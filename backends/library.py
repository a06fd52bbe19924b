"""The backends of one process: workspaces by folder, the embedding model, the web."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from backends.chat import ChatModel
from backends.embeddings import Embedder
from backends.embeddings.choice import NAME, embedder_of
from backends.endpoint_memory import default_memory
from backends.openai_chat import OpenAIChat
from backends.settings import Role, Settings, load_settings
from backends.tavily import Tavily, WebSearch
from backends.workspace import Workspace

DEFAULT_WORKSPACE = ".perquire"


class Library:
    """Opens each workspace once and keeps it; safe to share between threads. Made without looking at any file.

    An `embedder` that is given serves every workspace; else each gets its own by `settings`, which are those of the
    folder and the environment unless given; so do the chat models, unless `models` gives them by role.
    """

    def __init__(
        self,
        default: Path | None = None,
        embedder: Embedder | None = None,
        web: WebSearch | None = None,
        settings: Settings | None = None,
        models: Mapping[Role, ChatModel] | None = None,
    ) -> None:
        self.default = default or Path(os.environ.get("PERQUIRE_WORKSPACE") or DEFAULT_WORKSPACE)
        self.embedder = embedder
        self._web = web
        self._models = models
        self._chats: dict[Role, ChatModel | None] = {}
        self._settings = settings
        self._open: dict[Path, tuple[str | None, Workspace]] = {}  # with the model that it remembered then
        self._embedders: dict[str, Embedder] = {}
        self._lock = threading.Lock()

    @property
    def settings(self) -> Settings:
        """Read at first use. Raises BadSettings."""
        if self._settings is None:
            self._settings = load_settings()
        return self._settings

    def workspace(self, folder: str | None = None) -> Workspace:
        """Raises NoWorkspace where nothing was ingested, BadSettings where its embedding model cannot be told."""
        path = Path(folder) if folder else self.default
        with self._lock:
            made_by, workspace = self._open.get(path, (None, None))
            if workspace is None or made_by != workspace.catalog.setting(NAME):
                workspace = Workspace(path, self.embedder or self._own(path))
                self._open[path] = (workspace.catalog.setting(NAME), workspace)
            return workspace

    def _own(self, path: Path) -> Embedder:
        """The workspace's embedding model, shared with those that have the same one."""
        embedder = embedder_of(path, self.settings)
        return self._embedders.setdefault(embedder.name, embedder)

    @property
    def web(self) -> WebSearch | None:
        """None where no key is set, or where nothing may leave the machine."""
        return None if self._web is None or self.settings.local_only else self._web

    def kept_off(self) -> str:
        """Why the answering model that is configured is not asked; empty where it is, or where there is none."""
        if self._models is not None:
            return ""
        asked = self.settings.endpoint("answering")
        configured = self.settings.model_copy(update={"local_only": False}).endpoint("answering")
        if asked or configured is None:
            return ""
        return f"No model was asked: {configured.host} is not this machine, and local_only is set."

    def chat(self, role: Role) -> ChatModel | None:
        """The model that plays a role, None where none is configured. Raises BadSettings."""
        if self._models is not None:
            return self._models.get(role)
        if role == "planning" and self.settings.planner == "rules":
            return None
        if role not in self._chats:
            endpoint = self.settings.endpoint(role)
            self._chats[role] = OpenAIChat(endpoint, default_memory()) if endpoint else None
        return self._chats[role]


@cache
def default_library() -> Library:
    """The library that the environment describes."""
    return Library(web=Tavily.from_env())
