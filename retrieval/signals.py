"""Signals of whether passages answer a question, by code alone, and the sentences that carry them.

What carried over between corpora in trials: idf-weighted coverage of the question in its best sentence, the rarest
word that is missing, dense similarity. Raw fusion scores are never read as evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.sentences import sentences
from retrieval.tokenise import clause_names, content_terms, term_set, tokenise
from retrieval.types import Passage
from retrieval.words import STOP_WORDS, function_words, language_of

# Words that say how the question is asked, not what it is about: they need not stand in an answer.
ASKING = frozenset(
    content_terms(
        """many much long often far old big high number name list mean meaning say says said tell explain describe
        summarise compare contrast difference differ change changed happen happened rule apply applies kind kinds
        type types thing things way current currently now valid today document documents file files section
        article clause policy please quickly soon still ever already allowed permitted belong belongs force
        exactly cost costs price prices fee fees charge charges pay different exist existing possible contain
        contains phrase written mention mentions stand stands need needs needed make made use used take takes
        work works"""
    )
)

ABOVE_CREDIT = 0.7  # ⚙ a term that stands in the sentence's title or headings counts this much
AROUND_CREDIT = 0.35  # ⚙ and one that stands elsewhere in its passage this much
_KANA = re.compile(r"[\u3040-\u309f]")  # hiragana: grammar, mostly


@dataclass(frozen=True)
class Candidate:
    """A sentence that may answer. `coverage` is the share of the question's weight that it holds, with its context."""

    passage: int
    text: str
    coverage: float
    own: float
    similarity: float
    score: float


def weights(question: str, idf: Mapping[str, float]) -> dict[str, float]:
    """Weight of each term that an answer should hold: its idf. Words of asking and of grammar count little or nothing."""
    grammar = function_words(language_of(question))
    light_halves = _light_halves(question)
    measured = {
        t for word in re.findall(r"\bhow (\w+)", question, re.I) for t in tokenise(word)
    }  # "how heavy": "58 kg"
    out: dict[str, float] = {}
    for term in content_terms(question):
        if term in grammar:
            continue
        light = term in ASKING or term in light_halves or term in measured or _KANA.search(term)
        out[term] = idf.get(term, 1.0) * (0.2 if light else 1.0)
    return out


def _light_halves(question: str) -> set[str]:
    """What is said twice by a compound: the whole of "berth-fee", the parts of "KX-310"."""
    out: set[str] = set()
    for compound in re.findall(r"[^\W_]+(?:[-_/][^\W_]+)+", question):
        whole, *parts = [*tokenise(compound), ""]
        natural = any(len(p) >= 3 and p.isalpha() and p.islower() for p in re.split(r"[-_/]", compound))
        out.update({whole} if natural else set(parts))
    return out - {""}


def candidates(
    question: str, passages: Sequence[Passage], weight: Mapping[str, float], similarity: Mapping[str, float]
) -> list[Candidate]:
    """Every sentence of the passages with its scores, best first. `similarity` is the cosine by sentence, else 0."""
    total = sum(weight.values()) or 1.0
    wants = answer_shape(question)
    anchor = {t for t in weight if any(c.isdigit() for c in t) and not t.isdigit()}
    out: list[Candidate] = []
    for index, passage in enumerate(passages):
        above = term_set(" ".join([passage["title"], *passage["heading"]]))
        around = held_terms(passage)
        lines = sentences(passage["text"])
        for text in lines:
            terms = term_set(text).union(clause_names(passage["title"], passage["heading"], text))
            own = sum(w for t, w in weight.items() if t in terms) / total
            context = (
                sum(
                    w * (ABOVE_CREDIT if t in above else AROUND_CREDIT)
                    for t, w in weight.items()
                    if t in around and t not in terms
                )
                / total
            )
            cosine = similarity.get(text, 0.0)
            coverage = own + context
            shape = 0.12 if wants and wants.search(_without_echo(text, question)) else 0.0
            short = -0.25 if len(text.split()) < 3 and not re.search(r"[|:\d]", text) else 0.0
            heading = -0.2 if passage["heading"] and text.strip() == passage["heading"][-1] else 0.0
            header = -0.4 if " | " in text and text == next(t for t in lines if " | " in t) else 0.0
            question_mark = -0.15 if text.rstrip().endswith("?") else 0.0
            stray = -0.35 if anchor and not anchor & (terms | above) else 0.0  # not about the code that was asked for
            defines = 0.2 if anchor & _opening(text) else 0.0
            score = (
                own
                + 0.7 * context
                + 0.35 * cosine
                + shape
                + defines
                + stray
                + short
                + heading
                + header
                + question_mark
                - 0.015 * index
            )
            out.append(Candidate(index, text, coverage, own, cosine, score))
    return sorted(out, key=lambda c: -c.score)


def _opening(text: str) -> frozenset[str]:
    """The terms that a sentence begins with, as one does that says what something is ("QX-20: lid open")."""
    words = text.split()[:2]
    return frozenset() if not words or words[0].casefold() in STOP_WORDS else term_set(" ".join(words))


def held_terms(passage: Passage) -> frozenset[str]:
    """Every term of a passage, its title and headings."""
    above = term_set(" ".join([passage["title"], *passage["heading"]]))
    return above | term_set(passage["text"]) | set(clause_names(passage["title"], passage["heading"], passage["text"]))


def shortlist(question: str, passages: Sequence[Passage], weight: Mapping[str, float], most: int) -> list[str]:
    """The sentences that are worth a closer look, by their words, and the opening one of each passage."""
    ranked = [c.text for c in candidates(question, passages, weight, {})]
    openings = [text for p in passages[:4] for text in sentences(p["text"])[:1]]
    return list(dict.fromkeys([*ranked[:most], *openings]))


_MONEY = re.compile(
    r"[€£$¥]\s?\d|\d[\d.,]*\s?(?:[€£$¥]|[A-Z]{3}\b|euros?\b|pounds?\b|dollars?\b|cents?\b|pence\b|p\b|crowns?\b|per ?cent|%)"
    r"|\b(?:free|no (?:charge|fee|cost)|gratis)\b",
    re.I,
)
_SHAPES = (
    (re.compile(r"\bhow much\b.{0,60}\b(?:costs?|pay|paid|charged?|price|fee|fare)\b"
                r"|\bwhat (?:does|do|did|will|would)\b.{0,60}\bcost\b"
                r"|\bwhat (?:is|are|was|were) the (?:\w+ ){0,3}(?:price|costs?|fee|fare|charge|tariff)\b", re.I),
     _MONEY),
    (re.compile(r"\b(how (?:many|much|long|far|often|high|deep|heavy|old|big|fast|quickly)|what (?:is|are) the .{0,40}"
                r"(?:number|limit|rate|price|fee|cost|period|deadline|maximum|minimum|height|weight|speed|size))\b", re.I),
     re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|once|twice|half)\b", re.I)),
    (re.compile(r"\b(when|what (?:date|time|day|year)|until when|by when|since when)\b", re.I),
     re.compile(r"\b(?:\d{4}|\d{1,2}:\d{2}|\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|"
                r"November|December)|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|spring|autumn|daily)\b", re.I)),
    (re.compile(r"\bwho(?:se|m)?\b", re.I), re.compile(r"\b[A-Z][\w'’-]+ [A-Z][\w'’-]+|\b(?:head|lead|director|manager|"
                r"officer|team|board|committee|chair\w*|keeper|owner|author)\b")),
    (re.compile(r"\bwhy\b", re.I), re.compile(r"\b(?:because|since|so that|due to|reason|therefore|in order to|as )\b", re.I)),
)  # fmt: skip


def answer_shape(question: str) -> re.Pattern[str] | None:
    """What an answer to this kind of question usually looks like: a number, a date, a person, a reason."""
    return next((shape for asks, shape in _SHAPES if asks.search(question)), None)


def _shape(ranked: Sequence[Candidate], best: float, question: str) -> float:
    """Does a sentence that covers the question nearly as well as the best have the shape of an answer?

    1 yes; 0 no, where an amount of money is asked (code can be certain of that); 0.6 no, for the other shapes.
    """
    wants = answer_shape(question)
    close = [c.text for c in ranked if c.coverage >= 0.8 * best]
    if wants is None or any(wants.search(_without_echo(text, question)) for text in close):
        return 1.0
    return 0.0 if wants is _MONEY else 0.6


def _without_echo(text: str, question: str) -> str:
    """The sentence without the words of the question, so that an echoed number is not taken for the answer."""
    asked = {w.casefold() for w in re.findall(r"\w+", question)}
    return re.sub(r"\w+", lambda m: "" if m.group().casefold() in asked else m.group(), text)


def evidence(
    question: str,
    ranked: Sequence[Candidate],
    passages: Sequence[Passage],
    weight: Mapping[str, float],
    corpus: Mapping[str, int],
) -> tuple[dict[str, float], list[str]]:
    """The signals of a set of passages (each 0 to 1), and the terms that none of them holds, heaviest first.

    `corpus` says in how many chunks each term stands.
    """
    total = sum(weight.values()) or 1.0
    held = {term for passage in passages for term in held_terms(passage)}
    missing = sorted((t for t in weight if t not in held), key=lambda t: -weight[t])
    best = max((c.coverage for c in ranked), default=0.0)
    heaviest = max(weight.values(), default=1.0)
    cosines = sorted((p["dense"] for p in passages if p["dense"] is not None), reverse=True)
    both = sum(1 for p in passages if len({leg.split(":")[0] for leg in p["ranks"]}) > 1)
    signals = {
        "best_sentence": min(1.0, best),
        "passages": 1.0 - sum(weight[t] for t in missing) / total,
        "rarest_missing": (weight[missing[0]] / heaviest) if missing else 0.0,
        "unknown_words": sum(w for t, w in weight.items() if not corpus.get(t)) / total,
        "dense_top": max(0.0, cosines[0]) if cosines else 0.0,
        "dense_top3": max(0.0, sum(cosines[:3]) / len(cosines[:3])) if cosines else 0.0,
        "agreement": both / len(passages) if passages else 0.0,
        "shape": _shape(ranked, best, question),
        "sources": len({p["source"] for p in passages}) / len(passages) if passages else 0.0,
    }
    return {k: round(v, 4) for k, v in signals.items()}, missing
