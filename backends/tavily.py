"""Web search, by Tavily: bounded in time, sparing with retries, and silent about the key.

What comes back is data from strangers: cleaned, cut and never obeyed.
"""

from __future__ import annotations

import asyncio
import math
import os
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, runtime_checkable
from urllib.parse import urlsplit

import httpx
from pydantic import SecretStr
from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    stop_before_delay,
)

from backends.errors import WebUnavailable
from backends.retrying import retry_after_seconds

if TYPE_CHECKING:
    from tavily import AsyncTavilyClient

QUERY_CHARS = 400  # Tavily answers 400 to more
CONTENT_CHARS = 2_000
TITLE_CHARS = 300
URL_CHARS = 2_048
ATTEMPTS = 3
MOST_RESULTS = 20  # Tavily's own limit

_KEPT = "\n\u200c\u200d"  # the joiners are invisible, but letters of some scripts hang on them
_NETWORK = "Check the network and any proxy."
_OTHERWISE = "Documents can still be asked; deny the web to stop trying."


class WebResult(TypedDict):
    """A page as found. `date` is an ISO date: the page's own where given, else that of retrieval."""

    url: str
    title: str
    content: str
    date: str
    score: float


@runtime_checkable
class WebSearch(Protocol):
    """A search of the web."""

    async def search(self, query: str, limit: int = 5) -> list[WebResult]:
        """At most `limit` results, best first; none found is an empty list. Raises WebUnavailable."""
        ...


class _Refused(Exception):
    """A reply other than 200. Holds nothing of the request or of the reply's text."""

    def __init__(self, status: int, retry_after: float | None) -> None:
        super().__init__(status)
        self.status = status
        self.retry_after = retry_after


class _Malformed(Exception):
    """A reply of 200 that is not a search's: a page, or JSON without results."""


_FAILURES = (TimeoutError, _Refused, _Malformed, httpx.HTTPError, httpx.InvalidURL, ValueError, ImportError)


class Tavily(WebSearch):
    """Tavily's search. `timeout_s` bounds a search with its retries; each attempt gets at most half of it.

    `base_url` points to a stand-in. A client lives for one search: one object serves many event loops.
    """

    def __init__(
        self,
        api_key: SecretStr,
        base_url: str | None = None,
        timeout_s: float = 20,
        backoff_s: float = 0.5,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._api_key = SecretStr(api_key.get_secret_value().strip())
        self._base_url = base_url or "https://api.tavily.com"
        self._timeout_s = timeout_s
        self._backoff_s = backoff_s
        self._now = now

    @classmethod
    def from_env(cls) -> Tavily | None:
        """The search that TAVILY_API_KEY (and, for a stand-in, TAVILY_BASE_URL) describes, if any."""
        key = os.environ.get("TAVILY_API_KEY", "").strip()
        return cls(SecretStr(key), base_url=os.environ.get("TAVILY_BASE_URL") or None) if key else None

    async def search(self, query: str, limit: int = 5) -> list[WebResult]:
        sent = cut(" ".join(clean(query).split()), QUERY_CHARS)
        key = self._api_key.get_secret_value()
        if not key:
            raise WebUnavailable(f"Web search is off: no key. Set TAVILY_API_KEY. {_OTHERWISE}")
        if not (key.isascii() and key.isprintable()):
            raise WebUnavailable("TAVILY_API_KEY holds characters that no key has. Copy the key anew.")
        if not sent:
            raise WebUnavailable("There is nothing to search the web for: the query holds no text.")
        limit = max(1, min(limit, MOST_RESULTS))
        found: list[Any] = []
        problem = ""
        try:
            async with asyncio.timeout(self._timeout_s):
                found = await self._ask(sent, limit)
        except _FAILURES as error:
            problem = self._explain(error)
        if problem:  # raised out here: the client's own error, which may hold the key, is not chained to it
            raise WebUnavailable(problem)
        return self._results(found)[:limit]

    async def _ask(self, query: str, limit: int) -> list[Any]:
        """The reply's results. 429, 5xx and timeouts are asked again, at most twice, while time is left."""
        retrying = AsyncRetrying(
            retry=retry_if_exception(_worth_another_try),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(self._timeout_s),
            wait=self._wait,
            reraise=True,
        )
        http, client = await asyncio.to_thread(self._clients)  # importing and TLS settings read files
        async with http:
            return await retrying(self._attempt, client, query, limit)

    async def _attempt(self, client: AsyncTavilyClient, query: str, limit: int) -> list[Any]:
        async with asyncio.timeout(self._timeout_s / 2):
            reply = await client.search(query, max_results=limit, timeout=self._timeout_s)
            return list(reply["results"])

    def _clients(self) -> tuple[httpx.AsyncClient, AsyncTavilyClient]:
        from tavily import AsyncTavilyClient

        http = httpx.AsyncClient(base_url=self._base_url, event_hooks={"response": [_only_results]})
        return http, AsyncTavilyClient(api_key=self._api_key.get_secret_value(), client=http)

    def _wait(self, state: RetryCallState) -> float:
        """Seconds to wait: what the service asked for, else twice as long each time."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Refused) and error.retry_after is not None:
            return error.retry_after
        return float(self._backoff_s * 2 ** (state.attempt_number - 1))

    def _explain(self, error: Exception) -> str:
        """The cause and what to do. Made of our own words and the status alone: replies may echo the key."""
        match error:
            case TimeoutError():
                limit = f"{self._timeout_s:g} s"
                return f"Web search (Tavily) did not answer within {limit}. Try again later. {_OTHERWISE}"
            case _Refused():
                return _explain_status(error)
            case _Malformed():
                return f"Web search (Tavily) sent no results but a page or such. {_NETWORK} {_OTHERWISE}"
            case httpx.InvalidURL() | httpx.UnsupportedProtocol():
                return "The web search's base URL is not a URL. Correct or unset TAVILY_BASE_URL."
            case httpx.HTTPError():
                return f"Web search (Tavily) cannot be reached. {_NETWORK} {_OTHERWISE}"
            case _:
                return f"Web search (Tavily) cannot be started. Check the proxy settings. {_OTHERWISE}"

    def _results(self, found: list[Any]) -> list[WebResult]:
        """What can be cited: an http(s) URL, once each, with some text."""
        today = self._now().date().isoformat()
        out: dict[str, WebResult] = {}
        for item in found:
            if not isinstance(item, dict):
                continue
            url = _http_url(item.get("url"))
            content = cut(clean(_text(item.get("content"))).strip(), CONTENT_CHARS)
            if not url or not content:
                continue
            title = " ".join(clean(_text(item.get("title"))).split())
            result = WebResult(
                url=url,
                title=cut(title, TITLE_CHARS) or str(urlsplit(url).hostname),
                content=content,
                date=_iso_date(item.get("published_date")) or today,
                score=_number(item.get("score")),
            )
            out.setdefault(url, result)
        return list(out.values())


def cut(text: str, limit: int) -> str:
    """The text up to `limit` characters, ending with a whole word where it has words that short."""
    if len(text) <= limit:
        return text
    head = text[: limit + 1]
    space = max(head.rfind(" "), head.rfind("\n"))
    return (head[:space] if space > limit // 2 else text[:limit]).rstrip()


def clean(text: str) -> str:
    """The text without what cannot be seen: controls, direction overrides, tags, lone surrogates."""
    text = text.replace("\r\n", "\n").replace("\t", " ")
    return "".join(c for c in text if c in _KEPT or unicodedata.category(c) not in {"Cc", "Cf", "Cs"})


async def _only_results(response: httpx.Response) -> None:
    """Stops any other reply before the client puts its text into an exception, or takes it for no results."""
    if response.status_code != 200:
        raise _Refused(response.status_code, retry_after_seconds(response.headers.get("Retry-After")))
    await response.aread()
    try:
        reply = response.json()
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict) or not isinstance(reply.get("results"), list):
        raise _Malformed


def _worth_another_try(error: BaseException) -> bool:
    if isinstance(error, _Refused):
        return error.status == 429 or error.status >= 500
    return isinstance(error, TimeoutError)


def _explain_status(error: _Refused) -> str:
    status = error.status
    if status == 401:
        return f"Web search (Tavily) does not accept the key (HTTP 401). Check TAVILY_API_KEY. {_OTHERWISE}"
    if status == 429:
        wait = f"in {math.ceil(error.retry_after)} s" if error.retry_after else "in a minute"
        return f"Web search (Tavily) is asked too often (HTTP 429). Try again {wait}. {_OTHERWISE}"
    if status in (432, 433):
        return f"The Tavily plan's limit is used up (HTTP {status}). See your account there. {_OTHERWISE}"
    if status >= 500:
        return f"Web search (Tavily) is down (HTTP {status}). Try again later. {_OTHERWISE}"
    if status == 400:
        return f"Web search (Tavily) does not take this query (HTTP 400). Ask in other words. {_OTHERWISE}"
    return f"Web search (Tavily) refused the request (HTTP {status}). See your account there. {_OTHERWISE}"


def _iso_date(value: object) -> str | None:
    at = _moment(value) if isinstance(value, str) else None
    return at.date().isoformat() if at else None


def _moment(value: str) -> datetime | None:
    """A date as ISO 8601 or as in mail headers, which the news search gives; UTC where it does not say."""
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = parse(value.strip())
        except (ValueError, OverflowError):
            continue
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None


def _http_url(value: object) -> str | None:
    """The URL if a person could open it: http or https, a host, no login in it, nothing invisible."""
    url = value.strip() if isinstance(value, str) else ""
    if not url or len(url) > URL_CHARS or clean(url) != url or any(c.isspace() or c in '<>"' for c in url):
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    except ValueError:
        return None
    return url if usable else None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    try:
        return float(value) if math.isfinite(value) else 0.0
    except OverflowError:
        return 0.0
