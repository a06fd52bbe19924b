"""An OpenAI-compatible endpoint on loopback that behaves as badly as a test asks.

    with StandIn([Status(429, retry_after=0), Say("hello")]) as server:
        ...  # server.base_url, server.requests, server.gone (set once a client has hung up on a reply)

Each chat request gets the next behaviour, the last one for ever; a function of the request's body may choose one.
Refusals repeat the key that they were sent, as some real gateways do.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standin_replies import (
    Behaviour,
    Body,
    Cut,
    Flood,
    Hang,
    Say,
    Script,
    Status,
    completion,
    count,
    embeddings,
    event,
    events,
    words,
)

__all__ = ["Body", "Cut", "Flood", "Hang", "Request", "Say", "StandIn", "Status", "count"]


@dataclass(frozen=True)
class Request:
    """What came in, all of it; header names are Written-So."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class StandIn:
    def __init__(
        self, script: Script | Sequence[Script], embeddings: Status | None = None, dimension: int = 16, port: int = 0
    ) -> None:
        self.port = port
        self.script: list[Script] = list(script) if isinstance(script, Sequence) else [script]
        self.embeddings, self.dimension = embeddings, dimension
        self.requests: list[Request] = []
        self.gone = threading.Event()
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._taken = 0

    def __enter__(self) -> StandIn:
        handler = type("Handler", (_Handler,), {"stand_in": self})
        self._server = _Server(("127.0.0.1", self.port), handler)
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def chats(self) -> list[Request]:
        return [r for r in self.requests if r.path.endswith("/chat/completions")]

    def next(self, body: dict[str, Any]) -> Behaviour:
        with self._lock:
            chosen = self.script[min(self._taken, len(self.script) - 1)]
            self._taken += 1
        return chosen(body) if callable(chosen) else chosen


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with the usual 5, many clients at once wait a second for their second try


class _Handler(BaseHTTPRequestHandler):
    stand_in: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _named(self) -> dict[str, str]:
        return {name.title(): value for name, value in self.headers.items()}

    def do_GET(self) -> None:
        self.stand_in.requests.append(Request(self.path, self._named(), {}))
        known = self.path.endswith("/models")
        self._send(
            200 if known else 404, {"object": "list", "data": [{"id": "local", "object": "model"}]} if known else {}
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.stand_in.requests.append(Request(self.path, self._named(), body))
        try:
            if self.path.endswith("/embeddings"):
                self._behave(self.stand_in.embeddings or Body(embeddings(body, self.stand_in.dimension)), body)
            else:
                self._behave(self.stand_in.next(body), body)
        except OSError:
            self.stand_in.gone.set()
            self.close_connection = True

    def _behave(self, behaviour: Behaviour, asked: dict[str, Any]) -> None:
        stream, prompt = bool(asked.get("stream")), sum(count(str(m["content"])) for m in asked.get("messages", []))
        match behaviour:
            case Status():
                error = {"message": f"{behaviour.message} (you sent {self.headers['Authorization']})", "type": "error"}
                error |= {"code": behaviour.error_code, "param": behaviour.param}
                after = {} if behaviour.retry_after is None else {"Retry-After": str(behaviour.retry_after)}
                self._send(
                    behaviour.code, {"error": error} if behaviour.body is None else behaviour.body, headers=after
                )
            case Body():
                self._send(200, behaviour.data, behaviour.content_type, behaviour.headers)
            case Say() if stream:
                self._open_stream()
                for sent in events(behaviour, asked, prompt):
                    self._chunk(sent)
                self._chunk(b"data: [DONE]\n\n")
                self.wfile.write(b"0\r\n\r\n")
            case Say():
                self._send(200, completion(behaviour, asked, prompt))
            case Cut() | Hang():
                if stream:
                    self._open_stream()
                    for word in words(behaviour.text):
                        self._chunk(event({"content": word}))
                elif behaviour.text:
                    self._head(200, "application/json", 1_000, {})
                    self.wfile.write(b'{"choices": [{"message": {"content": "' + behaviour.text.encode())
                if isinstance(behaviour, Hang):
                    self._wait_for_the_client_to_go()
                self.close_connection = True
            case Flood():
                self._open_stream("text/event-stream" if stream else "application/json")
                piece = event({"content": behaviour.piece}) if stream else behaviour.piece.encode()
                while not self.stand_in.closing.is_set():
                    self._chunk(piece)
                    self.stand_in.closing.wait(behaviour.pause_s)

    def _send(
        self, code: int, data: Any, kind: str = "application/json", headers: dict[str, str] | None = None
    ) -> None:
        raw = data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode()
        self._head(code, kind, len(raw), headers or {})
        self.wfile.write(raw)

    def _head(self, code: int, kind: str, length: int, headers: dict[str, str]) -> None:
        self.send_response(code)
        for name, value in {"Content-Type": kind, "Content-Length": str(length), **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _open_stream(self, kind: str = "text/event-stream") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def _wait_for_the_client_to_go(self) -> None:
        while not self.stand_in.closing.is_set():
            if select.select([self.connection], [], [], 0.01)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                self.stand_in.gone.set()
                return
