"""An embeddings endpoint: where it is, how it fails, and what a person is told of that."""

from __future__ import annotations

import json
import math

import httpx

from backends.settings import OPENAI, on_loopback


class Address:
    """A base URL in its parts: a login in it is sent, and neither shown nor logged."""

    def __init__(self, base_url: str, key_name: str, has_key: bool) -> None:
        self.key_name = key_name
        self.has_key = has_key
        self.login: tuple[str, str] | None = None
        try:
            self._url = httpx.URL(base_url)
        except (httpx.InvalidURL, ValueError):
            self._url = httpx.URL("")
        if self._url.userinfo:
            self.login = (self._url.username, self._url.password)
            self._url = self._url.copy_with(userinfo=b"")
        self.local = on_loopback(str(self._url))  # as the client reads it, which is who connects
        self.scheme = self._url.scheme
        host = self._url.host  # what no host may hold, the client would escape and look up
        self.usable = self.scheme in {"http", "https"} and bool(host) and not set("%[] ") & set(host)
        self.is_openai = self._url.host == httpx.URL(OPENAI).host

    def url(self, leaf: str) -> httpx.URL:
        return self._url.copy_with(path=f"{self._url.path.rstrip('/')}/{leaf}")

    def __str__(self) -> str:
        """For messages: the host, and on this machine, where several may listen, the port."""
        port = f":{self._url.port}" if self.local and self._url.port else ""
        return f"{self._url.host or 'an address without a host'}{port}"


class Refused(Exception):
    """A reply other than 200. Holds nothing of the request or of the reply's text."""

    def __init__(self, status: int, retry_after: float | None) -> None:
        super().__init__(status)
        self.status = status
        self.retry_after = retry_after


class Malformed(Exception):
    """A reply of 200 that cannot be used; says in our words what it held instead."""


# the last two: a header or a proxy setting that the client cannot take
FAILURES = (TimeoutError, Refused, Malformed, httpx.HTTPError, httpx.InvalidURL, ValueError, OSError)


def worth_another_try(error: BaseException) -> bool:
    if isinstance(error, Refused):
        return error.status == 429 or error.status >= 500
    return isinstance(error, TimeoutError | httpx.TimeoutException | httpx.NetworkError | httpx.RemoteProtocolError)


def explain(error: Exception, address: Address, model: str, timeout_s: float) -> str:
    """The cause and what to do. Made of our own words and the status alone: replies may echo the key."""
    match error:
        case TimeoutError() | httpx.TimeoutException():
            return (
                f"Embeddings by {address} did not come within {timeout_s:g} s. Check that it runs, or raise "
                "PERQUIRE_EMBEDDINGS__TIMEOUT_S."
            )
        case Refused():
            return _explain_status(error, address, model)
        case Malformed():
            return (
                f"{address} sent {error} for the embedding model {json.dumps(model)}. Check "
                "PERQUIRE_EMBEDDINGS__MODEL, PERQUIRE_EMBEDDINGS__DIMENSION and that the base URL is an "
                "OpenAI-compatible one (it usually ends in /v1)."
            )
        case httpx.HTTPError():
            return f"Embeddings by {address}: it cannot be reached. Check that it runs, the network and any proxy."
        case _:
            return f"Embeddings by {address} cannot be asked for. Check the base URL and the proxy settings."


def _explain_status(error: Refused, address: Address, model: str) -> str:
    status = error.status
    if status in (401, 403) and not address.has_key:
        return f"Embeddings by {address} need a key (HTTP {status}). Set {address.key_name}."
    if status in (401, 403):
        return f"Embeddings by {address}: the key is not accepted (HTTP {status}). Check {address.key_name}."
    if status == 404:
        return (
            f"{address} has no embedding model {json.dumps(model)}, or not under this base URL (HTTP 404). Check "
            "PERQUIRE_EMBEDDINGS__MODEL and the base URL, which usually ends in /v1."
        )
    if status == 429:
        wait = f"in {math.ceil(error.retry_after)} s" if error.retry_after else "in a minute"
        return f"Embeddings by {address} are asked for too often, or its quota is used up (HTTP 429). Try again {wait}."
    if status >= 500:
        return f"Embeddings by {address} fail there (HTTP {status}). Look at its log, or try again later."
    if status in (400, 413, 422):
        return (
            f"{address} does not take the request for the embedding model {json.dumps(model)} (HTTP {status}): it may "
            "not be an embedding model, not offer that dimension, or not take texts this long. Check "
            "PERQUIRE_EMBEDDINGS__MODEL and PERQUIRE_EMBEDDINGS__DIMENSION."
        )
    return f"Embeddings by {address} were refused (HTTP {status}). Check the base URL."
