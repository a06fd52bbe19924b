"""What went wrong with a model's endpoint, in our own words: a reply's text may echo the key, so none of it is shown."""

from __future__ import annotations

import json
import math
import re
import ssl
from collections.abc import Iterator
from typing import TypeVar

import httpx

from backends.errors import ModelUnavailable
from backends.settings import Endpoint

_E = TypeVar("_E", bound=BaseException)
_CONTEXT = re.compile(
    r"context[ _-]?(length|window|size)|maximum context|n_ctx|too many (input )?tokens"
    r"|(prompt|input)\b.{0,20}\btoo long|exceed.{0,60}\btokens|\btokens?\b.{0,40}exceed",
    re.DOTALL,
)
_UNSUPPORTED = re.compile(
    r"unsupported|not support|unrecogni[sz]ed|unknown|unexpected|not (permitted|allowed)|only the default|extra_forbidden"
)
_SAID_CHARS = 4_000
_SETUP = "Check OPENAI_BASE_URL."
_WINDOW = "Set PERQUIRE_CONTEXT_WINDOW to its real size."
_LATER = "Try again later."


class Refused(Exception):
    """A reply that is an error. `said` is what the endpoint gave as reasons, for sorting only, never for showing."""

    def __init__(self, status: int, retry_after: float | None = None, said: str = "") -> None:
        super().__init__(status)
        self.status = status
        self.retry_after = retry_after
        self._said = said  # underscored: nothing that prints public attributes prints it

    def speaks_of(self, pattern: re.Pattern[str]) -> bool:
        return bool(pattern.search(self._said))


class Malformed(Exception):
    """A reply of 200 that is no chat completion: a page, or JSON without choices."""


class TooLong(Exception):
    """A reply of more bytes than any answer needs."""


class Cut(Exception):
    """A stream that ended without saying that it was at its end."""


class Empty(Exception):
    """A stream that ended before it began, after a prompt that may be too long."""


class Unusable(Exception):
    """An address or proxy that no connection can be set up for."""


class Failed(Exception):
    """No reply. The cause is kept for explaining it, and is not to be shown: it may hold the key."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(type(cause).__name__)
        self.cause = cause


def said_in(body: bytes | object) -> str:
    """The reasons in an error's body, in lower case. Leaves out what is known to repeat the request."""
    if isinstance(body, bytes):
        text = body.decode("utf-8", "replace")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            return text[:_SAID_CHARS].lower()
    if isinstance(body, dict) and isinstance(body.get("error"), dict | str):
        body = body["error"]
    return " ".join(_reasons(body))[:_SAID_CHARS].lower()


def _reasons(body: object) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict):
        yield from (str(body[name]) for name in ("message", "msg", "code", "type", "param", "loc") if body.get(name))
        yield from _reasons(body.get("detail"))
    elif isinstance(body, list):
        for item in body[:20]:
            yield from _reasons(item)


def refusal_in(error: BaseException) -> Refused | None:
    """The refusal under an error, if it is one."""
    return _find(error, Refused)


def refused_parameter(refused: Refused, sent: frozenset[str]) -> str | None:
    """Which of the parameters that were sent the endpoint says it does not support, if any.

    A bad value is not that: "max_tokens is too large" would not be mended by another name.
    """
    if refused.status not in (400, 422) or not refused.speaks_of(_UNSUPPORTED):
        return None
    named = (name for name in sorted(sent) if refused.speaks_of(re.compile(rf"(?<![a-z_]){name}(?![a-z_])")))
    return next(named, None)


def explain(error: BaseException, endpoint: Endpoint, timeout_s: float) -> ModelUnavailable:
    """The cause and what to do, made of the endpoint's settings and the status alone."""
    host, model = endpoint.host, endpoint.model
    for cause in _causes(error):
        match cause:
            case Refused():
                return _explain_refusal(cause, endpoint)
            case Malformed():
                return ModelUnavailable(f"{host} sent something else than a chat completion. {_SETUP}", "malformed")
            case TooLong():
                message = f"{model} at {host} sent more than any answer needs, and was stopped."
                return ModelUnavailable(message, "too_long")
            case Empty():
                message = f"{model} at {host} closed its reply at once: the request is probably too long. {_WINDOW}"
                return ModelUnavailable(message, "context")
            case Unusable():
                message = f"No connection to {host} can be set up. {_SETUP} Check the proxy settings."
                return ModelUnavailable(message, "unreachable")
            case httpx.TimeoutException() | TimeoutError():
                message = f"{model} at {host} did not answer within {timeout_s:g} s. {_LATER}"
                return ModelUnavailable(message, "timeout", retry=True)
            case ssl.SSLCertVerificationError():
                message = f"The certificate of {host} cannot be verified. {_SETUP} SSL_CERT_FILE may name its issuer."
                return ModelUnavailable(message, "unreachable")
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return ModelUnavailable("The model's base URL, or a proxy's, is not a URL. " + _SETUP, "unreachable")
            case Cut() | httpx.ReadError() | httpx.WriteError() | httpx.CloseError() | httpx.RemoteProtocolError():
                return ModelUnavailable(f"{host} broke off its reply. {_LATER}", "cut", retry=True)
            case httpx.TransportError() if not _find(error, ssl.SSLCertVerificationError):  # that one says more
                message = f"{host} cannot be reached. Check that it runs, the network, any proxy, OPENAI_BASE_URL."
                return ModelUnavailable(message, "unreachable", retry=True)
    return ModelUnavailable(f"{host} sent what cannot be read as a chat completion. {_SETUP}", "malformed")


def _explain_refusal(error: Refused, endpoint: Endpoint) -> ModelUnavailable:
    host, model, status = endpoint.host, endpoint.model, error.status
    shown = f"(HTTP {status})"
    if status in (401, 403):
        return ModelUnavailable(
            f"{host} does not accept the key for the model {model} {shown}. Check OPENAI_API_KEY, "
            "or the variable that api_key_env names, and what the key may use.",
            "auth",
        )
    if status == 429 and error.speaks_of(re.compile("insufficient_quota")):
        return ModelUnavailable(f"The account at {host} has no credit left {shown}. See its billing page.", "quota")
    if status == 429:
        after = _finite(error.retry_after)
        wait = f"in {math.ceil(after)} s" if after else "in a minute"
        message = f"{model} at {host} is asked too often {shown}. Try again {wait}."
        return ModelUnavailable(message, "rate_limit", retry=True, retry_after=after)
    if status in (400, 413, 422, 500) and (status == 413 or error.speaks_of(_CONTEXT)):
        return ModelUnavailable(f"The request is longer than {model} at {host} takes {shown}. {_WINDOW}", "context")
    if status == 404:
        return ModelUnavailable(
            f"{host} does not know the model {model} or the path {shown}. Check PERQUIRE_MODEL and OPENAI_BASE_URL.",
            "model",
        )
    if status == 408:
        return ModelUnavailable(f"{model} at {host} ran out of time {shown}. {_LATER}", "timeout", retry=True)
    if status >= 500:
        message = f"{model} at {host} failed {shown}. {_LATER}"
        return ModelUnavailable(message, "server", retry=True, retry_after=_finite(error.retry_after))
    if status < 400:
        return ModelUnavailable(f"{host} answers from another address {shown}. {_SETUP}", "malformed")
    return ModelUnavailable(
        f"{model} at {host} does not take the request {shown}. Check PERQUIRE_MODEL, and that PERQUIRE_MAX_COMPLETION "
        "is within the model's limit.",
        "bad_request",
    )


def _finite(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what it was raised from: clients wrap a broken connection in errors of their own."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _find(error: BaseException, kind: type[_E]) -> _E | None:
    return next((cause for cause in _causes(error) if isinstance(cause, kind)), None)
