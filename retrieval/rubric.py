"""Breadth: how much of the corpus a question needs, as a score on a rubric (never asked as a number of passages)."""

from __future__ import annotations

from typing import Literal

Breadth = Literal[0, 1, 2, 3]

BREADTH_FACTOR: dict[int, float] = {0: 0.5, 1: 1.0, 2: 1.5, 3: 2.5}
BREADTH_FLOOR = 0.5  # below this confidence the reading is dropped
TOP_K_BOUNDS = (1, 50)


def top_k_for(breadth: int, confidence: float, configured: int, chunks_in_scope: int) -> int:
    """Passages sought: the configured number times the rubric's factor, clamped to 1…50 and to what the scope holds."""
    factor = BREADTH_FACTOR[breadth] if confidence >= BREADTH_FLOOR else 1.0
    low, high = TOP_K_BOUNDS
    wanted = max(low, min(high, round(configured * factor)))
    return max(low, min(wanted, chunks_in_scope)) if chunks_in_scope else wanted
