"""`make demo`: takes the demo corpus in and asks four questions that end differently."""

from __future__ import annotations

from pathlib import Path

from backends.embeddings import WordLlama
from backends.ingest import Ingestor
from perquire import show
from perquire.agent import Agent

HERE = Path(__file__).resolve().parent
WORKSPACE = Path(".demo")
QUESTIONS = {
    "an exact look-up": "What does DW-4107 mean, and how many times may I retry?",
    "a vague question": "Somebody is alone on the hill at night, what must they do?",
    "a comparison": "How do the charges for a late return differ between version 1 and version 2 of the loan policy?",
    "one that the corpus cannot answer": "What does it cost to park at the observatory?",
}


def main() -> None:
    reports = Ingestor(WORKSPACE, WordLlama()).ingest([HERE / "corpus"], show.file_report)
    show.ingest_summary(reports, WORKSPACE, as_json=False)
    agent = Agent(WORKSPACE)
    for kind, question in QUESTIONS.items():
        print(f"\n── {kind} {'─' * max(0, 90 - len(kind))}\n{question}\n")
        show.answer(dict(agent.ask(question)), as_json=False)


if __name__ == "__main__":
    main()
