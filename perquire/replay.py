"""A run written to a file with every reply that it got, and run again from that file: no network, no workspace.

The file is JSON lines: a header, each call in the order in which it ended, the answer object. It holds the question and
the passages that were read; no key ever passes the seam that it is written from.
"""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError, field_validator
from typing_extensions import TypedDict

import prompts
from backends.chat import ChatModel
from backends.embeddings.choice import NAME
from backends.errors import BadRequest, NoWorkspace, PerquireError
from backends.library import DEFAULT_WORKSPACE, Library
from backends.settings import Price, Role
from graph.build import build_graph
from graph.context import Context, SystemClock
from graph.seam import Diverged, Recorder, Replayer
from graph.state import Result
from perquire import __version__
from perquire.agent import Agent, request_of
from perquire.output import writable, write_lines
from retrieval.types import Json

log = logging.getLogger(__name__)

FORMAT = 1
ROLES: tuple[Role, ...] = ("planning", "judging", "answering")
NAMES = ("format", "version", "question", "options", "index", "prompts", "models", "web")
CALL = {"node", "effect", "digest"}


class _Index(TypedDict):
    workspace: str
    sources: int
    embeddings: str
    fingerprint: str


class _Header(BaseModel):
    """The first line of a recording. `options` hold the clock, as text."""

    format: int
    version: str
    question: str
    options: dict[str, Any]
    index: _Index | None
    prompts: dict[str, str]
    models: dict[Role, dict[str, Any] | None]
    web: bool

    @field_validator("options")
    @classmethod
    def _with_clock(cls, options: dict[str, Any]) -> dict[str, Any]:
        datetime.fromisoformat(str(options.get("now")))
        return options


@dataclass(frozen=True)
class Replay:
    """What running a recording again gave. `differences` says why it is not the same, `notes` what changed besides."""

    result: Result | None
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    calls: int = 0

    @property
    def same(self) -> bool:
        return not self.differences


def record(agent: Agent, question: str, options: Json, file: Path) -> Result:
    """Asks, and writes the run to the file. A run that fails leaves the file as it was.

    Raises PerquireError where the question cannot be taken, OSError before anything is asked where the file cannot be
    written.
    """
    file = writable(file)
    if not _may_be_replaced(file):
        raise BadRequest(f"{file} holds something else than a recording: name another file, or remove it.")
    context = agent.context
    options = {"now": context.clock.now().isoformat(), **options}
    header: Json = {
        "format": FORMAT,
        "version": __version__,
        "question": question,
        "options": options,
        "index": _index(context.library, options.get("workspace") or context.workspace),
        "prompts": _prompts(),
        "models": {role: _described(context.library.chat(role)) for role in ROLES},
        "web": context.library.web is not None,
    }
    recorder = Recorder()
    result = agent.recorded_by(recorder).ask(question, **options)
    lines = [header, *({"call": call} for call in recorder.calls), {"result": result}]
    write_lines(file, [json.dumps(line, ensure_ascii=False) for line in lines])
    return result


def replay(file: Path, workspace: Path | None = None) -> Replay:
    """Runs the recording again and compares the answer objects without their durations.

    `workspace` is compared with the index of then (by default the folder that was used, if it is still there). Raises
    BadRequest where the file is no recording that this version reads.
    """
    header, calls, then = _read(file)
    reasons = _changes(header, workspace)
    context = Context(
        workspace=header["options"].get("workspace"),
        library=_Recorded(header),
        clock=_StoppedClock(header["options"]["now"]),
        seam=Replayer(calls),
    )
    request = request_of(header["question"], header["options"])
    try:
        state = asyncio.run(build_graph().ainvoke(request, context=context))  # type: ignore[call-overload]
    except Diverged as diverged:
        return Replay(None, [str(diverged), *reasons], [], len(calls))
    except PerquireError:
        raise
    except Exception as fault:
        log.debug("The replayed run broke.", exc_info=fault)
        broke = (
            f"The run broke on what was recorded ({type(fault).__name__}: {_short(str(fault))}): the file was changed "
            "by hand, or this version expects other replies. Record it again."
        )
        return Replay(None, [broke, *reasons], [], len(calls))
    now: Result = state["result"]
    where = _difference(_lasting(then), _lasting(json.loads(json.dumps(now))))
    if where is None:
        return Replay(now, [], reasons, len(calls))
    return Replay(now, [where, *reasons], [], len(calls))


def _may_be_replaced(file: Path) -> bool:
    """Is it new, empty, or a recording?"""
    if not file.exists():
        return True
    with file.open("rb") as stream:
        start = stream.read(64)
    return not start.strip() or start.removeprefix(codecs.BOM_UTF8).startswith(b'{"format": ')


def _index(library: Library, folder: str | None) -> Json | None:
    """What the workspace held: None where there is none."""
    try:
        workspace = library.workspace(folder)
    except NoWorkspace:
        return None
    catalog = workspace.catalog
    digests = sorted(catalog.digests().items())
    content = json.dumps([digests, workspace.embedder.name, catalog.setting("layout")])
    return {
        "workspace": str(workspace.folder.absolute()),
        "sources": len(digests),
        "embeddings": catalog.setting(NAME) or workspace.embedder.name,
        "fingerprint": hashlib.sha256(content.encode()).hexdigest(),
    }


def _prompts() -> dict[str, str]:
    """Digest by file of the prompts."""
    (folder,) = prompts.__path__
    return {
        f"prompts/{file.name}": hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(Path(folder).glob("*.py"))
    }


def _described(model: ChatModel | None) -> Json | None:
    if model is None:
        return None
    return {
        "name": model.name,
        "host": model.host,
        "context_window": model.context_window,
        "max_completion": model.max_completion,
        "timeout_s": model.timeout_s,
        "price": model.price.model_dump() if model.price else None,
    }


def _changes(header: Json, workspace: Path | None) -> list[str]:
    """What is not as it was when the run was recorded."""
    out = []
    if header["version"] != __version__:
        out.append(f"It was recorded by version {header['version']}, this is {__version__}.")
    then, now = header["prompts"], _prompts()
    changed = sorted(name for name in then.keys() | now.keys() if then.get(name) != now.get(name))
    if changed:
        out.append(f"The prompts have changed since: {', '.join(changed)}.")
    index = header["index"]
    folder = workspace or (Path(index["workspace"]) if index else Path(DEFAULT_WORKSPACE))
    try:
        current = _index(Library(folder), None) if index or workspace else None
    except PerquireError as error:  # settings of today are not those of then
        return [*out, f"The index could not be compared: {error}"]
    if current is None and index:
        out.append(f"The index could not be compared: there is no workspace at {folder}.")
    elif current and index is None:
        out.append(f"The index has changed since: there was none, {folder} holds {_sources(current)}.")
    elif current and index and current["fingerprint"] != index["fingerprint"]:
        out.append(f"The index has changed since: {_sources(index)} then, {_sources(current)} at {folder}.")
    return out


def _sources(index: Json) -> str:
    return f"{index['sources']} sources under {index['embeddings']} (sha256 {index['fingerprint'][:8]})"


def _read(file: Path) -> tuple[Json, list[Json], Json]:
    """Header, calls and answer object. Raises BadRequest that says what is wrong with the file."""
    no_recording = f"{file} is not a recording: make one with `perquire ask QUESTION --record FILE`."
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise BadRequest(f"There is no file {file}: check the path.") from None
    except UnicodeDecodeError:
        raise BadRequest(no_recording) from None
    lines: list[Any] = []
    for n, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                lines.append(json.loads(line))
            except (ValueError, RecursionError):
                raise BadRequest(no_recording if n == 1 else f"{file}, line {n}: cut off or damaged.") from None
    header = lines[0] if lines else None
    if not isinstance(header, dict) or "format" not in header:
        raise BadRequest(no_recording)
    if header["format"] != FORMAT:
        raise BadRequest(f"{file} has format {header['format']}, this version reads {FORMAT}: record it again.")
    if missing := [name for name in NAMES if name not in header]:
        raise BadRequest(f"{file}, line 1: {', '.join(missing)} is missing: record it again.")
    try:
        _Header.model_validate(header, strict=True)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])
        raise BadRequest(f"{file}, line 1: {where} is damaged: record it again.") from None
    end = lines[-1]
    if not isinstance(end, dict) or "result" not in end:
        raise BadRequest(f"{file} is cut off: its last line is not the answer. Record it again.")
    for n, line in enumerate(lines[1:-1], start=2):
        call = line.get("call") if isinstance(line, dict) else None
        if not isinstance(call, dict) or not call.keys() >= CALL or not call.keys() & {"gave", "failed"}:
            raise BadRequest(f"{file}, line {n}: not a recorded call. Record it again.")
    return header, [line["call"] for line in lines[1:-1]], end["result"]


def _lasting(value: Any) -> Any:
    """The value without durations."""
    if isinstance(value, dict):
        return {k: _lasting(v) for k, v in value.items() if k != "ms" and not k.endswith("_ms")}
    return [_lasting(v) for v in value] if isinstance(value, list) else value


def _difference(then: Any, now: Any, path: str = "") -> str | None:
    """The first place where two plain values differ, None where they are equal."""
    for at, old, new in _differing(then, now, path):
        return f"{at or 'the answer'} was {_short(old)} and is {_short(new)}."
    return None


def _differing(then: Any, now: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(then, dict) and isinstance(now, dict):
        for key in [*then, *(k for k in now if k not in then)]:
            yield from _differing(then.get(key), now.get(key), f"{path}.{key}" if path else key)
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for n, (old, new) in enumerate(zip(then, now, strict=True)):
            yield from _differing(old, new, f"{path}[{n}]")
    elif then != now or type(then) is not type(now):
        yield path, then, now


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"


class _StoppedClock(SystemClock):
    """The moment of the recording; nobody waits by it."""

    def __init__(self, now: str) -> None:
        self._now = datetime.fromisoformat(now)

    def now(self) -> datetime:
        return self._now

    async def sleep(self, seconds: float) -> None:
        return None


class _Recorded(Library):
    """Stands where the backends stood. Its effects have names, by which the recording is searched, and do nothing."""

    def __init__(self, header: Json) -> None:
        super().__init__()
        self._had = header["models"]
        self._had_web = header["web"]

    def workspace(self, folder: str | None = None) -> Any:
        return _Effects()

    @property
    def web(self) -> Any:
        return _Effects() if self._had_web else None

    def chat(self, role: Role) -> Any:
        return _Effects(**self._had[role]) if self._had.get(role) else None


class _Effects:
    """Any method by name; to run one is a fault, since a replay runs nothing. `known` are plain attributes."""

    def __init__(self, **known: Any) -> None:
        if known.get("price"):
            known["price"] = Price(**known["price"])
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)

        def effect(*args: Any, **kwargs: Any) -> Any:
            raise PerquireError(f"{name} was about to run: a replay runs nothing.")

        effect.__name__ = name
        return effect
