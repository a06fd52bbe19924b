"""Stand-ins with a memory, for what is slow, paid, or outside."""

from __future__ import annotations

from datetime import UTC, datetime

from backends.errors import WebUnavailable
from backends.tavily import WebResult


class SteadyClock:
    """A clock whose seconds are a count of how often they were read."""

    def __init__(self, tick: float = 0.001) -> None:
        self.ticks = 0
        self.tick = tick

    def now(self) -> datetime:
        return datetime(2026, 3, 31, 12, 0, tzinfo=UTC)

    def seconds(self) -> float:
        self.ticks += 1
        return self.ticks * self.tick

    async def sleep(self, seconds: float) -> None:
        self.ticks += round(seconds / self.tick)


class FakeWeb:
    """A web of fixed results; remembers what was asked. With an `error` it is down."""

    def __init__(self, results: list[WebResult] | None = None, error: str = "") -> None:
        self.results = results or []
        self.error = error
        self.queries: list[str] = []

    async def search(self, query: str, limit: int = 5) -> list[WebResult]:
        self.queries.append(query)
        if self.error:
            raise WebUnavailable(self.error)
        return self.results[:limit]
