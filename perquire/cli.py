"""The command line. Imports are lazy: a command loads what it runs, nothing else."""

from __future__ import annotations

import gc
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from dotenv import load_dotenv

app = typer.Typer(
    help="Answers questions over your own documents: a plan for each, a cited answer or an honest abstention.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Workspace = Annotated[
    Path, typer.Option("--workspace", "-w", envvar="PERQUIRE_WORKSPACE", help="Folder of the workspace.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
DEFAULT = Path(".perquire")


@app.command()
def ingest(
    paths: Annotated[list[str], typer.Argument(help="Files, folders, globs, or .jsonl in BEIR form.")],
    workspace: Workspace = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Take files into the workspace; unchanged ones cost nothing, vanished ones go."""
    from backends.embeddings.choice import embedder_of
    from backends.ingest import FileReport, Ingestor, expand
    from backends.settings import load_settings
    from perquire import show

    def tell(report: FileReport) -> None:
        if not as_json:
            show.file_report(report)

    with _errors():
        expand(paths)  # a mistyped path makes no workspace
        reports = Ingestor(workspace, embedder_of(workspace, load_settings())).ingest(paths, tell)
        show.ingest_summary(reports, workspace, as_json)
        if reports and all(r.outcome in {"failed", "skipped"} for r in reports):
            raise typer.Exit(1)


@app.command()
def remove(
    sources: Annotated[list[str], typer.Argument(help="Names as `perquire sources` lists them.")],
    workspace: Workspace = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Take sources out: from vectors, BM25 and tables together."""
    from backends.catalog import Catalog
    from backends.ingest import Ingestor
    from perquire import show

    with _errors():
        Catalog(workspace)  # a workspace that is not there is an error, not a new one
        gone = Ingestor(workspace).remove(sources)
        show.removed(gone, as_json)


@app.command()
def sources(workspace: Workspace = DEFAULT, as_json: AsJson = False) -> None:
    """List the sources with their counts and warnings."""
    from backends.catalog import Catalog
    from perquire import show

    with _errors():
        show.sources(Catalog(workspace).manifest(max_sources=10**9), as_json)


@app.command()
def status(workspace: Workspace = DEFAULT, as_json: AsJson = False) -> None:
    """What the workspace holds: counts, tables, health."""
    from backends.catalog import Catalog
    from perquire import show

    with _errors():
        show.status(Catalog(workspace), as_json)


@app.command()
def doctor(workspace: Workspace = DEFAULT, as_json: AsJson = False) -> None:
    """Check every part, and say what is off and why."""
    from perquire import show
    from perquire.doctor import examine

    with _errors():
        findings = examine(workspace)
        show.doctor(findings, as_json)
        if any(f["state"] == "broken" for f in findings):
            raise typer.Exit(1)


Question = Annotated[str | None, typer.Argument(help="The question.", show_default=False)]
Questions = Annotated[
    Path | None, typer.Option("--questions", help="Rows {id, text, history?, scope?, …} as JSON lines.")
]
Out = Annotated[Path | None, typer.Option("--out", help="Where the rows go, one line a question.")]
TierOption = Annotated[str | None, typer.Option("--tier", help="fast, balanced or deep.")]
StrategyOption = Annotated[str | None, typer.Option("--strategy", help="How the search reaches the evidence.")]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", help="Passages sought.")]
ScopeOption = Annotated[list[str] | None, typer.Option("--scope", help="A source to stay within; may be repeated.")]
WebOption = Annotated[str | None, typer.Option("--web", help="allow, ask or deny.")]
NoPlan = Annotated[bool, typer.Option("--no-plan", help="The configured defaults alone decide.")]
Now = Annotated[str | None, typer.Option("--now", help="The clock, e.g. 2026-03-31.")]
Concurrency = Annotated[
    int, typer.Option("--concurrency", min=1, help="Questions side by side; 1 for a model that serves one at a time.")
]
LocalOnly = Annotated[
    bool, typer.Option("--local-only", help="Nothing leaves this machine: no web, no model or embeddings off loopback.")
]
Record = Annotated[Path | None, typer.Option("--record", help="Keep the run in this file, for `perquire replay`.")]
MaxRisk = Annotated[
    float | None, typer.Option("--max-risk", help="Accepted chance that the evidence does not suffice.")
]


def _options(**given: Any) -> dict[str, Any]:
    """The options that were said."""
    out = {k: v for k, v in given.items() if v not in (None, [])}
    if out.pop("no_plan", False):
        out["plan"] = False
    return out


@app.command()
def plan(
    question: Question = None,
    questions: Questions = None,
    out: Out = None,
    workspace: Workspace = DEFAULT,
    tier: TierOption = None,
    strategy: StrategyOption = None,
    top_k: TopK = None,
    scope: ScopeOption = None,
    web: WebOption = None,
    now: Now = None,
    as_json: AsJson = False,
) -> None:
    """Show the plan and its reasons; nothing is retrieved."""
    options = _options(tier=tier, strategy=strategy, top_k=top_k, scope=scope, web=web, now=now)
    with _errors():
        _one_of(question, questions, "--questions")
        agent = _agent(workspace)
        from perquire import batch, show

        if questions:
            batch.plan_rows(agent, questions, _needed(out, "--out"), options)
        else:
            show.plan(agent.plan(question or "", **options), as_json)


@app.command()
def search(
    question: Question = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Passages (8), or sources a query in a run (100).")] = None,
    queries: Annotated[Path | None, typer.Option("--queries", help="Rows {id, text} as JSON lines.")] = None,
    run: Annotated[Path | None, typer.Option("--run", help="Where the TREC run goes.")] = None,
    workspace: Workspace = DEFAULT,
    scope: ScopeOption = None,
    as_json: AsJson = False,
) -> None:
    """Retrieval alone: passages with source, place and score, or a TREC run by source."""
    with _errors():
        _one_of(question, queries, "--queries")
        from backends.library import Library
        from perquire import batch, show

        space = Library(workspace).workspace()
        pinned = space.resolve_scope(scope or [])
        if queries:
            batch.trec_run(space, queries, _needed(run, "--run"), k or 100, pinned)
        else:
            warnings: list[str] = []
            found = batch.search(space, question or "", k or 8, pinned, warnings=warnings)
            show.passages(found, as_json, warnings)


@app.command()
def ask(
    question: Question = None,
    questions: Questions = None,
    out: Out = None,
    concurrency: Concurrency = 4,
    workspace: Workspace = DEFAULT,
    tier: TierOption = None,
    strategy: StrategyOption = None,
    top_k: TopK = None,
    scope: ScopeOption = None,
    web: WebOption = None,
    no_plan: NoPlan = False,
    max_risk: MaxRisk = None,
    now: Now = None,
    record: Record = None,
    local_only: LocalOnly = False,
    as_json: AsJson = False,
) -> None:
    """The whole graph: the plan in a line, the answer, its citations, the receipt."""
    options = _options(
        tier=tier,
        strategy=strategy,
        top_k=top_k,
        scope=scope,
        web=web,
        no_plan=no_plan,
        max_risk=max_risk,
        now=now,
    )
    with _errors():
        _one_of(question, questions, "--questions")
        if questions and record:
            _wrong_usage("--record keeps one run: give it with a question, not with --questions.")
        agent = _agent(workspace, local_only)
        from perquire import batch, show

        if questions:
            batch.ask_rows(agent, questions, _needed(out, "--out"), options, concurrency)
        elif record:
            from perquire import replay as recording

            show.answer(dict(recording.record(agent, question or "", options, record)), as_json)
        elif sys.stdout.isatty() and not as_json:
            show.streamed(agent.stream(question or "", **options))
        else:
            show.answer(agent.ask(question or "", **options), as_json)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="What `perquire ask --record FILE` wrote.")],
    workspace: Annotated[
        Path | None,
        typer.Option("--workspace", "-w", help="Compare its index with that of then. [default: the folder used then]"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a recording again, offline, and compare; exit 1 where the answer differs, with the reason."""
    with _errors():
        from perquire import replay as recording
        from perquire import show

        again = recording.replay(file, workspace)
        show.replay(again, as_json)
        if not again.same:
            raise typer.Exit(1)


def _agent(workspace: Path, local_only: bool = False) -> Any:
    from perquire.agent import Agent

    if not local_only:
        return Agent(workspace)
    from backends.library import Library
    from backends.settings import load_settings

    return Agent(workspace, Library(workspace, settings=load_settings(local_only=True)))


def _one_of(question: str | None, file: Path | None, option: str) -> None:
    if (question is None) == (file is None):
        _wrong_usage(f"Give either a question or {option} FILE.")
    if question is not None and not question.strip():
        _wrong_usage("The question is empty: ask something in words.")
    if file is not None and not file.is_file():
        _wrong_usage(f"There is no file {file}: check the path.")


def _needed(value: Path | None, option: str) -> Path:
    if value is None:
        _wrong_usage(f"Say where the rows go: {option} FILE.")
    return value


def _wrong_usage(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(2)


@contextmanager
def _errors() -> Iterator[None]:
    """An error meant for a person is one sentence on standard error; exit 2 for wrong usage, 1 for the rest."""
    from backends.errors import BadRequest, PerquireError

    try:
        yield
    except PerquireError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2 if isinstance(error, BadRequest) else 1) from None
    except OSError as error:  # a file of the caller's that cannot be opened or written
        if error.filename is None:
            raise
        typer.echo(f"{error.filename}: {error.strerror}. Check the path.", err=True)
        raise typer.Exit(1) from None


def main() -> None:
    """The console script."""
    load_dotenv(Path(".env"))
    logging.getLogger("httpx").setLevel(logging.WARNING)  # a library turns its line per request on
    gc.set_threshold(100_000)  # imports make no garbage, but looking for it costs a third of a cold start
    try:
        app()
    except BrokenPipeError:  # the reader of a pipe has left
        sys.stderr.close()


if __name__ == "__main__":
    main()
