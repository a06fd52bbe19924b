"""Embeddings behind any OpenAI-compatible endpoint (`/v1/embeddings`): OpenAI, vLLM, Ollama, LM Studio, llama.cpp.

One plain POST of plain strings: an SDK would count tokens first, with encodings that it downloads, and name options
that not every server takes.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Iterator, Sequence
from functools import cached_property

import httpx
import numpy as np
from numpy.typing import NDArray
from pydantic import SecretStr
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt, stop_before_delay

from backends.embeddings.base import Vectors, unit_rows, worded
from backends.embeddings.endpoint import FAILURES, Address, Malformed, Refused, explain, worth_another_try
from backends.embeddings.reply import vectors_of
from backends.errors import EmbeddingsUnavailable
from backends.retrying import seconds_until_retry
from backends.settings import OPENAI

ATTEMPTS = 4
BATCH_TEXTS, BATCH_CHARS = 64, 40_000
TEXT_CHARS = 8_000  # about what the longest of the usual models take, whatever the script
REPLY_BYTES = 64_000_000


class OpenAIEmbeddings:
    """An embedding model by its name at the endpoint, which is no part of the vector space and may change.

    `dimension` is asked for where it is given, else learnt from the first reply (or a probe, where it is wanted
    before). `timeout_s` bounds a batch with its retries; one attempt gets at most half of it. Texts are cut at 8,000
    characters. After a failure that may pass, `rest_s` go by before the endpoint is asked again: a run that embeds at
    several places waits once. With `local_only` an endpoint that is not on this machine is never asked.
    """

    def __init__(
        self,
        model: str,
        base_url: str = OPENAI,
        api_key: SecretStr | None = None,
        key_name: str = "OPENAI_API_KEY",
        dimension: int | None = None,
        timeout_s: float = 60,
        local_only: bool = False,
        backoff_s: float = 0.5,
        rest_s: float = 20,
    ) -> None:
        self.model = model
        self.asked_dimension = dimension
        self.name = f"openai/{model}" + (f"/{dimension}" if dimension else "")
        self.address = Address(base_url, key_name, bool(api_key and api_key.get_secret_value().strip()))
        self._api_key = SecretStr(api_key.get_secret_value().strip() if api_key else "")
        self._timeout_s = timeout_s
        self._local_only = local_only
        self._backoff_s = backoff_s
        self._rest_s = rest_s
        self._learnt = dimension
        self._down: tuple[float, str] | None = None  # until when, and why

    @property
    def dimension(self) -> int:
        """Raises EmbeddingsUnavailable where it has to be learnt and cannot."""
        if self._learnt is None:
            self.embed(["dimension"])
        assert self._learnt is not None
        return self._learnt

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Raises EmbeddingsUnavailable, in a sentence that holds neither key nor reply."""
        order = worded(texts)
        rows = [row for part in self._batches([_sent(texts[i]) for i in order]) for row in self._ask(part)]
        out = np.zeros((len(texts), self.dimension if len(texts) else self._learnt or 0), dtype=np.float32)
        if order:
            out[order] = rows
        return out

    @staticmethod
    def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
        part: list[str] = []
        for text in texts:
            if part and (len(part) == BATCH_TEXTS or sum(map(len, part)) + len(text) > BATCH_CHARS):
                yield part
                part = []
            part.append(text)
        if part:
            yield part

    def _ask(self, texts: list[str]) -> Vectors:
        """One batch: unit vectors (texts, dimension)."""
        if forbidden := self._forbidden():
            raise EmbeddingsUnavailable(forbidden)
        if self._down and time.monotonic() < self._down[0]:
            raise EmbeddingsUnavailable(self._down[1])
        problem = ""
        try:
            raw = self._exchange(texts)
            self._down, self._learnt = None, raw.shape[1]
            return unit_rows(raw)
        except FAILURES as error:
            problem = explain(error, self.address, self.model, self._timeout_s)
            if worth_another_try(error):
                self._down = (time.monotonic() + self._rest_s, problem)
        # raised out here: the client's own error, which may hold the reply, is not chained to it
        raise EmbeddingsUnavailable(problem)

    def _forbidden(self) -> str:
        """Why nothing may be sent; empty where it may."""
        key = self._api_key.get_secret_value()
        if not self.address.usable:
            return "The embeddings' base URL is not a URL. Correct base_url under [embeddings] or OPENAI_BASE_URL."
        if self._local_only and not self.address.local:
            return (
                f"Embeddings by {self.address} are refused: local_only is set, and that is not this machine. Name an "
                "endpoint on loopback (PERQUIRE_EMBEDDINGS__BASE_URL), or unset PERQUIRE_LOCAL_ONLY."
            )
        if not (key.isascii() and key.isprintable()):
            return f"{self.address.key_name} holds characters that no key has. Copy the key anew."
        if not key and self.address.is_openai:
            return f"Embeddings by {self.address} need a key. Set {self.address.key_name}."
        return ""

    def _exchange(self, texts: list[str]) -> NDArray[np.float64]:
        """429, 5xx, timeouts and lost connections are tried again while time is left."""
        deadline = time.monotonic() + self._timeout_s
        retrying = Retrying(
            retry=retry_if_exception(worth_another_try),
            stop=stop_after_attempt(ATTEMPTS) | stop_before_delay(self._timeout_s),
            wait=self._wait,
            reraise=True,
        )
        key = self._api_key.get_secret_value()
        client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            auth=self.address.login,
            verify=self._tls,
            trust_env=not self.address.local,  # a proxy must not see what is meant for this machine
        )
        with client:
            return retrying(self._attempt, client, texts, deadline)

    def _attempt(self, client: httpx.Client, texts: list[str], deadline: float) -> NDArray[np.float64]:
        begun = time.monotonic()
        limit = min(self._timeout_s / 2, deadline - begun)
        if limit <= 0:
            raise TimeoutError
        request: dict[str, object] = {"model": self.model, "input": texts}
        if self.asked_dimension:
            request["dimensions"] = self.asked_dimension
        body = bytearray()
        headers = {"Content-Type": "application/json"}
        url = self.address.url("embeddings")
        with client.stream("POST", url, content=json.dumps(request), headers=headers, timeout=limit) as response:
            if response.status_code != 200:
                raise Refused(response.status_code, seconds_until_retry(response.headers.get("Retry-After")))
            for part in response.iter_bytes():
                body += part
                if len(body) > REPLY_BYTES:
                    raise Malformed("more than any batch of vectors is long")
                if time.monotonic() - begun > limit:  # a server that drips keeps within every single read
                    raise TimeoutError
        return vectors_of(bytes(body), len(texts), self._learnt)

    def _wait(self, state: RetryCallState) -> float:
        """Seconds to wait: what the service asked for, else twice as long each time."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Refused) and error.retry_after is not None:
            return error.retry_after
        return float(self._backoff_s * 2 ** (state.attempt_number - 1))

    @cached_property
    def _tls(self) -> ssl.SSLContext | bool:
        return httpx.create_ssl_context() if self.address.scheme == "https" else True


def _sent(text: str) -> str:
    """The text as it is sent: bounded, and without lone surrogates, which no server takes."""
    return text[:TEXT_CHARS].encode(errors="replace").decode()
