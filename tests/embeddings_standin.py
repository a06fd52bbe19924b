"""An embeddings endpoint on loopback that answers as it is told, and keeps what it was sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 8


def vector(text: str) -> list[float]:
    """Not of length 1, and near for texts that share letters."""
    out = [0.1] * DIMENSION
    for c in text.casefold():
        out[ord(c) % DIMENSION] += 1.0
    return out


def vectors(texts: list[str]) -> Any:
    return {"data": [{"index": n, "embedding": vector(text)} for n, text in enumerate(texts)], "model": "m"}


@dataclass
class Reply:
    """Status, body (made from the texts; sent as it is where bytes), headers, seconds before it speaks, cut off or not."""

    status: int = 200
    body: Callable[[list[str]], Any] = vectors
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0
    cut: bool = False


class StandIn:
    """Answers with the replies in turn, the last one for ever."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply()]
        self.sent: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.closing = threading.Event()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stand_in.sent.append(request)
                stand_in.paths.append(self.path)
                stand_in.headers.append(dict(self.headers))
                reply = stand_in.replies[min(len(stand_in.sent), len(stand_in.replies)) - 1]
                stand_in.closing.wait(reply.after_s)
                body = reply.body(request["input"])
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data[: len(data) // 2] if reply.cut else data)
                except OSError:
                    pass  # the client has gone

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def texts(self) -> list[str]:
        return [text for request in self.sent for text in request["input"]]


@contextmanager
def standing_in() -> Iterator[StandIn]:
    stand_in = StandIn()
    thread = threading.Thread(target=stand_in.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield stand_in
    finally:
        stand_in.closing.set()
        stand_in.server.shutdown()
        thread.join()
        stand_in.server.server_close()
