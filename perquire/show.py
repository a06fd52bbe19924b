"""What a person sees in the terminal, and the JSON that machines get."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from backends.catalog import Catalog
from backends.ingest import FileReport
from retrieval.types import Json, Manifest, Passage

if TYPE_CHECKING:
    from perquire.replay import Replay

MARKS = {"added": "+", "changed": "~", "unchanged": "=", "removed": "-", "failed": "!", "skipped": "?"}


def _say(text: str = "") -> None:
    typer.echo(text)


def _json(value: Any) -> None:
    typer.echo(json.dumps(value, ensure_ascii=False))


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def file_report(report: FileReport) -> None:
    """A line per file on what became of it, and a line for each thing that was lost."""
    parts = []
    if report.source_count > 1:
        parts.append(_counted(report.source_count, "source"))
    if report.chunks:
        parts.append(_counted(report.chunks, "chunk"))
    if report.tables:
        parts.append("table " + ", ".join(report.tables))
    if report.reason:
        parts.append(report.reason)
    name = report.sources[0] if report.source_count == 1 and report.sources else Path(report.path).name
    _say(f"{MARKS[report.outcome]} {report.outcome:<9} {name}  {' · '.join(parts)}".rstrip())
    for warning in report.warnings[:5]:
        _say(f"            {warning}")
    if len(report.warnings) > 5:
        _say(f"            and {len(report.warnings) - 5} more")


def ingest_summary(reports: Sequence[FileReport], workspace: Path, as_json: bool) -> None:
    counts = Counter(r.outcome for r in reports)
    if as_json:
        _json({"workspace": str(workspace), "outcomes": dict(counts), "files": [asdict(r) for r in reports]})
        return
    said = ", ".join(f"{n} {outcome}" for outcome, n in counts.items()) or "no file found"
    _say(f"{said} → {workspace}")


def removed(gone: Sequence[str], as_json: bool) -> None:
    if as_json:
        _json({"removed": list(gone)})
        return
    for source in gone:
        _say(f"- removed {source}")


def sources(manifest: Manifest, as_json: bool) -> None:
    if as_json:
        _json(manifest)
        return
    for profile in manifest["sources"]:
        counted = _counted(profile["chunks"], "chunk")
        _say(
            f"{profile['source']}  ({profile['kind']}, {_counted(profile['units'], 'unit')}, {counted})  {profile['title']}"
        )
        for warning in profile["warnings"]:
            _say(f"    {warning}")


def status(catalog: Catalog, as_json: bool) -> None:
    tables = [schema for schema, _ in catalog.tables().values()]
    report: Json = {
        "workspace": str(catalog.folder),
        "embedder": catalog.setting("embedder"),
        "generation": catalog.generation(),
        **{what: catalog.count(what) for what in ("files", "sources", "chunks")},
        "vectors_pending": catalog.count("outbox"),
        "tables": tables,
    }
    if as_json:
        _json(report)
        return
    _say(f"{report['workspace']}: {_counted(report['sources'], 'source')}, {_counted(report['chunks'], 'chunk')}, "
         f"{_counted(len(tables), 'table')}; vectors by {report['embedder']}")  # fmt: skip
    for table in tables:
        columns = ", ".join(f"{c['name']} {c['type']}" for c in table["columns"])
        _say(f"  table {table['name']} ({table['source']}): {_counted(table['rows'], 'row')}; {columns}")
        for assumption in table["assumptions"]:
            _say(f"      {assumption}")
    if report["vectors_pending"]:
        _say(f"  {report['vectors_pending']} entries wait for the vector store: the next ingest brings them in")


def doctor(findings: Sequence[Json], as_json: bool) -> None:
    if as_json:
        _json({"findings": list(findings)})
        return
    for finding in findings:
        _say(f"{finding['state']:<7} {finding['part']}: {finding['says']}")


def plan(decided: Json, as_json: bool) -> None:
    if as_json:
        _json(decided)
        return
    from nodes.plan import summary

    _say(f"plan    {summary(decided)}")  # type: ignore[arg-type]
    _say(f"level   {decided['level']} asked, {decided['effective_level']} within tier {decided['tier']}")
    _say(f"sure    {decided['confidence']:.2f} ({decided['planner']} planner, {decided['planning_ms']:.1f} ms)")
    for search in decided["searches"]:
        _say(f"search  {search['kind']}: {search['text'][:200]}  [{'+'.join(search['legs'])}, {search['depth']} deep]")
    price = decided["price"]
    tokens = f" (about {price['input_tokens']:,} + {price['output_tokens']:,} tokens)" if price["model_calls"] else ""
    money = f", {price['cost']:.4f} in money" if price["cost"] is not None else ""
    _say(f"price   {price['model_calls']} model calls{tokens}{money}, {price['searches']} searches before corrections")
    if decided["fallback"]:
        _say(f"fallback  {decided['fallback_reason']}")
    for note in decided["notes"]:
        _say(f"note    {note}")
    by: dict[str, list[str]] = {}
    for field, decision in decided["fields"].items():
        by.setdefault(decision["by"], []).append(field)
    for who, fields in by.items():
        _say(f"by {who:<13} {', '.join(fields)}")


def passages(found: Sequence[Passage], as_json: bool, warnings: Sequence[str] = ()) -> None:
    if as_json:
        _json({"passages": list(found), "warnings": list(warnings)})
        return
    if not found:
        _say("Nothing was found.")
    for n, p in enumerate(found, start=1):
        ranks = ", ".join(f"{leg} {rank}" for leg, rank in p["ranks"].items())
        _say(f"{n}. {p['source']}{' · ' + p['place'] if p['place'] else ''}  {p['score']:.4f} ({ranks})")
        _say(f"   {' '.join(p['text'].split())[:300]}")
    for warning in warnings:
        _say(f"warning   {warning}")


def _tokens(usage: Json) -> str:
    """Tokens and money of a receipt, where a model was asked."""
    if not usage["model_calls"]:
        return ""
    money = f" · {usage['cost']:.4f} in money" if usage["cost"] is not None else ""
    return f"{usage['input_tokens']:,} + {usage['output_tokens']:,} tokens{money} · "


def answer(result: Json, as_json: bool) -> None:
    """The plan in a line, the answer, its citations, the receipt."""
    if as_json:
        _json(result)
        return
    _decisions(result["plan"], result["corrections"])
    _say()
    _say(result["answer"])
    _evidence(result)


def streamed(events: Iterable[Json]) -> None:
    """What `answer` shows, each part as it comes; a model's text is said again where its check changed it."""
    text = ""
    for event in events:
        if "token" in event:
            if not text:
                _say()
            text += event["token"]
            typer.echo(event["token"], nl=False)
        elif event.get("event") == "plan":
            _decisions(event["plan"], [])
        elif event.get("event") == "correction":
            _decisions(None, [event])
        elif "result" in event:
            result = event["result"]
            if text:
                _say()
            if text.strip() != result["answer"].strip():
                _say("\nchecked against the passages:\n" if text else "")
                _say(result["answer"])
            _evidence(result)


def _decisions(plan: Json | None, corrections: Sequence[Json]) -> None:
    from nodes.plan import summary

    if plan:
        _say(f"plan      {summary(plan)}")  # type: ignore[arg-type]
    for correction in corrections:
        _say(f"corrected {correction['reason']}")


def _evidence(result: Json) -> None:
    """The citations and the receipt."""
    _say()
    for c in result["citations"]:
        date = f", retrieved {c['date']}" if c.get("date") else ""
        _say(f"[{c['id']}] {c['source']}{' · ' + c['place'] if c['place'] else ''}{date}")
    grade, usage = result["grade"], result["usage"]
    graded = f"evidence {grade['band']} (p {grade['probability']:.2f}, not calibrated here) · " if grade else ""
    _say(
        f"receipt   {result['status']} · {result['mode']} · {graded}{usage['model_calls']} model calls · {_tokens(usage)}"
        f"{usage['searches']} searches · {usage['ms']:.0f} ms"
    )
    for warning in result["warnings"]:
        _say(f"warning   {warning}")


def replay(again: Replay, as_json: bool) -> None:
    """Whether the answer object is the same, and each reason why not or what changed besides."""
    if as_json:
        _json({"same": again.same, **asdict(again)})
        return
    calls = _counted(again.calls, "recorded call")
    if again.same:
        _say(f"same      the answer object is equal ({calls}, durations left out)")
    for difference in again.differences:
        _say(f"differs   {difference}")
    for note in again.notes:
        _say(f"note      {note}")
