"""Embedding models: what they make of texts, how each fails, and which one a workspace gets."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.utils.embedding_functions import ONNXMiniLM_L6_V2
from embeddings_standin import DIMENSION, Reply, StandIn, standing_in, vector, vectors
from pydantic import SecretStr

from backends.embeddings import WordLlama
from backends.embeddings.minilm import FILES, MiniLM
from backends.embeddings.openai_compatible import BATCH_CHARS, BATCH_TEXTS, TEXT_CHARS, OpenAIEmbeddings
from backends.embeddings.registry import embedder_for
from backends.errors import BadSettings, EmbeddingsUnavailable
from backends.settings import EmbeddingSettings

KEY = "sk-sesame-4711"
HELD = Path(ONNXMiniLM_L6_V2.DOWNLOAD_PATH) / ONNXMiniLM_L6_V2.EXTRACTED_FOLDER_NAME


@pytest.fixture
def endpoint() -> Iterator[StandIn]:
    with standing_in() as stand_in:
        yield stand_in


def served(endpoint: StandIn, **changed: Any) -> OpenAIEmbeddings:
    given: dict[str, Any] = {
        "base_url": endpoint.url, "api_key": SecretStr(KEY), "timeout_s": 2, "backoff_s": 0.01, "rest_s": 0,
    }  # fmt: skip
    return OpenAIEmbeddings("m", **{**given, **changed})


def unit(text: str) -> Any:
    return np.asarray(vector(text)) / np.linalg.norm(vector(text))


# -- behind an endpoint ----------------------------------------------------------------------------------------


def test_rows_are_unit_vectors_in_order_and_blank_texts_are_not_sent(endpoint: StandIn) -> None:
    texts = ["a long text on valves", "", "pump", " \n ", "valve"]
    rows = served(endpoint).embed(texts)
    assert rows.dtype == np.float32
    for row, text in zip(rows, texts, strict=True):
        np.testing.assert_allclose(row, unit(text) if text.strip() else np.zeros(DIMENSION), rtol=1e-6)
    assert sorted(endpoint.texts()) == sorted(t for t in texts if t.strip())
    assert endpoint.paths == ["/v1/embeddings"]
    assert endpoint.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_nothing_is_sent_before_it_is_needed_and_the_dimension_is_learnt_once(endpoint: StandIn) -> None:
    embedder = served(endpoint)
    assert (embedder.name, embedder.embed([]).shape, endpoint.sent) == ("openai/m", (0, 0), [])
    assert embedder.dimension == DIMENSION
    assert embedder.embed([" "]).shape == (1, DIMENSION)
    assert len(endpoint.sent) == 1
    assert "dimensions" not in endpoint.sent[0]


def test_a_dimension_that_is_set_is_asked_for_and_named(endpoint: StandIn) -> None:
    embedder = served(endpoint, dimension=DIMENSION)
    assert (embedder.name, embedder.dimension, endpoint.sent) == (f"openai/m/{DIMENSION}", DIMENSION, [])
    embedder.embed(["pump"])
    assert endpoint.sent[0]["dimensions"] == DIMENSION


def test_rows_follow_the_index_of_the_reply(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(body=lambda texts: {"data": vectors(texts)["data"][::-1]})]
    rows = served(endpoint).embed(["a", "bb", "ccc"])
    np.testing.assert_allclose(rows, [unit("a"), unit("bb"), unit("ccc")], rtol=1e-6)


def test_a_reply_without_indexes_is_taken_in_order(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(body=lambda texts: {"data": [{"embedding": vector(t)} for t in texts]})]
    np.testing.assert_allclose(served(endpoint).embed(["a", "bb"]), [unit("a"), unit("bb")], rtol=1e-6)


def test_batches_are_bounded_and_long_texts_cut(endpoint: StandIn) -> None:
    embedder = served(endpoint)
    rows = embedder.embed([*(["pump"] * (BATCH_TEXTS + 1)), *("v" * 20_000 for _ in range(9)), "caf\udce9"])
    assert len(rows) == BATCH_TEXTS + 11
    assert len(endpoint.sent[0]["input"]) == BATCH_TEXTS
    assert all(sum(map(len, request["input"])) <= BATCH_CHARS for request in endpoint.sent)
    assert max(map(len, endpoint.texts())) == TEXT_CHARS
    assert "caf?" in endpoint.texts()


def test_a_zero_vector_stays_one(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(body=lambda texts: {"data": [{"index": 0, "embedding": [0.0] * 4}]})]
    assert not served(endpoint).embed(["?"]).any()


@pytest.mark.parametrize("first", [Reply(429), Reply(500), Reply(503, headers={"Retry-After": "0"}), Reply(cut=True)])
def test_what_may_pass_is_tried_again(endpoint: StandIn, first: Reply) -> None:
    endpoint.replies = [first, Reply()]
    np.testing.assert_allclose(served(endpoint).embed(["pump"])[0], unit("pump"), rtol=1e-6)
    assert len(endpoint.sent) == 2


def test_a_hang_is_tried_again_within_the_time(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(after_s=5), Reply()]
    begun = time.monotonic()
    assert served(endpoint, timeout_s=0.8).embed(["pump"]).any()
    assert time.monotonic() - begun < 0.8


def test_retry_after_is_waited_for(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(429, headers={"Retry-After": "1"}), Reply()]
    begun = time.monotonic()
    served(endpoint, timeout_s=4).embed(["pump"])
    assert time.monotonic() - begun >= 1


def test_retry_after_past_the_time_is_told_not_waited_for(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(429, headers={"Retry-After": "3600"})]
    begun = time.monotonic()
    with pytest.raises(EmbeddingsUnavailable, match="Try again in 3600 s"):
        served(endpoint).embed(["pump"])
    assert time.monotonic() - begun < 1
    assert len(endpoint.sent) == 1


def data_of(*rows: Any) -> Any:
    return lambda _: {"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}


FAULTS = {
    "no key accepted": (Reply(401), 1, "OPENAI_API_KEY"),
    "forbidden": (Reply(403), 1, "OPENAI_API_KEY"),
    "not taken": (Reply(400), 1, "texts this long"),
    "unknown model": (Reply(404), 1, "PERQUIRE_EMBEDDINGS__MODEL"),
    "elsewhere": (Reply(302, headers={"Location": "http://127.0.0.1:9/"}), 1, "HTTP 302"),
    "down": (Reply(500), 4, "HTTP 500"),
    "too often": (Reply(429), 4, "Try again in a minute"),
    "hangs": (Reply(after_s=5), 2, "did not come within 0.4 s"),
    "cut": (Reply(cut=True), 4, "cannot be reached"),
    "a page": (Reply(body=lambda _: b"<html>Bearer sk-sesame-4711</html>"), 1, "no vectors"),
    "a list": (Reply(body=lambda _: [1]), 1, "no vectors"),
    "no data": (Reply(body=lambda _: {"error": KEY}), 1, "no vectors"),
    "too few": (Reply(body=data_of([1.0, 2.0])), 1, "vectors for 1 texts where 2 were sent"),
    "too many": (Reply(body=data_of([1.0], [1.0], [1.0])), 1, "vectors for 3 texts where 2 were sent"),
    "twice the same": (Reply(body=lambda _: {"data": [{"index": 0, "embedding": [1.0]}] * 2}), 1, "vectors for 2"),
    "ragged": (Reply(body=data_of([1.0, 2.0], [1.0])), 1, "no vectors"),
    "text": (Reply(body=data_of("AACAPw==", "AACAPw==")), 1, "no vectors"),
    "tokens": (Reply(body=data_of([[1.0, 2.0]], [[1.0, 2.0], [3.0, 4.0]])), 1, "vectors of single tokens"),
    "empty": (Reply(body=data_of([], [])), 1, "no vectors"),
    "nan": (Reply(body=data_of([float("nan"), 1.0], [1.0, 1.0])), 1, "hold no numbers"),
    "null": (Reply(body=data_of([None, 1.0], [1.0, 1.0])), 1, "hold no numbers"),
    "too large": (Reply(body=data_of([1e300, 1.0], [1.0, 1.0])), 1, "hold no numbers"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_sentences_without_key_or_reply(
    endpoint: StandIn, fault: str, caplog: pytest.LogCaptureFixture
) -> None:
    reply, tries, says = FAULTS[fault]
    if reply.status != 200:
        reply.body = lambda _: {"error": f"wrong key {KEY}"}
    endpoint.replies = [reply]
    embedder = served(endpoint, timeout_s=0.4 if fault == "hangs" else 2)
    with caplog.at_level(logging.DEBUG), pytest.raises(EmbeddingsUnavailable, match=says) as caught:
        embedder.embed(["pump", "valve"])
    assert len(endpoint.sent) == tries
    host = f"127.0.0.1:{endpoint.server.server_port}"
    assert host in str(caught.value)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(vars(embedder))
    assert KEY not in shown + caplog.text
    assert "<html>" not in shown
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_another_dimension_than_before_is_refused(endpoint: StandIn) -> None:
    embedder = served(endpoint)
    embedder.embed(["pump"])
    endpoint.replies = [Reply(body=data_of([1.0, 2.0]))]
    with pytest.raises(EmbeddingsUnavailable, match="2 dimensions where 8 are expected"):
        embedder.embed(["valve"])


def test_an_endpoint_that_is_down_is_left_alone_for_a_while(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(500), Reply(500), Reply(500), Reply(500), Reply()]
    embedder = served(endpoint, rest_s=0.3)
    messages = []
    for _ in range(2):
        with pytest.raises(EmbeddingsUnavailable) as caught:
            embedder.embed(["pump"])
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert len(endpoint.sent) == 4
    time.sleep(0.3)
    assert embedder.embed(["pump"]).any()


def test_nobody_listens() -> None:
    embedder = OpenAIEmbeddings("m", "http://127.0.0.1:9/v1", timeout_s=1, backoff_s=0.01)
    with pytest.raises(EmbeddingsUnavailable, match=r"127\.0\.0\.1:9: it cannot be reached. Check that it runs"):
        embedder.embed(["pump"])


def test_a_missing_key_is_asked_for(endpoint: StandIn) -> None:
    endpoint.replies = [Reply(401)]
    with pytest.raises(EmbeddingsUnavailable, match=r"need a key \(HTTP 401\). Set MY_KEY"):
        served(endpoint, api_key=None, key_name="MY_KEY").embed(["pump"])
    assert "Authorization" not in endpoint.headers[0]
    with pytest.raises(EmbeddingsUnavailable, match=r"api\.openai\.com need a key. Set OPENAI_API_KEY"):
        OpenAIEmbeddings("m").embed(["pump"])  # nothing was sent: a socket would have been blocked


@pytest.mark.parametrize("key", ["sk-ü", "sk-a\nb"])
def test_a_key_that_is_none(endpoint: StandIn, key: str) -> None:
    with pytest.raises(EmbeddingsUnavailable, match="Copy the key anew"):
        served(endpoint, api_key=SecretStr(key)).embed(["pump"])


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://host/v1", "http://[", "http:///v1"])
def test_a_base_url_that_is_none(url: str) -> None:
    with pytest.raises(EmbeddingsUnavailable, match="is not a URL"):
        OpenAIEmbeddings("m", url, SecretStr(KEY)).embed(["pump"])


def test_local_only_keeps_texts_on_this_machine(endpoint: StandIn) -> None:
    assert served(endpoint, local_only=True).embed(["pump"]).any()
    for url in ("https://models.example/v1", "http://localhost.example/v1", "http://127.0.0.1@models.example/v1"):
        with pytest.raises(EmbeddingsUnavailable, match=r"models\.example|localhost\.example") as caught:
            OpenAIEmbeddings("m", url, SecretStr(KEY), local_only=True).embed(["pump"])
        assert "local_only" in str(caught.value)


def test_what_is_meant_for_this_machine_passes_no_proxy(endpoint: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert served(endpoint).embed(["pump"]).any()


def test_a_login_in_the_url_is_sent_and_not_shown(endpoint: StandIn, caplog: pytest.LogCaptureFixture) -> None:
    endpoint.replies = [Reply(400)]
    url = endpoint.url.replace("http://", "http://me:sesame@") + "?version=1"
    with caplog.at_level(logging.DEBUG), pytest.raises(EmbeddingsUnavailable) as caught:
        served(endpoint, base_url=url, api_key=None).embed(["pump"])
    assert endpoint.headers[0]["Authorization"].startswith("Basic ")
    assert endpoint.paths == ["/v1/embeddings?version=1"]
    assert "sesame" not in str(caught.value) + caplog.text


# -- MiniLM ----------------------------------------------------------------------------------------------------


def test_minilm_without_its_files_says_where_they_belong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path / "models")
    embedder = MiniLM()
    assert (embedder.embed([" "]).shape, embedder.dimension) == ((1, 384), 384)
    with pytest.raises(EmbeddingsUnavailable, match=r"model\.onnx and tokenizer\.json not found in .*models/onnx"):
        embedder.embed(["pump"])
    assert list(tmp_path.iterdir()) == []  # and nothing was begun to be fetched


def test_minilm_with_damaged_files_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", tmp_path)
    (tmp_path / "onnx").mkdir()
    for name in FILES:
        (tmp_path / "onnx" / name).write_bytes(b"{}")
    with pytest.raises(EmbeddingsUnavailable, match="are damaged"):
        MiniLM().embed(["pump"])


class Encoded:
    def __init__(self, text: str, length: int) -> None:
        own = [ord(c) for c in text]
        self.ids = own + [0] * (length - len(own))
        self.attention_mask = [1] * len(own) + [0] * (length - len(own))


class Letters:
    """A tokenizer and a model in one: a token a letter, a token's vector is its number twice over and a 7."""

    def encode_batch(self, texts: list[str]) -> list[Encoded]:
        return [Encoded(text, max(map(len, texts))) for text in texts]

    def run(self, _: None, given: dict[str, Any]) -> list[Any]:
        ids = given["input_ids"].astype(np.float32)
        out = np.full((*ids.shape, 384), 7.0, dtype=np.float32)  # padding has vectors too: they must not count
        out[:, :, 0] = ids
        return [out]


def test_minilm_averages_what_is_no_padding_and_keeps_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backends.embeddings.minilm._load", lambda: (Letters(), Letters()))
    texts = ["zz", "", *("a" * n for n in range(40, 0, -1)), "ac"]
    rows = MiniLM().embed(texts)
    for row, text in zip(rows, texts, strict=True):
        mean = np.full(384, 7.0)
        mean[0] = np.mean([ord(c) for c in text]) if text else 0
        np.testing.assert_allclose(row, mean / np.linalg.norm(mean) if text else np.zeros(384), rtol=1e-5)


@pytest.mark.skipif(not all((HELD / name).is_file() for name in FILES), reason="MiniLM's files are not on this machine")
def test_minilm_gives_chromas_vectors() -> None:
    texts = ["The Q4 pump weighs 58 kg.", "How heavy is the pump?", "leave " * 400, "\ud83d odd", "x"]
    rows = MiniLM().embed([*texts, " "])
    own = np.asarray(ONNXMiniLM_L6_V2()([t.encode(errors="replace").decode() for t in texts]))
    np.testing.assert_allclose(rows[:-1], own, atol=1e-5)
    assert not rows[-1].any()
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


# -- by settings -----------------------------------------------------------------------------------------------


def test_each_kind_has_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:4711/v1")
    made = [embedder_for(EmbeddingSettings(kind=k, model="m")) for k in ("wordllama", "minilm", "openai")]
    assert [type(e) for e in made] == [WordLlama, MiniLM, OpenAIEmbeddings]
    assert [e.name for e in made] == ["wordllama/l2_supercat_256", "minilm/all-MiniLM-L6-v2", "openai/m"]
    assert isinstance(made[2], OpenAIEmbeddings)
    assert str(made[2].address) == "127.0.0.1:4711"
    with pytest.raises(BadSettings, match="PERQUIRE_EMBEDDINGS__MODEL"):
        embedder_for(EmbeddingSettings(kind="openai"))


def test_importing_and_making_a_library_touches_nothing(tmp_path: Path) -> None:
    """No file is opened for writing, no socket made, no settings read, no heavy package loaded."""
    script = (
        "import sys\n"
        "seen = []\n"
        "sys.addaudithook(lambda event, args: seen.append(args) if event.startswith('socket.') else None)\n"
        "from backends.library import Library, default_library\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: opened.append(args) if event in ('open', 'os.mkdir') else None)\n"
        "Library(); default_library()\n"
        "assert not opened, opened\n"
        "assert not [a for a in seen if a], seen\n"
        "assert not {'chromadb', 'onnxruntime', 'wordllama'} & set(sys.modules)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={"PYTHONPATH": str(root)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_embedder_leaves_the_logging_of_its_process_alone() -> None:
    code = (
        "import logging; from backends.embeddings import WordLlama; WordLlama().embed(['a pump']); "
        "root = logging.getLogger(); print(root.level, root.handlers)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "30 []"
