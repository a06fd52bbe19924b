"""Misspelt words of a question, and the terms of the index that were probably meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from retrieval.tokenise import stem
from retrieval.words import STOP_WORDS

COMMON = 10**6  # stands for the frequency of a function word, which is not indexed
LONGEST_ENDING = 4  # letters that a stem lacks
_DICTIONARIES = frozenset({"en", "de", "es", "fr", "it", "nl", "pt", "ru"})


def repairs(words: Sequence[str], frequency: Mapping[str, int], language: str) -> dict[str, str]:
    """For each word that the language's dictionary does not hold, the term that is spelt most like it.

    Like means one slip, two in words of six letters or more (one in a name), counted with transpositions. The index
    holds stems, so a word is also tried without what may be its ending. Of equally close terms the more frequent wins.
    """
    from rapidfuzz.distance import OSA
    from spellchecker import SpellChecker

    candidates = [w for w in words if w.isalpha() and len(w) >= 4]
    if not candidates or language not in _DICTIONARIES:
        return {}
    known = SpellChecker(language=language).known(candidates)
    vocabulary = {t: n for t, n in frequency.items() if len(t) >= 4 and t.isalpha()}
    vocabulary |= {word: COMMON for word in STOP_WORDS if len(word) >= 4}  # what is misspelt most is common words
    out: dict[str, str] = {}
    for word in candidates:
        lower = word.lower()
        if lower in known:
            continue
        slips = 2 if len(lower) >= 6 and word == lower else 1
        best: tuple[float, int, str] | None = None
        for term, count in vocabulary.items():
            if term[0] != lower[0] or not -slips <= len(lower) - len(term) <= slips + LONGEST_ENDING:
                continue
            distance: float = min(OSA.distance(w, term, score_cutoff=slips) for w in (lower, stem(lower)))
            if distance > slips and len(term) >= 5:
                distance = OSA.distance(lower[: len(term)], term, score_cutoff=slips) + 0.5
            rank = (distance, -count, term)
            if distance <= slips + 0.5 and (best is None or rank < best):
                best = rank
        if best:
            out[word] = best[2]
    return out
