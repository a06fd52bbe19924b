"""What every strategy gives back."""

from __future__ import annotations

from dataclasses import dataclass, field

from retrieval.types import Json, Passage


@dataclass
class Found:
    """Passages, best first, at most `candidates` of them; each leg's query and number of hits; what to tell the asker."""

    passages: list[Passage]
    legs: list[Json] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
