"""Who decides a field of the plan: the caller, then the plan, then the default, under what is possible at all."""

from __future__ import annotations

from typing import Any

from graph.state import DecidedBy, Decision
from retrieval.types import Json


class Ledger:
    """The fields of a plan with their provenance.

    A field that the caller set keeps the caller's value: what else would change it becomes a note.
    """

    def __init__(self, said: Json) -> None:
        self.said = said
        self.values: dict[str, Any] = {}
        self.fields: dict[str, Decision] = {}
        self.notes: list[str] = []

    def put(self, field: str, value: Any, by: DecidedBy) -> None:
        """The first value of a field; the caller's own, where there is one, goes before it."""
        if field in self.said:
            self.values[field] = self.said[field]
            self.fields[field] = {"suggested": value, "applied": self.said[field], "by": "caller"}
        else:
            self.values[field] = value
            self.fields[field] = {"suggested": value, "applied": value, "by": by}

    def change(self, field: str, value: Any, by: DecidedBy, why: str) -> None:
        """Replaces a value that the caller did not set, and says why."""
        if self.values[field] == value:
            return
        if field in self.said:
            self.notes.append(f"{field} stays {self.values[field]!r} as asked, though {why}")
            return
        self.notes.append(f"{field}: {self.values[field]!r} became {value!r}: {why}")
        self.values[field] = value
        self.fields[field] = {**self.fields[field], "applied": value, "by": by}

    def __getitem__(self, field: str) -> Any:
        return self.values[field]
