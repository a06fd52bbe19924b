"""Perquire: a plan per question, a cited answer, or an honest abstention."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perquire.agent import Agent

__all__ = ["Agent"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Loads the graph only when it is asked for: its imports are most of a cold start."""
    if name == "Agent":
        from perquire.agent import Agent

        return Agent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
