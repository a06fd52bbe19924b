"""A secret is taken out of a text that arrives in pieces, wherever the pieces are cut."""

from __future__ import annotations

INSTEAD = "[key]"
SHORTEST = 8  # characters: a shorter key ("none", "x") protects nothing, and may be a word


class Veil:
    """Feed it the pieces in order, then take the `rest`. What may be the secret's beginning waits for the next piece."""

    def __init__(self, secret: str) -> None:
        self._secret = secret if len(secret) >= SHORTEST else ""
        self._held = ""

    def __call__(self, piece: str) -> str:
        """What can be shown so far."""
        text = self.over(self._held + piece)
        keep = next(
            (n for n in range(min(len(self._secret) - 1, len(text)), 0, -1) if self._secret.startswith(text[-n:])), 0
        )
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]

    def rest(self) -> str:
        held, self._held = self._held, ""
        return held

    def over(self, text: str) -> str:
        """A whole text without the secret."""
        return text.replace(self._secret, INSTEAD) if self._secret else text
