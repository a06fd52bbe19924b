"""From signals to a probability that the evidence suffices, and to a verdict.

The weights are starting values, set by hand on the kinds of evidence each task needs and not fitted on the workspace
that is asked: a fit does not travel between corpora. Until a workspace has labels of its own the number is shown as a
band, and `calibrated` is false.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

Verdict = Literal["sufficient", "borderline", "weak"]
Band = Literal["high", "medium", "low"]

# ⚙ log-odds by signal
FOCUSED: dict[str, float] = {
    "bias": -5.4, "shape": 1.2, "best_sentence": 6.0, "passages": 1.0, "rarest_missing": -1.0, "unknown_words": -2.0,
    "dense_top": 2.2, "agreement": 0.4, "pinned": 1.2,
}  # fmt: skip
BROAD: dict[str, float] = {
    "bias": -3.0, "best_sentence": 2.0, "passages": 3.2, "rarest_missing": -0.6, "unknown_words": -3.0,
    "dense_top3": 2.0, "sources": 0.6, "pinned": 1.2,
}  # fmt: skip
BORDERLINE_WIDTH = 0.35  # ⚙ below 1 - max_risk by more than this is weak


def probability(signals: Mapping[str, float], *, broad: bool) -> float:
    """Chance that the evidence suffices, 0 to 1 (a logistic of the weighted signals)."""
    weights = BROAD if broad else FOCUSED
    logit = sum(w * signals.get(name, 1.0 if name == "bias" else 0.0) for name, w in weights.items())
    return 1.0 / (1.0 + math.exp(-logit))


def verdict(p: float, max_risk: float) -> Verdict:
    """`sufficient` where the risk of being wrong is at most the caller's, `weak` where it is far from it."""
    if 1.0 - p <= max_risk:
        return "sufficient"
    return "borderline" if p >= max(0.0, 1.0 - max_risk - BORDERLINE_WIDTH) else "weak"


def band(p: float) -> Band:
    return "high" if p >= 0.8 else "medium" if p >= 0.45 else "low"
