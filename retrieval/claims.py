"""An answer as claims: sentences with the marks of what they stand on; and whether they do stand on it.

The check is by words, numbers and identifiers. It sees invention and mix-ups of figures and names, not every nuance.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from retrieval.citations import MARK
from retrieval.sentences import sentences
from retrieval.tokenise import content_terms, term_set
from retrieval.words import NUMBER_WORDS

SUPPORTED = 0.5  # ⚙ of a claim's idf-weighted terms that its passages must hold together
SHARE = 0.25  # ⚙ of them that each marked passage must hold
SLIGHT = 2  # terms; a shorter sentence without a figure or a mark claims little ("Both apply.")

_LEAD = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#+\s+)?")
_LOOSE = re.compile(
    r"[\[【(]\s*(?:passages?|sources?|docs?|documents?)?\s*((?:[TW]?\d+)(?:\s*[,;&]\s*[TW]?\d+)*)\s*[\]】)]", re.I
)
_AFTER_STOP = re.compile(r"([.!?。！？])((?:\s*\[[TW]?\d+\])+)")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_COUNTS = {word: str(n) for word, n in NUMBER_WORDS.items()} | {"twice": "2", "thrice": "3", "dozen": "12"}
_SINGLE = {
    "one": "1",
    "once": "1",
}  # a passage's may be counts; in a claim they are "somebody" and "as soon as" as often
_COUNTED = re.compile(rf"\b(?:{'|'.join(_COUNTS)}|once|half)\b", re.I)
_WORD = re.compile(r"[^\W\d_]+")
_IDENTIFIER = re.compile(r"\b(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*\b")


@dataclass(frozen=True)
class Claim:
    """A sentence without its marks; `lead` is what stands before it on its line (a bullet), `line` which line that is."""

    text: str
    marks: tuple[str, ...]
    lead: str = ""
    line: int = 0


@dataclass(frozen=True)
class Checked:
    """A claim with the marks that hold it. `removed` are marks that opened on nothing, or on what does not say it."""

    claim: Claim
    supported: bool
    removed: tuple[str, ...] = ()


def with_plain_marks(text: str, known: Sequence[str]) -> str:
    """Marks in one form: [1, 2], 【1】, [passage 1] become [1][2]. Round brackets only where they name a passage."""

    def one(match: re.Match[str]) -> str:
        inside = re.findall(r"[TW]?\d+", match.group(1))
        named = match.group().startswith(("[", "【")) or re.search(r"passage|source|doc", match.group(), re.I)
        if not named or (match.group().startswith("(") and not set(inside) <= set(known)):
            return match.group()
        return "".join(f"[{mark}]" for mark in inside)

    return _LOOSE.sub(one, text)


def claims_of(answer: str) -> list[Claim]:
    """The sentences of an answer; a mark after the full stop belongs to the sentence before it."""
    out: list[Claim] = []
    for n, line in enumerate(answer.split("\n")):
        lead = _LEAD.match(line)
        start = lead.group() if lead else ""
        rest = _AFTER_STOP.sub(lambda m: f"{m.group(2)}{m.group(1)} ", line[len(start) :])
        for k, sentence in enumerate(sentences(rest)):
            text = re.sub(r"\s+([.,;:!?。])", r"\1", " ".join(MARK.sub(" ", sentence).split()))
            if text.strip(" .,;:"):
                out.append(Claim(text, tuple(dict.fromkeys(MARK.findall(sentence))), start if k == 0 else "", n))
    return out


def joined(claims: Sequence[Claim]) -> str:
    """The claims as text again, each with its marks behind it."""
    lines: dict[int, list[str]] = {}
    for claim in claims:
        marks = "".join(f"[{m}]" for m in claim.marks)
        lines.setdefault(claim.line, []).append(f"{claim.lead}{claim.text}{' ' + marks if marks else ''}")
    return "\n".join(" ".join(parts) for _, parts in sorted(lines.items()))


def check(claim: Claim, evidence: Mapping[str, str], idf: Mapping[str, float], *, by_words: bool = True) -> Checked:
    """Holds a claim against the texts by mark. A claim without sound marks gets that of the passage that says it.

    `by_words` is false where claim and evidence are in different languages: then figures and identifiers alone decide.
    """
    there = tuple(m for m in claim.marks if m in evidence)
    removed = tuple(m for m in claim.marks if m not in evidence)
    if is_slight(claim.text) and not there:
        said = max((coverage(claim.text, text, idf) for text in evidence.values()), default=0.0)
        leads_on = claim.text.rstrip().endswith(":")
        return Checked(replace(claim, marks=()), leads_on or not by_words or said >= SUPPORTED, removed)
    sound = tuple(m for m in there if not by_words or coverage(claim.text, evidence[m], idf) >= SHARE)
    if sound and _holds(claim.text, " ".join(evidence[m] for m in sound), idf, by_words):
        weak = tuple(m for m in there if m not in sound)
        return Checked(replace(claim, marks=sound), True, removed + weak)
    elsewhere = [m for m, text in evidence.items() if by_words and _holds(claim.text, text, idf, by_words)]
    if elsewhere:
        best = max(elsewhere, key=lambda m: coverage(claim.text, evidence[m], idf))
        return Checked(replace(claim, marks=(best,)), True, removed + there)
    return Checked(replace(claim, marks=there), False, removed)


def is_slight(text: str) -> bool:
    """Does a sentence claim next to nothing: a heading, a connecting phrase?"""
    if _NUMBER.search(text) or _COUNTED.search(text):
        return False
    return len(content_terms(text)) <= SLIGHT or text.rstrip().endswith(":")


def coverage(text: str, passage: str, idf: Mapping[str, float]) -> float:
    """Share of a claim's idf-weighted terms that a passage holds."""
    terms = set(content_terms(text))
    held = term_set(passage)
    total = sum(idf.get(t, 1.0) for t in terms)
    return sum(idf.get(t, 1.0) for t in terms if t in held) / total if total else 1.0


def strays(text: str, passage: str) -> list[str]:
    """Figures, counts in words and identifiers of a claim that a passage does not hold ("five times" is not "twice")."""
    flat = re.sub(r"[\s-]+", "", passage.casefold())
    numbers = {_figure(n) for n in _NUMBER.findall(passage)}
    words = (w.casefold() for w in _WORD.findall(passage))
    numbers |= {n for w in words if (n := _COUNTS.get(w) or _SINGLE.get(w))}
    identifiers = _IDENTIFIER.findall(text)
    out = [i for i in identifiers if re.sub(r"-", "", i.casefold()) not in flat]
    bare = _IDENTIFIER.sub(" ", text)
    counts = [w for w in _WORD.findall(bare) if _COUNTS.get(w.casefold(), "") not in ("", *numbers)]
    return out + [n for n in _NUMBER.findall(bare) if _figure(n) not in numbers] + counts


def quote(text: str, passage: str, idf: Mapping[str, float]) -> str:
    """The sentence of a passage that says most of a claim, word for word."""
    lines = sentences(passage) or [passage]
    terms = set(content_terms(text))
    return max(
        lines,
        key=lambda s: (
            sum(idf.get(t, 1.0) for t in terms & term_set(s))
            + 0.5 * len(set(_NUMBER.findall(s)) & set(_NUMBER.findall(text)))
        ),
    )


def _holds(text: str, passage: str, idf: Mapping[str, float], by_words: bool) -> bool:
    return not strays(text, passage) and (not by_words or coverage(text, passage, idf) >= SUPPORTED)


def _figure(number: str) -> str:
    """A number without thousands separators and trailing zeros: 2,410 and 2410, 58.0 and 58."""
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", number).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
