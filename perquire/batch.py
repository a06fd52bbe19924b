"""Many questions in one process: rows in, rows out, in order; resumable where an answer costs something."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from backends.errors import BadRequest, EmbeddingsUnavailable, PerquireError
from backends.workspace import Filters, Workspace
from graph.options import Options
from nodes.strategies.hybrid import without_dense
from perquire.agent import CONCURRENT, Agent
from perquire.output import writable, write_lines
from retrieval.fuse import convex_combination
from retrieval.types import Json, Passage

DEPTH_FACTOR = 4  # chunks searched for each source sought, since several may come from one source


def rows_of(file: Path) -> Iterator[tuple[str, str, Json]]:
    """(id, text, options) of each line; unknown keys are ignored. Raises BadRequest that names the line."""
    seen: set[str] = set()
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError:
        raise BadRequest(f"{file} is not UTF-8: save it as UTF-8.") from None
    for n, line in enumerate(lines, start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except json.JSONDecodeError as error:
                raise BadRequest(f"{file}, line {n}: not JSON ({error.msg}).") from None
            except RecursionError:
                raise BadRequest(f"{file}, line {n}: nested too deeply to be a question.") from None
            text = row.get("text", row.get("question")) if isinstance(row, dict) else None
            if not isinstance(text, str):
                raise BadRequest(f'{file}, line {n}: a row needs "id" and "text".')
            options = {k: v for k, v in row.items() if k in Options.model_fields and v is not None}
            row_id = next((str(row[key]) for key in ("id", "_id") if row.get(key) is not None), f"line-{n}")
            if row_id in seen:
                raise BadRequest(f'{file}, line {n}: the id "{row_id}" occurs twice; give each row its own.')
            seen.add(row_id)
            yield row_id, text.encode(errors="replace").decode(), options


def ask_rows(agent: Agent, questions: Path, out: Path, options: Json, concurrency: int = CONCURRENT) -> None:
    """Answers each row; what `out` already holds of them is kept and not asked again, but for what failed.

    Raises BadRequest, before anything is asked, where `out` holds something else: it would be lost.
    """
    rows = list(rows_of(questions))
    out = writable(out)
    done = _done(out, {row_id: text for row_id, text, _ in rows})
    todo = [row for row in rows if row[0] not in done]
    with out.open("a", encoding="utf-8") as sink:
        for start in range(0, len(todo), concurrency):
            part = todo[start : start + concurrency]
            answers = agent.ask_many(((text, {**own, **options}) for _, text, own in part), concurrency)
            for (row_id, text, _), answer in zip(part, answers, strict=True):
                body: Json = (
                    {"question": text, "answer": "", "status": "failed", "warnings": [str(answer)]}
                    if isinstance(answer, PerquireError)
                    else dict(answer)
                )
                done[row_id] = json.dumps({"id": row_id, **body}, ensure_ascii=False)
                sink.write(done[row_id] + "\n")
                sink.flush()
    write_lines(out, [done[row_id] for row_id, _, _ in rows])


def plan_rows(agent: Agent, questions: Path, out: Path, options: Json) -> None:
    out = writable(out)
    lines = []
    for row_id, text, own in rows_of(questions):
        body: Json
        try:
            body = {"plan": agent.plan(text, **{**own, **options})}
        except BadRequest as error:
            body = {"plan": None, "error": str(error)}
        lines.append(json.dumps({"id": row_id, **body}, ensure_ascii=False))
    write_lines(out, lines)


def search(
    workspace: Workspace,
    query: str,
    k: int,
    scope: list[str],
    depth: int | None = None,
    warnings: list[str] | None = None,
) -> list[Passage]:
    """Plain hybrid retrieval: BM25 and dense neighbours, fused by score.

    Where the embedding model is away, the words alone are searched and `warnings` gets the reason; without a list to
    tell it, EmbeddingsUnavailable is raised: what is measured must not change under way.
    """
    filters = Filters(tuple(scope))
    depth = depth or max(50, k * DEPTH_FACTOR)
    sparse = dict(workspace.search_sparse(query, depth, filters))
    try:
        dense = dict(workspace.search_dense(query, depth, filters))
    except EmbeddingsUnavailable as error:
        if warnings is None:
            raise
        warnings.append(without_dense(error))
        dense = {}
    legs = {"sparse": sparse, "dense": dense}
    fused = convex_combination(sparse, dense)[:k]
    texts = workspace.passages([n for n, _ in fused])
    ranks = {name: {n: r for r, n in enumerate(hits, start=1)} for name, hits in legs.items()}
    out: list[Passage] = []
    for n, score in fused:
        own = {leg: ranks[leg][n] for leg in legs if n in ranks[leg]}
        out.append({**texts[n], "score": score, "sparse": sparse.get(n), "dense": dense.get(n), "ranks": own})
    return out


def trec_run(workspace: Workspace, queries: Path, run: Path, k: int, scope: list[str]) -> None:
    """A TREC run by source: each source stands where its best chunk stands, at most k a query."""
    run = writable(run)
    lines = []
    for row_id, text, _ in rows_of(queries):
        best: dict[str, float] = {}
        for passage in search(workspace, text, k * DEPTH_FACTOR, scope, depth=k * DEPTH_FACTOR):
            best.setdefault(passage["source"], passage["score"])
        for rank, (source, score) in enumerate(list(best.items())[:k], start=1):
            lines.append(f"{_word(row_id)} Q0 {_word(source)} {rank} {score:.6f} perquire")
    write_lines(run, lines)


def _word(name: str) -> str:
    """A name in a TREC run, whose fields are split at white space."""
    return "%20".join(name.split())


def _done(out: Path, asked: Mapping[str, str]) -> dict[str, str]:
    """Lines that a run before this one finished, by id; a last line that a crash cut off, and what failed, is left out."""
    done: dict[str, str] = {}
    another = "name another file, or remove it"
    if not out.exists():
        return done
    lines = out.read_bytes().split(b"\n")  # a line may be cut off within a letter
    for n, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        try:
            line = raw.decode()
            row = json.loads(line)
            row_id, question, status = row["id"], row["question"], row["status"]
        except (ValueError, KeyError, TypeError, RecursionError):
            if n == len(lines) and raw.startswith(b'{"id": '):  # a whole line ends with a line feed
                continue
            raise BadRequest(f"{out}, line {n} is no answer: {another}.") from None
        if asked.get(row_id, "").strip() != question.strip():
            what = "answers another question" if row_id in asked else "is not asked"
            raise BadRequest(f'{out}, line {n}: "{row_id}" {what} in the questions that are given: {another}.')
        if status != "failed":
            done[row_id] = line
    return done
