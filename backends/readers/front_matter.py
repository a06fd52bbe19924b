"""YAML front matter as metadata: strings alone, whatever stands there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from backends.readers.metadata import iso_date, stated

_FENCED = re.compile(r"\A---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)
_DATES = {"date", "created", "modified", "updated", "published", "lastmod"}
_SAME = {"lang": "language", "authors": "author"}
MAX_CHARS = 64 * 1024


@dataclass(frozen=True)
class FrontMatter:
    """`end` is where the body begins, `text` what stands before it, `broken` why that could not be read ("" where it could)."""

    metadata: dict[str, str]
    end: int = 0
    text: str = ""
    broken: str = ""


def front_matter(text: str) -> FrontMatter:
    """The front matter of a text; empty where there is none.

    Keys are in small letters, those of nested values joined by a dot; the items of a list by ", ". Values are as they
    are written ("no" and "007" stay so), except that dates become YYYY-MM-DD.
    """
    found = _FENCED.match(text)
    if not found:
        return FrontMatter({})
    inner = found.group(1) or ""
    try:
        value = _loaded(inner)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        why = (
            "nested too deeply"
            if isinstance(error, RecursionError)
            else f"line {mark.line + 2}"
            if mark
            else str(error)
        )
        return FrontMatter(
            {}, found.end(), inner, f"the front matter cannot be read as YAML ({why}); it is kept as text"
        )
    if value in ("", None):
        return FrontMatter({}, found.end())
    if not isinstance(value, dict):
        return FrontMatter({})  # a rule, some words and another rule
    metadata = stated(**dict(_flat(value)))
    for name, usual in _SAME.items():
        if name in metadata:
            metadata.setdefault(usual, metadata.pop(name))
    for key in _DATES & metadata.keys():
        metadata[key] = iso_date(metadata[key]) or metadata[key]
    return FrontMatter(metadata, found.end(), inner)


def _loaded(text: str) -> Any:
    """Everything as text. Aliases are refused, since a few lines of them can stand for gigabytes."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"more than {MAX_CHARS // 1024} KB")
    if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.BaseLoader)):
        raise ValueError("it uses aliases")
    top = yaml.compose(text, Loader=yaml.BaseLoader)
    keys = [key.value for key, _ in top.value] if isinstance(top, yaml.MappingNode) else []
    if twice := next((key for key in keys if keys.count(key) > 1), None):
        raise ValueError(f'"{twice}" occurs twice')
    return yaml.load(text, Loader=yaml.BaseLoader)  # makes strings, lists and dicts, nothing else


def _flat(value: dict[Any, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        name = f"{above}{str(key).strip().lower()}"
        if isinstance(inner, dict):
            yield from _flat(inner, f"{name}.")
        elif isinstance(inner, list):
            yield name, ", ".join(_item(item) for item in inner)
        else:
            yield name, str(inner)


def _item(value: Any) -> str:
    """An item of a list on one line, with what is nested in it."""
    if isinstance(value, dict):
        return " ".join(f"{key}: {_item(inner)}" for key, inner in value.items())
    return " ".join(_item(inner) for inner in value) if isinstance(value, list) else str(value)
