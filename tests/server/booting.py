"""Boots the real `langgraph dev` on loopback, in a folder of its own, under watch.

The server imports the tree that this file lies in, whatever is installed. It is told not to leave the machine, and an audit
hook sees to it: a connection to anywhere else fails, and is written down.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

TREE = Path(__file__).resolve().parents[2]
GRAPH = "agent"
START_S = 60.0
STOP_S = 10.0

QUIET = {
    "LANGGRAPH_CLI_NO_ANALYTICS": "1",
    "LANGGRAPH_NO_VERSION_CHECK": "1",
    "LANGSMITH_TRACING": "false",
    "ANONYMIZED_TELEMETRY": "False",
    "LANGGRAPH_STRICT_MSGPACK": "true",
}
# Settings of the person at the desk: none of them may decide a test.
FOREIGN = ("PERQUIRE_", "OPENAI_", "TAVILY_", "LANGSMITH_", "LANGCHAIN_", "LANGGRAPH_", "PYTEST_")

# Read by every Python that starts with the folder first on its path, before anything else is imported.
WATCH = """
import os, sys

_SEEN = os.environ["WATCH_FILE"]
_LOCAL = ("127.0.0.1", "::1", "localhost", "", None)


def _note(line):
    handle = os.open(_SEEN, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, (line + "\\n").encode())
    os.close(handle)


def _watch(event, args):
    if event == "socket.connect" and isinstance(args[1], tuple) and args[1][0] not in _LOCAL:
        _note(f"connects {args[1]}")
        raise OSError("this test has no network")
    if event == "socket.getaddrinfo" and args[0] not in _LOCAL and args[0] != b"127.0.0.1":
        _note(f"resolves {args[0]}")
        raise OSError("this test has no network")
    if event == "exec" and args[0].co_name == "<module>" and args[0].co_filename.endswith("/graph/build.py"):
        _note(f"imports {args[0].co_filename}")


sys.addaudithook(_watch)
"""

ALARMS = (
    "Blocking call",
    "BlockingError",
    "not msgpack serializable",
    "unregistered type",
    "Task exception was never retrieved",
    "was never awaited",
    "ResourceWarning",
)
# The server logs a traceback for every run that fails, also where the caller was at fault. Those end in one of these.
CALLERS_FAULT = re.compile(
    r"backends\.errors\.(?:BadRequest|UnknownSource): "  # a sentence of ours
    r"|ValueError: Unexpected message type: "  # a message that is none
    r"|langgraph_api\.errors\.User(?:Interrupt|Rollback): "  # a run that a caller cancelled
)


@dataclass
class Server:
    """A running server: where it listens, and what it wrote."""

    folder: Path
    url: str
    process: subprocess.Popen[bytes]

    @property
    def log(self) -> str:
        return (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")

    @property
    def watched(self) -> list[str]:
        """What the audit hook noted: `imports PATH`, `connects ADDRESS`, `resolves HOST`."""
        path = self.folder / "watched.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def alarms(self) -> list[str]:
        """What no healthy run writes, and every attempt to leave the machine."""
        return alarms(self.log) + [line for line in self.watched if not line.startswith("imports ")]

    def stop(self) -> None:
        """Ends the whole process group, at first politely."""
        for kind in (signal.SIGTERM, signal.SIGKILL):
            if self.process.poll() is None:
                os.killpg(self.process.pid, kind)
                try:
                    self.process.wait(STOP_S)
                except subprocess.TimeoutExpired:
                    continue
        self.process.wait(STOP_S)


def alarms(log: str) -> list[str]:
    """Lines of a log that no healthy run writes, and what each traceback ends in unless a caller was at fault."""
    lines = log.splitlines()
    found = [line for line in lines if any(alarm in line for alarm in ALARMS)]
    for n, line in enumerate(lines):
        if line.lstrip(" |+-").startswith("Traceback (most recent call last)"):
            end = next((later for later in lines[n + 1 :] if later[:1].strip(" |+")), line)
            found += [] if CALLERS_FAULT.match(end) else [end]
    return found


def environment(folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """What the server is started with: the desk's own settings left out, the folder and the tree first on the path."""
    own = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    return {
        **own,
        **QUIET,
        "PYTHONPATH": os.pathsep.join([str(folder), str(TREE)]),
        "PYTHONUNBUFFERED": "1",
        "WATCH_FILE": str(folder / "watched.txt"),
        **env,
    }


def boot(folder: Path, env: Mapping[str, str]) -> Server:
    """Starts the server in an empty folder and waits until it answers; fails with the log where it does not.

    `env` is added to the server's environment, for example PERQUIRE_WORKSPACE, PERQUIRE_MODEL, OPENAI_BASE_URL.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "langgraph.json").write_text(
        json.dumps({"dependencies": ["."], "graphs": {GRAPH: "graph.build:graph"}}), encoding="utf-8"
    )
    (folder / "sitecustomize.py").write_text(WATCH, encoding="utf-8")
    port = _free_port()
    command = [sys.executable, "-P", "-m", "langgraph_cli", "dev", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--no-browser", "--no-reload", "--n-jobs-per-worker", "10"]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder, env),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(folder, f"http://127.0.0.1:{port}", process)
    try:
        _wait(server)
    except BaseException:
        server.stop()
        raise
    return server


def _wait(server: Server) -> None:
    end = time.monotonic() + START_S
    while time.monotonic() < end:
        if server.process.poll() is not None:
            break
        try:
            if httpx.get(f"{server.url}/ok", timeout=2).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"The server did not start:\n{server.log[-4000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
