"""What code alone can tell of a question: counts, quotes, identifiers, shapes. Nothing here knows a particular question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from retrieval.tokenise import content_terms
from retrieval.types import Turn
from retrieval.words import NUMBER_WORDS

_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,200})[\"”“»]")
_IDENTIFIER = re.compile(
    r"\b(?=[\w.-]*\d)(?=[\w.-]*[A-Za-z])[A-Za-z0-9]+(?:[-_.][A-Za-z0-9]+)*\b"  # KX-410, R1, v2.3, MS17-010
    r"|(?:§|[Ss]ection|[Cc]lause|[Aa]rticle|[Aa]rt\.)\s?\d+(?:\.\d+[A-Z]{0,3})*(?:\s?\([a-z0-9]{1,3}\))*"
    r"|\b\d+(?:\.\d+){2,}\b"
    r"|\b[a-z]+[A-Z][A-Za-z]+\b|\b[a-z]+(?:_[a-z]+)+\b"
)
_COUNT = re.compile(
    r"\b(?:list|name|give(?: me| us)?|show(?: me)?|find|tell me|mention|top|first)\b[^.?!]{0,20}?\b(\d{1,2}|"
    + "|".join(NUMBER_WORDS)
    + r")\b\s+(?!per\b|%)\w+|^(\d{1,2}|"
    + "|".join(NUMBER_WORDS)
    + r")\s+\w+.*\bplease\b",
    re.I,
)
_COMPARISON = re.compile(
    r"\b(compar\w+|contrast\w*|differ\w*|versus|vs\.?|changed? (?:between|from)|(?:higher|lower|better|worse|longer|"
    r"shorter|more|less|cheaper|faster|slower|stricter) than|pros and cons|unterschied\w*|vergleich\w*|différence|"
    r"compar[ae]\w*|diferencia)\b",
    re.I,
)
_OVERVIEW = re.compile(
    r"\b(overview|(?:main|common|recurring) (?:themes?|topics?|points)|what kinds? of|"
    r"(?:these|the|my|your|all|which|what) (?:files|documents|sources|tables|material)\b.{0,30}\b"
    r"(?:about|here|have|hold|contain|loaded|available|say)|"
    r"about (?:these|the|my|all) (?:files|documents)|summar(?:y|ise|ize) (?:of )?(?:the|this|all|these|everything)"
    r"\W+(?:corpus|collection|files|documents|everything)?)",
    re.I,
)
_BROAD = re.compile(
    r"\b(everything (?:that|about)|summar(?:ise|ize|y)|walk me through|all (?:the )?\w+ (?:with|that|"
    r"about|of)|in (?:detail|general))\b",
    re.I,
)
_INSIGHT = re.compile(
    r"\b(patterns?|insights?|trends?|stand out|root causes?|lessons?|common thread|correlat\w+)\b",
    re.I,
)
_AGGREGATION = re.compile(
    r"\b(how many|how much|number of|count of|total|sum|average|mean|median|maximum|minimum|most|fewest|highest|lowest|"
    r"largest|smallest|per (?:department|route|month|year|week|type|category|customer|region)|percentage|share of|top \d+)\b",
    re.I,
)
_FRESH = re.compile(
    r"\b(today|tonight|right now|this (?:morning|afternoon|evening|week|month|year)|last (?:week|month)|latest news|"
    r"most recent|newest|live|online|at the moment|breaking)\b",
    re.I,
)
_OURS = re.compile(r"\b(our|ours|we|us|my|the company'?s?)\b", re.I)
_ANAPHORA = re.compile(r"\b(it|its|that|this|those|these|they|them|their|he|she|him|her|his|there|then|one)\b", re.I)
_ELLIPSIS = re.compile(r"^\s*(and|so|but|what about|how about|why not|why|ok|okay|und|et|y)\b", re.I)
_PARTS = re.compile(
    r"\s*(?:;|,?\s+and\s+(?=(?:who|what|when|where|why|how|which|by when|in which)\b)|\?\s+(?=\S))\s*", re.I
)


@dataclass(frozen=True)
class Features:
    """Readings of one question. `unknown` is the share of its weight that no chunk of the corpus holds (0 to 1)."""

    text: str
    terms: tuple[str, ...]
    quoted: tuple[str, ...]
    identifiers: tuple[str, ...]
    requested_count: int | None
    comparison: bool
    overview: bool
    broad: bool
    insight: bool
    aggregation: bool
    fresh: bool
    ours: bool
    follow_up: bool
    sub_questions: tuple[str, ...]
    unknown: float = 0.0
    table_overlap: float = 0.0


def read_question(
    text: str, history: Sequence[Turn] = (), unknown: float = 0.0, table_overlap: float = 0.0
) -> Features:
    """The features of a question. `unknown` and `table_overlap` come from the manifest and the index."""
    terms = tuple(content_terms(text))
    shape = _QUOTED.sub("", text)  # what is quoted is sought, not asked
    anaphoric = bool(_ANAPHORA.search(text)) and len(terms) <= 6
    return Features(
        text=text,
        terms=terms,
        quoted=tuple(m.strip() for m in _QUOTED.findall(text)),
        identifiers=tuple(dict.fromkeys(m.group().strip() for m in _IDENTIFIER.finditer(text))),
        requested_count=_requested_count(text),
        comparison=bool(_COMPARISON.search(shape)),
        overview=bool(_OVERVIEW.search(shape)),
        broad=bool(_BROAD.search(shape)),
        insight=bool(_INSIGHT.search(shape)),
        aggregation=bool(_AGGREGATION.search(shape)),
        fresh=bool(_FRESH.search(shape)),
        ours=bool(_OURS.search(text)),
        follow_up=bool(history) and (anaphoric or bool(_ELLIPSIS.match(text)) or len(terms) <= 2),
        sub_questions=_sub_questions(text),
        unknown=unknown,
        table_overlap=table_overlap,
    )


def refers_back(text: str) -> bool:
    """Does a question lean on something said before it ("how long does it last?") and name nothing itself?"""
    named = [w for w in re.findall(r"\b[^\W\d_]\w*", text)[1:] if w[0].isupper()]
    return bool(_ANAPHORA.search(text)) and len(content_terms(text)) <= 2 and not named and not _IDENTIFIER.search(text)


def _requested_count(text: str) -> int | None:
    match = _COUNT.search(text)
    if not match:
        return None
    word = (match.group(1) or match.group(2)).lower()
    count = NUMBER_WORDS.get(word) or (int(word) if word.isdigit() else 0)
    return count if 1 < count <= 50 else None


def _sub_questions(text: str) -> tuple[str, ...]:
    """The questions that one sentence asks side by side ("who designed it and where is it built?")."""
    parts = [p.strip(" ?.") for p in _PARTS.split(text) if p and len(content_terms(p)) > 0]
    return tuple(parts) if len(parts) > 1 else ()
