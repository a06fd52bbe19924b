"""The connection under a chat model: bounded, uncompressed, through the proxies that httpx knows, and never reused."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import cache
from ssl import SSLContext
from urllib.parse import unquote, urlsplit

import httpx

from backends.openai_errors import Malformed, Refused, TooLong, said_in
from backends.retrying import seconds_until_retry
from backends.settings import on_loopback

REPLY_BYTES = 4 * 2**20
ERROR_BYTES = 2**16
STREAM_BYTES_PER_TOKEN = 1_024  # an event around a token is 200 to 400 bytes


class Line:
    """One request's connection; `received` counts the bytes of the reply's body."""

    def __init__(self, base_url: str, stream: bool, max_completion: int) -> None:
        """Reads certificates and proxy settings: not for an event loop. Nothing is connected yet.

        Raises ValueError, ImportError or httpx.InvalidURL where the URL or a proxy's setting cannot be used.
        """
        self.received = 0
        self.began = False  # has a stream sent a piece of a completion, be it an empty one?
        self._stream = stream
        self._bound = REPLY_BYTES + (STREAM_BYTES_PER_TOKEN * max_completion if stream else 0)
        parts = urlsplit(base_url)
        if parts.scheme not in {"http", "https"} or parts.port == 0:  # asking for a port beyond 65,535 is a ValueError
            raise ValueError
        user, password = unquote(parts.username or ""), unquote(parts.password or "")
        self.http = httpx.AsyncClient(
            verify=_certificates(),
            trust_env=not on_loopback(base_url),  # a proxy would look for the model on its own loopback
            auth=httpx.BasicAuth(user, password) if user or password else None,
            headers={"Accept-Encoding": "identity"},  # a bound on bytes is one on memory only where nothing unpacks
            event_hooks={"response": [self._screen]},
            timeout=None,  # who asks bounds the whole
        )

    async def _screen(self, response: httpx.Response) -> None:
        """Stops whatever is no chat completion before a client puts its text into an exception or a log."""
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise Malformed
        refused = response.status_code != 200
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Bounded(response.stream, self, ERROR_BYTES if refused else self._bound)
        if refused:
            after = seconds_until_retry(response.headers.get("Retry-After"))
            try:
                said = said_in(await response.aread())
            except (httpx.HTTPError, TooLong):
                said = ""  # the status alone will do
            raise Refused(response.status_code, after, said)
        kind = response.headers.get("Content-Type", "")
        if not self._stream:
            _check_completion(await response.aread())
        elif "html" in kind or "json" in kind:
            raise Malformed


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, line: Line, bound: int) -> None:
        self._inner = inner
        self._line = line
        self._bound = bound

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for data in self._inner:
            self._line.received += len(data)
            if self._line.received > self._bound:
                raise TooLong
            self._line.began = self._line.began or b'"delta"' in data
            yield data

    async def aclose(self) -> None:
        await self._inner.aclose()


def _check_completion(body: bytes) -> None:
    try:
        reply = json.loads(body)
    except (ValueError, RecursionError):
        raise Malformed from None
    if not isinstance(reply, dict):
        raise Malformed
    error = reply.get("error")
    if isinstance(error, dict) and isinstance(error.get("code"), int) and 400 <= error["code"] < 600:
        raise Refused(error["code"], None, said_in(error))  # some gateways wrap errors in a reply of 200
    choices = reply.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise Malformed
    if not isinstance(choices[0].get("message"), dict):
        raise Malformed


@cache
def _certificates() -> SSLContext:
    """Reading the authorities takes longer than a request on loopback: once per process."""
    return httpx.create_ssl_context()
