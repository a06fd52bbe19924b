"""What of an answer may leave while it is still being written: no reasoning, no mark that opens on nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from retrieval.citations import MARK
from retrieval.claims import with_plain_marks

LONGEST_MARK = 40
_OPEN, _CLOSE = re.compile(r"<think(?:ing)?>", re.I), re.compile(r"</think(?:ing)?>", re.I)


class AnswerStream:
    """Takes pieces as they come and hands on what is safe. Brackets wait until they are closed; `held_back` stops all
    of an answer that begins like it, until it is known to be something else."""

    def __init__(self, marks: Collection[str], emit: Callable[[str], None], held_back: str = "") -> None:
        self._marks = list(marks)
        self._emit = emit
        self._held_back = held_back
        self._waiting = ""
        self._thinking = False
        self.sent = ""

    def __call__(self, piece: str) -> None:
        self._waiting += piece
        self._drain(last=False)

    def close(self) -> None:
        """Hands on what still waits, where it is no unfinished reasoning."""
        self._drain(last=True)

    def _drain(self, *, last: bool) -> None:
        while self._waiting:
            if self._thinking:
                end = _CLOSE.search(self._waiting)
                if not end:
                    return
                self._waiting, self._thinking = self._waiting[end.end() :].lstrip(), False
                continue
            if start := _OPEN.match(self._waiting):
                self._waiting, self._thinking = self._waiting[start.end() :], True
                continue
            if not self.sent and self._held_back.startswith(self._waiting.strip()[: len(self._held_back)]):
                return  # may become the sign for "not there"
            ready = self._ready(last)
            if not ready:
                return
            self._waiting = self._waiting[len(ready) :]
            self._send(ready)

    def _ready(self, last: bool) -> str:
        """The beginning of what waits that cannot change any more."""
        places = [p for c in "[【<(" if (p := self._waiting.find(c)) >= 0]
        if not places:
            return self._waiting
        start = min(places)
        if start:
            return self._waiting[:start]
        closing = re.search(r"[\]】>)]", self._waiting)
        if closing:
            return self._waiting[: closing.end()]
        return self._waiting if last or len(self._waiting) > LONGEST_MARK else ""

    def _send(self, text: str) -> None:
        plain = with_plain_marks(text, self._marks)
        kept = MARK.sub(lambda m: m.group() if m.group(1) in self._marks else "", plain)
        if kept:
            self.sent += kept
            self._emit(kept)
