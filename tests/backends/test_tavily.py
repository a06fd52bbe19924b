"""Web search against a stand-in on loopback: every way that it fails, and what it makes of results."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from backends.errors import PerquireError, WebUnavailable
from backends.tavily import CONTENT_CHARS, QUERY_CHARS, Tavily, WebSearch, clean, cut

KEY = "tvly-sesame-4711"
NOW = datetime(2026, 6, 5, 12, tzinfo=UTC)
TIN = {
    "url": "https://metals.example/tin",
    "title": "Tin",
    "content": "Tin traded at 31,200 per tonne on 3 June.",
    "score": 0.9,
}


@dataclass
class Reply:
    """What the stand-in answers: status, body (JSON unless bytes), headers, and seconds before it speaks."""

    status: int = 200
    body: Any = field(default_factory=lambda: {"results": [TIN]})
    headers: dict[str, str] = field(default_factory=dict)
    after_s: float = 0


class StandIn:
    """Answers with the replies in turn, the last one for ever, and keeps what it was sent."""

    def __init__(self) -> None:
        self.replies: list[Reply] = [Reply()]
        self.sent: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.times: list[float] = []
        self.closing = threading.Event()
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                stand_in.times.append(time.monotonic())
                stand_in.sent.append(json.loads(body))
                stand_in.keys.append(self.headers["Authorization"])
                reply = stand_in.replies[min(len(stand_in.sent), len(stand_in.replies)) - 1]
                stand_in.closing.wait(reply.after_s)
                data = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass  # the client has gone

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.closing.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    server = StandIn()
    yield server
    server.close()


def tavily(stand_in: StandIn, key: str = KEY, timeout_s: float = 5, backoff_s: float = 0.05) -> Tavily:
    return Tavily(SecretStr(key), stand_in.url, timeout_s, backoff_s, now=lambda: NOW)


async def failure(web: Tavily, query: str = "What is the current price of tin?", key: str = KEY) -> str:
    """The failure's message, after making sure that the key is nowhere on it or on what it is chained to."""
    with pytest.raises(WebUnavailable) as caught:
        await web.search(query)
    assert isinstance(caught.value, PerquireError)
    chain: list[BaseException] = [caught.value]
    for error in chain:
        for text in (str(error), repr(error), repr(error.args), repr(vars(error))):
            assert key not in text
        chain.extend(e for e in (error.__cause__, error.__context__) if e is not None)
    assert len(chain) == 1, "the client's own error is chained"
    assert key not in repr(web) + str(vars(web))
    return str(caught.value)


async def test_a_result_is_a_page_with_its_url_text_and_date_of_retrieval(stand_in: StandIn) -> None:
    web = tavily(stand_in)
    assert isinstance(web, WebSearch)
    assert await web.search("What did tin trade at on 3 June?") == [{**TIN, "date": "2026-06-05"}]
    assert stand_in.sent[0]["query"] == "What did tin trade at on 3 June?"
    assert stand_in.sent[0]["max_results"] == 5
    assert stand_in.keys == [f"Bearer {KEY}"]


def test_one_search_serves_several_event_loops(stand_in: StandIn) -> None:
    web = tavily(stand_in)
    assert [len(asyncio.run(web.search("tin"))) for _ in range(2)] == [1, 1]


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_key_there_is_no_web(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("TAVILY_API_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("TAVILY_API_KEY", value)
    assert Tavily.from_env() is None


async def test_the_environment_names_key_and_stand_in(monkeypatch: pytest.MonkeyPatch, stand_in: StandIn) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("TAVILY_BASE_URL", stand_in.url)
    web = Tavily.from_env()
    assert web is not None
    assert len(await web.search("tin")) == 1
    assert stand_in.keys == [f"Bearer {KEY}"]


async def test_an_empty_key_never_goes_out(stand_in: StandIn) -> None:
    with pytest.raises(WebUnavailable, match="Set TAVILY_API_KEY"):
        await tavily(stand_in, key="  ").search("tin")
    assert stand_in.sent == []


@pytest.mark.parametrize("key", ["tvly-ses\name", "tvly-sésame", "tvly\x00"])
async def test_a_key_that_no_header_can_carry_is_not_shown(stand_in: StandIn, key: str) -> None:
    assert "Copy the key anew" in await failure(tavily(stand_in, key=key), key=key)
    assert stand_in.sent == []


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (400, "does not take this query"),
        (401, "Check TAVILY_API_KEY"),
        (403, "refused the request"),
        (404, "refused the request"),
        (408, "refused the request"),
        (422, "refused the request"),
        (432, "limit is used up"),
        (433, "limit is used up"),
        (302, "refused the request"),
    ],
)
async def test_what_will_not_change_is_not_asked_again(stand_in: StandIn, status: int, cause: str) -> None:
    echo = {"detail": {"error": f"Unauthorized: {KEY}"}, "error": KEY}
    stand_in.replies = [Reply(status, echo, {"Location": "/elsewhere"})]
    message = await failure(tavily(stand_in))
    assert cause in message
    assert f"HTTP {status}" in message
    assert len(stand_in.sent) == 1


async def test_429_waits_as_long_as_it_is_told(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(429, {}, {"Retry-After": "1"}), Reply()]
    assert len(await tavily(stand_in, backoff_s=0.01).search("tin")) == 1
    assert 1 <= stand_in.times[1] - stand_in.times[0] < 2


async def test_429_with_a_date_waits_until_then(stand_in: StandIn) -> None:
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    stand_in.replies = [Reply(429, {}, {"Retry-After": then}), Reply()]
    assert len(await tavily(stand_in, backoff_s=0.01).search("tin")) == 1
    assert 0.5 < stand_in.times[1] - stand_in.times[0] < 3


async def test_429_that_asks_for_more_time_than_there_is_ends_at_once(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(429, {}, {"Retry-After": "3600"})]
    start = time.monotonic()
    assert "Try again in 3600 s" in await failure(tavily(stand_in))
    assert time.monotonic() - start < 2
    assert len(stand_in.sent) == 1


@pytest.mark.parametrize("value", ["soon", "-3", "nan", "1e3", "٣", ""])
async def test_a_retry_after_that_says_nothing_is_passed_over(stand_in: StandIn, value: str) -> None:
    stand_in.replies = [Reply(429, {}, {"Retry-After": value.encode().decode("latin-1")}), Reply()]
    assert len(await tavily(stand_in).search("tin")) == 1


@pytest.mark.parametrize(
    ("status", "cause"), [(429, "asked too often"), (500, "is down"), (502, "is down"), (503, "is down")]
)
async def test_what_may_pass_is_asked_again_twice(stand_in: StandIn, status: int, cause: str) -> None:
    stand_in.replies = [Reply(status, f"<html>{KEY}</html>".encode())]
    message = await failure(tavily(stand_in))
    assert cause in message
    assert f"HTTP {status}" in message
    assert len(stand_in.sent) == 3


async def test_the_third_attempt_may_succeed(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(502, b""), Reply(503, b""), Reply()]
    assert len(await tavily(stand_in).search("tin")) == 1
    assert len(stand_in.sent) == 3


async def test_a_service_that_hangs_is_left_within_the_limit(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(after_s=60)]
    start = time.monotonic()
    assert "did not answer within 1 s" in await failure(tavily(stand_in, timeout_s=1))
    assert time.monotonic() - start < 1.5
    assert len(stand_in.sent) == 2


async def test_the_key_is_in_no_log(stand_in: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    stand_in.replies = [Reply(502, b""), Reply(401, {"detail": {"error": KEY}})]
    await failure(tavily(stand_in))
    assert caplog.records
    assert KEY not in caplog.text


async def test_one_slow_reply_is_not_the_end(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(after_s=60), Reply()]
    assert len(await tavily(stand_in, timeout_s=2).search("tin")) == 1


async def test_who_asks_can_cancel(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(after_s=60)]
    task = asyncio.create_task(tavily(stand_in).search("tin"))
    await asyncio.sleep(0.3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_closed_port_is_a_cause_too(stand_in: StandIn) -> None:
    web = Tavily(SecretStr(KEY), "http://127.0.0.1:1", timeout_s=5)
    assert "cannot be reached" in await failure(web)


@pytest.mark.parametrize("url", ["nowhere", "ftp://127.0.0.1", "http://127.0.0.1:port"])
async def test_a_wrong_base_url_is_named(stand_in: StandIn, url: str) -> None:
    assert "TAVILY_BASE_URL" in await failure(Tavily(SecretStr(KEY), url, timeout_s=5))


async def test_a_wrong_proxy_is_named(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", f"gopher://user:{KEY}@127.0.0.1")
    assert "proxy" in await failure(tavily(stand_in))


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>Sign in</body></html>",
        b"",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b"null",
        b"[]",
        b"17",
        b"{}",
        b'{"results": null}',
        b'{"results": {"url": "https://metals.example"}}',
        b'{"detail": "tvly-sesame-4711"}',
    ],
)
async def test_200_with_something_else_is_a_failure(stand_in: StandIn, body: bytes) -> None:
    stand_in.replies = [Reply(body=body, headers={"Content-Type": "text/html"})]
    assert "a page or such" in await failure(tavily(stand_in))
    assert len(stand_in.sent) == 1


async def test_nothing_found_is_no_failure(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(body={"results": []})]
    assert await tavily(stand_in).search("tin") == []


@pytest.mark.parametrize(
    "question",
    ["What is the price of tin? " * 36, "x" * 900, "錫の価格は" * 180, "tin\u202e \x00price\n" * 90],
    ids=["words", "one word", "no spaces", "controls"],
)
async def test_a_long_question_is_cut_before_it_goes_out(stand_in: StandIn, question: str) -> None:
    await tavily(stand_in).search(question)
    sent = stand_in.sent[0]["query"]
    assert 0 < len(sent) <= QUERY_CHARS
    assert " ".join(clean(question).split()).startswith(sent)
    if " " in question:
        assert set(sent.split()) <= set(clean(question).split()), "a word was cut"


async def test_400_for_a_long_query_names_the_cause(stand_in: StandIn) -> None:
    error = {"detail": {"error": "Query is too long. Max query length is 400 characters."}}
    stand_in.replies = [Reply(400, error)]
    assert "HTTP 400" in await failure(tavily(stand_in), "long " * 180)
    assert len(stand_in.sent) == 1


@pytest.mark.parametrize("query", ["", " \n", "\u202e\x00"])
async def test_an_empty_query_does_not_go_out(stand_in: StandIn, query: str) -> None:
    assert "no text" in await failure(tavily(stand_in), query)
    assert stand_in.sent == []


@pytest.mark.parametrize(
    "item",
    [
        None,
        "https://metals.example/tin",
        {},
        {"title": "Tin", "content": "no address"},
        {"url": "https://metals.example/tin", "title": "no text"},
        {**TIN, "content": " \x00\n"},
        {**TIN, "content": ["a list"]},
        {**TIN, "url": None},
        {**TIN, "url": 17},
        {**TIN, "url": "javascript:alert(1)"},
        {**TIN, "url": "ftp://metals.example/tin"},
        {**TIN, "url": "file:///etc/passwd"},
        {**TIN, "url": "//metals.example/tin"},
        {**TIN, "url": "https://"},
        {**TIN, "url": "https://[metals"},
        {**TIN, "url": "https://bank.example@metals.example/"},
        {**TIN, "url": "https://metals.example/\u202etin"},
        {**TIN, "url": "https://metals.example/a b"},
        {**TIN, "url": "https://metals.example/" + "x" * 3000},
    ],
)
async def test_what_cannot_be_cited_is_left_out(stand_in: StandIn, item: Any) -> None:
    stand_in.replies = [Reply(body={"results": [item, {**TIN, "url": "http://metals.example/other"}]})]
    assert [r["url"] for r in await tavily(stand_in).search("tin")] == ["http://metals.example/other"]


async def test_missing_title_and_score_are_made_up_for(stand_in: StandIn) -> None:
    stand_in.replies = [Reply(body={"results": [{"url": TIN["url"], "content": "31,200"}]})]
    assert await tavily(stand_in).search("tin") == [
        {
            "url": TIN["url"],
            "title": "metals.example",
            "content": "31,200",
            "date": "2026-06-05",
            "score": 0.0,
        }
    ]


@pytest.mark.parametrize(
    ("given", "score"),
    [
        ("0.5", 0.0),
        (True, 0.0),
        (float("nan"), 0.0),
        (float("inf"), 0.0),
        (10**400, 0.0),
        (None, 0.0),
        (1, 1.0),
    ],
)
async def test_a_score_is_a_finite_number(stand_in: StandIn, given: Any, score: float) -> None:
    stand_in.replies = [Reply(body={"results": [{**TIN, "score": given}]})]
    assert [r["score"] for r in await tavily(stand_in).search("tin")] == [score]


@pytest.mark.parametrize(
    ("published", "date"),
    [
        ("2026-06-03", "2026-06-03"),
        ("2026-06-03T08:00:00Z", "2026-06-03"),
        ("Wed, 03 Jun 2026 08:00:00 GMT", "2026-06-03"),
        ("last week", "2026-06-05"),
        ("", "2026-06-05"),
        (None, "2026-06-05"),
        (20260603, "2026-06-05"),
    ],
)
async def test_the_date_is_the_pages_own_where_it_can_be_read(stand_in: StandIn, published: Any, date: str) -> None:
    stand_in.replies = [Reply(body={"results": [{**TIN, "published_date": published}]})]
    assert [r["date"] for r in await tavily(stand_in).search("tin")] == [date]


async def test_text_from_the_web_is_cleaned_and_cut(stand_in: StandIn) -> None:
    dirty = "Tin\x00 rose\x1b[31m.\u202e \U000e0041\ud800\r\nThen\tit fell. "
    stand_in.replies = [Reply(body={"results": [{**TIN, "title": "T\x07i\nn", "content": dirty * 200}]})]
    (result,) = await tavily(stand_in).search("tin")
    assert result["title"] == "Ti n"
    assert result["content"].startswith("Tin rose[31m. \nThen it fell. Tin rose")
    assert CONTENT_CHARS * 0.9 < len(result["content"]) <= CONTENT_CHARS
    assert result["content"].encode()


async def test_no_more_than_asked_for_and_no_page_twice(stand_in: StandIn) -> None:
    pages = [{**TIN, "url": f"https://metals.example/{i // 2}"} for i in range(40)]
    stand_in.replies = [Reply(body={"results": pages})]
    found = await tavily(stand_in).search("tin", limit=3)
    assert [r["url"] for r in found] == [f"https://metals.example/{i}" for i in range(3)]
    assert len(await tavily(stand_in).search("tin", limit=500)) == 20
    assert [s["max_results"] for s in stand_in.sent] == [3, 20]


@given(st.text(), st.integers(1, 50))
def test_a_cut_text_is_a_beginning_within_the_limit(text: str, limit: int) -> None:
    assert len(cut(text, limit)) <= limit
    assert text.startswith(cut(text, limit))
