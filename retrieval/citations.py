"""Marks in an answer and what they open on: [1], [T1], [W1]."""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.types import Citation

MARK = re.compile(r"\[([TW]?\d+)\]")


def checked(answer: str, citations: Sequence[Citation]) -> tuple[str, list[Citation], list[str]]:
    """The answer without marks that open on nothing, the citations that it uses, and what was removed.

    A citation stays only where the text it quotes stands in the answer word for word.
    """
    removed: list[str] = []
    folded = _fold(MARK.sub("", answer))
    sound = {c["id"]: c for c in citations if _fold(c["text"]) in folded}

    def keep(match: re.Match[str]) -> str:
        if match.group(1) in sound:
            return match.group()
        removed.append(match.group(1))
        return ""

    text = re.sub(r"[ \t]+\n", "\n", MARK.sub(keep, answer)).strip()
    used = set(MARK.findall(text))
    return text, [c for c in citations if c["id"] in used and c["id"] in sound], removed


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())
