"""What reading a column's values as numbers or dates came to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """Values as DuckDB casts them to `type`; None for a type where the values are close, but not certain."""

    type: str | None
    values: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
