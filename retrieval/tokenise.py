"""One tokeniser for index and query, so that what was written and what is asked meet.

Identifiers are the hard part: "E-1042", "getUserById", "v2.10.3", "§ 4.2(b)" must be found however they are typed. Each
is kept whole (joined, without its punctuation) and, where its parts are words of their own, in parts as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from retrieval.words import STOP_WORDS

_CLAUSE = r"\d+(?:\.\d+[A-Z]{0,3})*(?:\.\d+)*(?:\s?\([a-z0-9]{1,3}\))+"  # 4.2(b), 4.2 (b), 7(3)
_THOUSANDS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)"  # 1,260.50 is one number, found as 1260.50 too
_COMPOUND = r"[^\W_]+(?:[-_./:'’][^\W_]+)+"  # e-1042, retry_after, 2.10.3, read/write
_WORD = r"[^\W_]+"
_TOKEN = re.compile(f"{_CLAUSE}|{_THOUSANDS}|{_COMPOUND}|{_WORD}")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_NUMBERED = re.compile(
    r"(?:§+|Article|Art\.?|Section|Sec\.?|Clause|Part)?\s*(\d+(?:\.\d+)*)\b", re.I
)  # a heading's number
_CLAUSE_MARK = re.compile(r"^\s*\(([a-z]{1,3}|\d{1,3})\)", re.M | re.I)
_VERSION = re.compile(r"v(\d+(?:\.\d+)*)")
_stemmer = Stemmer.Stemmer("english")


def tokenise(text: str) -> list[str]:
    """Index terms of a text, in order, with repeats; stop words are left out.

    >>> tokenise("Reset E-1042 twice")
    ['reset', 'e1042', 'e', '1042', 'twice']
    """
    out: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        out.extend(_terms(match.group()))
    return out


@lru_cache(maxsize=8_192)
def term_set(text: str) -> frozenset[str]:
    """The distinct terms of a text, kept: grading and answering read the same sentences again."""
    return frozenset(tokenise(text))


def passage_terms(title: str, heading: Sequence[str], text: str) -> list[str]:
    """Terms of a passage under its title and headings, with the full name of each of its clauses."""
    above = [h for h in heading if h != title]
    return tokenise(" ".join([title, *above, text])) + clause_names(title, heading, text)


def clause_names(title: str, heading: Sequence[str], text: str) -> list[str]:
    """What the clauses of a text are asked for as: "(2)" below "Article 6" is "6(2)"."""
    marks = _CLAUSE_MARK.findall(text)
    if not marks:
        return []
    above = [h for h in heading if h != title]
    numbered = next((m.group(1) for h in reversed(above) if (m := _NUMBERED.match(h))), None)
    return [f"{numbered}({m.lower()})" for m in marks] if numbered else []


def content_terms(text: str) -> list[str]:
    """The distinct terms of a text in order of appearance."""
    return list(dict.fromkeys(tokenise(text)))


@lru_cache(maxsize=200_000)
def _terms(raw: str) -> tuple[str, ...]:
    """The index terms of one raw token."""
    if _CJK.search(raw):
        return tuple(_cjk_terms(raw))
    lower = raw.casefold()
    if "," in raw:
        return (lower.replace(",", ""),)
    if "(" in raw:  # a clause reference: the clause itself, and the section that it is part of
        whole = re.sub(r"\s", "", lower)
        return (whole, whole.split("(")[0])
    if match := _VERSION.fullmatch(lower):
        return (match.group(1),)
    if re.search(r"[-_./:'’]", raw):
        return tuple(_compound_terms(raw, lower))
    parts = _camel_parts(raw)
    if len(parts) > 1:
        return (lower, *(stem(p) for p in parts if p not in STOP_WORDS or p.isdigit()))
    return () if lower in STOP_WORDS else (stem(lower),)


def _compound_terms(raw: str, lower: str) -> list[str]:
    if re.fullmatch(r"v?\d+(?:\.\d+)+[a-z]{0,3}(?:\.\d+)*", lower):  # a version, decimal or section number
        return [lower.removeprefix("v")]
    parts = [p for p in re.split(r"[-_./:'’]", raw) if p]
    if len(parts) == 2 and parts[1].casefold() in {"s", "t", "re", "ll", "ve", "d", "m"}:  # a contraction
        return [t for t in (stem(parts[0].casefold()),) if parts[0].casefold() not in STOP_WORDS]
    joined = "".join(parts).casefold()
    out = [joined]
    for part in parts:
        pieces = _camel_parts(part) or [part.casefold()]
        out.extend(stem(p) for p in pieces if p not in STOP_WORDS or len(p) == 1)
    return out


def _camel_parts(raw: str) -> list[str]:
    """Parts of getUserById or A002; a plain word is one part."""
    if raw.isascii() and any(c.islower() for c in raw) and any(c.isupper() for c in raw[1:]):
        return [p.casefold() for p in _CAMEL.findall(raw)]
    return [raw.casefold()]


def _cjk_terms(raw: str) -> list[str]:
    """Bigrams of each run of Chinese, Japanese or Korean characters; what stands between them as words."""
    out: list[str] = []
    last = 0
    for run in _CJK.finditer(raw):
        out.extend(t for t in (raw[last : run.start()].casefold(),) if t)
        text = run.group()
        out.extend([text] if len(text) == 1 else [text[i : i + 2] for i in range(len(text) - 1)])
        last = run.end()
    out.extend(t for t in (raw[last:].casefold(),) if t)
    return out


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The English Snowball stem; codes and words of other scripts come back as they are."""
    if word.isalpha():
        return str(_stemmer.stemWord(word))
    return word
