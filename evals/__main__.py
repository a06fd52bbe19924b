"""`make eval`: retrieval on every evaluation set that has judgements (nDCG@10 and recall@10, with intervals)."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from pathlib import Path

import ir_measures
from ir_measures import R, nDCG

from backends.embeddings import WordLlama
from backends.ingest import Ingestor
from backends.library import Library
from perquire.batch import trec_run

RESAMPLES = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(prog="evals", description=__doc__)
    parser.add_argument("sets", nargs="*", help="Names of sets; all that have qrels.tsv, if none.")
    parser.add_argument("--data", type=Path, default=os.environ.get("PERQUIRE_EVAL_DATA"))
    args = parser.parse_args()
    if args.data is None or not args.data.is_dir():
        parser.exit(1, "No evaluation data: give its folder with --data or PERQUIRE_EVAL_DATA.\n")
    for folder in sorted(args.data.iterdir()):
        fits = (folder / "qrels.tsv").exists() and (folder / "corpus.jsonl").exists()
        if fits and (not args.sets or folder.name in args.sets):
            print(f"{folder.name:<16} {_retrieval(folder)}", flush=True)


def _retrieval(folder: Path) -> str:
    with tempfile.TemporaryDirectory() as base:
        workspace, run = Path(base, "workspace"), Path(base, "run.trec")
        (report,) = Ingestor(workspace, WordLlama()).ingest([folder / "corpus.jsonl"])
        if report.outcome != "added":
            raise SystemExit(f"{folder.name} was not taken in: {report.reason}")
        trec_run(Library(workspace).workspace(), folder / "queries.jsonl", run, 100, [])
        lines = (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
        qrels = [ir_measures.Qrel(q, d, int(float(g))) for q, d, g in (line.split("\t") for line in lines)]
        judged = {q.query_id for q in qrels}
        entries = ir_measures.read_trec_run(str(run))  # type: ignore[no-untyped-call]
        scored = [s for s in entries if s.query_id in judged]
    return "  ".join(_with_interval(measure, qrels, scored) for measure in (nDCG @ 10, R @ 10))


def _with_interval(
    measure: ir_measures.Measure, qrels: list[ir_measures.Qrel], run: list[ir_measures.ScoredDoc]
) -> str:
    """Mean over the questions, and its 95 % bootstrap interval."""
    values = [m.value for m in ir_measures.iter_calc([measure], qrels, run)]
    draw = random.Random(7)
    means = sorted(sum(draw.choices(values, k=len(values))) / len(values) for _ in range(RESAMPLES))
    low, high = means[int(0.025 * RESAMPLES)], means[int(0.975 * RESAMPLES)]
    return f"{measure} {sum(values) / len(values):.3f} ({low:.3f}–{high:.3f}, n {len(values)})"


if __name__ == "__main__":
    main()
