"""Fixed replies for what needs no evidence. Without a model nothing is invented: arithmetic is computed, the rest is said."""

from __future__ import annotations

from graph.state import Draft
from retrieval.arithmetic import compute
from retrieval.words import language_of

_GREETING = {
    "de": "Hallo. Fragen Sie etwas zu Ihren Dokumenten; ich antworte mit Belegen oder sage, was fehlt.",
    "fr": "Bonjour. Posez une question sur vos documents ; je réponds avec des sources ou je dis ce qui manque.",
    "es": "Hola. Pregunte algo sobre sus documentos; respondo con citas o digo qué falta.",
    "en": "Hello. Ask something about your documents: I answer with citations, or say what is missing.",
}
_IDENTITY = (
    "I am Perquire. I answer questions over the documents of this workspace: I plan how to search for each question, cite "
    "the passages that answer it, and say so when they do not. `perquire sources` lists what I hold."
)
_REWORD = (
    "That needs a language model, and none is configured. I can look things up in your documents: ask what they say about "
    "something."
)
_REFUSE = "I cannot do that: I answer questions from the documents of this workspace, and nothing else is in reach."


def reply(question: str, kind: str | None) -> Draft:
    """The reply by kind of small talk; a request outside the job is declined in a sentence."""
    if kind == "refuse":
        return {"answer": _REFUSE, "status": "abstained", "citations": [], "missing": []}
    if kind == "arithmetic":
        return {"answer": compute(question) or "", "status": "answered", "citations": [], "missing": []}
    if kind == "greeting":
        language = language_of(question)
        return {
            "answer": _GREETING.get(language, _GREETING["en"]),
            "status": "answered",
            "citations": [],
            "missing": [],
        }
    return {
        "answer": _REWORD if kind == "reword" else _IDENTITY, "status": "answered", "citations": [], "missing": [],
    }  # fmt: skip
