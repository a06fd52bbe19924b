"""The strategies that this version has: name to function, one file each, one signature."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from backends.workspace import Filters, Workspace
from graph.context import Step
from graph.state import Plan, Search
from nodes.strategies.found import Found
from nodes.strategies.hybrid import hybrid

Strategy = Callable[[Step, Workspace, Plan, list[Search], Filters], Found]

STRATEGIES: Mapping[str, Strategy] = {"hybrid": hybrid}
