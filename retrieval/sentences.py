"""Passages cut into sentences."""

from __future__ import annotations

import re

# a full stop ends a sentence only before what can begin one: a capital, a digit, a bracket or a quote
_END = re.compile(r"(?<=[.!?])[\"”»)]*\s+(?=[\"“„«(\[]?[^\W_a-z])|(?<=[。！？])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|No|Nos|St|vs|ca|cf|pp|p|Nr|bzw|[Aa]rt|[Ss]ec|para|Fig|approx|incl|Ltd|Inc|e\.g|i\.e|z\.B)"
    r"|\b[A-Z]|^\W*\d{1,2}(?:\.\d+)*)\.$"  # and the marks of a numbered line
)


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, in order; blank ones are dropped. A row of a table stays whole.

    >>> sentences("Dr. Okafor signs. No. 4 is spare.")
    ['Dr. Okafor signs.', 'No. 4 is spare.']
    """
    return [s for line in text.split("\n") for s in ([line.strip()] if " | " in line else _of_line(line)) if s]


def _of_line(text: str) -> list[str]:
    out: list[str] = []
    last = 0
    for match in _END.finditer(text):
        piece = text[last : match.start()].strip()
        if _ABBREVIATION.search(piece):
            continue
        out.append(text[last : match.end()].strip())
        last = match.end()
    out.append(text[last:].strip())
    return out
