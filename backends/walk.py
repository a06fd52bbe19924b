"""The files of a folder, in a fixed order, and what is left out of it, each with a reason that a report can name."""

from __future__ import annotations

import os
import re
import stat
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE_FILES = (".gitignore", ".perquireignore")  # of one folder, the later one wins
MOST_PATTERNS = 1024 * 1024  # bytes of an ignore file
_CLASSES = {"alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "upper": "A-Z", "lower": "a-z", "space": r"\s"}
_CLASS = re.compile(r"\[:(\w+):\]")
Why = Literal["hidden", "link", "ignored", "unreadable", "special", "name", "excluded"]


@dataclass(frozen=True)
class Found:
    """A regular file, and what the system knows of it without opening it."""

    path: Path
    stat: os.stat_result


@dataclass(frozen=True)
class LeftOut:
    """A file, or a folder with all that is in it, that is not taken; `reason` is a sentence for a person.

    Of a name that is not UTF-8, `path` shows the odd bytes as "?".
    """

    path: str
    why: Why
    reason: str


@dataclass(frozen=True)
class _Rules:
    """The patterns of one ignore file, which hold for the folder that it lies in."""

    prefix: int  # characters of the folder's path, with the slash
    name: str
    patterns: list[tuple[re.Pattern[str], bool]]


def files_under(root: Path, exclude: Collection[Path] = ()) -> Iterator[Found | LeftOut]:
    """The files of a folder, lazily: those of a folder by name, then those of its subfolders by name.

    Left out are what is hidden (a leading dot), links, what is neither file nor folder, names that are not UTF-8, the
    paths in `exclude`, and what a `.gitignore` or `.perquireignore` in `root` or below names, by git's rules (not those of
    folders above `root`, nor a person's own git settings). No link is ever followed, so nothing outside of `root` is met.
    A `root` that is a file is taken whatever names it: somebody asked for it. A folder left out is met once, not file by file.

    Folders that cannot be listed are LeftOut, too; the walk raises nothing. `root` is taken as it is: resolve it first.
    """
    if not os.path.isdir(root):  # noqa: PTH112 - pathlib raises for names that the system refuses
        yield _named(root)
        return
    away = {str(path) for path in exclude}
    folders: list[tuple[str, tuple[_Rules, ...]]] = [(str(root), ())]
    while folders:
        folder, above = folders.pop()
        try:
            with os.scandir(folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            yield LeftOut(_shown(folder), "unreadable", f"The folder cannot be listed: {error.strerror or error}.")
            continue
        said, own = _rules(folder, {entry.name for entry in entries})
        yield from said
        rules = (*above, *own)
        below: list[str] = []
        for entry in entries:
            met = _met(entry, rules, away, str(root))
            if isinstance(met, str):
                below.append(met)
            elif met:
                yield met
        folders.extend((path, rules) for path in reversed(below))


def _met(entry: os.DirEntry[str], rules: tuple[_Rules, ...], away: set[str], root: str) -> Found | LeftOut | str | None:
    """A file found, an entry left out, or the path of a folder to go into; None for what needs no word."""
    if entry.name in IGNORE_FILES:
        return None
    if entry.path in away:
        return LeftOut(entry.path, "excluded", "It is not part of the documents (the workspace itself).")
    try:
        entry.name.encode()
    except UnicodeEncodeError:
        return LeftOut(_shown(entry.path), "name", "The name is not UTF-8: rename it.")
    if entry.name.startswith("."):
        return LeftOut(entry.path, "hidden", "It is hidden (its name begins with a dot).")
    try:
        if entry.is_symlink():
            return LeftOut(entry.path, "link", _where_to(entry.path, root))
        folder = entry.is_dir(follow_symlinks=False)
        if name := _ignoring(entry.path, folder, rules):
            return LeftOut(entry.path, "ignored", f"{name} names it.")
        if folder:
            return entry.path
        return _regular(Path(entry.path), entry.stat(follow_symlinks=False))
    except OSError as error:  # it went away between the listing and the look
        return LeftOut(entry.path, "unreadable", f"It cannot be looked at: {error.strerror or error}.")


def _named(path: Path) -> Found | LeftOut:
    """What was asked for by its own name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return LeftOut(_shown(str(path)), "name", "The name is not UTF-8: rename it.")
    try:
        return _regular(path, path.stat())
    except OSError as error:
        return LeftOut(str(path), "unreadable", f"It cannot be looked at: {error.strerror or error}.")


def _regular(path: Path, found: os.stat_result) -> Found | LeftOut:
    if stat.S_ISREG(found.st_mode):
        return Found(path, found)
    return LeftOut(str(path), "special", "It is no regular file (a pipe, a socket or a device).")


def _rules(folder: str, names: set[str]) -> tuple[list[LeftOut], list[_Rules]]:
    """The ignore files of a folder; what cannot be followed is said, since files may be taken that it would name."""
    said: list[LeftOut] = []
    rules: list[_Rules] = []
    for name in IGNORE_FILES:
        if name not in names:
            continue
        path = Path(folder, name)
        try:
            state = path.lstat()
            if not stat.S_ISREG(state.st_mode) or state.st_size > MOST_PATTERNS:  # git does not follow a link either
                raise ValueError("it is no regular file, or too large")
            patterns, odd = _patterns(path.read_text("utf-8-sig", errors="surrogateescape"))
        except (OSError, ValueError) as error:
            said.append(LeftOut(str(path), "unreadable", f"Its patterns are not followed: {error}."))
            continue
        if odd:
            lines = ", ".join(map(str, odd))
            said.append(LeftOut(str(path), "unreadable", f"What is no pattern is not followed: line {lines}."))
        rules.append(_Rules(len(folder.rstrip("/")) + 1, name, patterns))
    return said, rules


def _patterns(text: str) -> tuple[list[tuple[re.Pattern[str], bool]], list[int]]:
    """The patterns of an ignore file, the last one first, since that decides; and the lines that are none."""
    text = _CLASS.sub(lambda match: _CLASSES.get(match.group(1), match.group()), text)
    patterns: list[tuple[re.Pattern[str], bool]] = []
    odd: list[int] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # re's, for a "[" within brackets
        for number, line in enumerate(text.split("\n"), 1):
            try:
                pattern = GitIgnoreSpecPattern(_written_out(line.removesuffix("\r")))
            except (ValueError, re.error):
                odd.append(number)
                continue
            if pattern.regex:
                patterns.insert(0, (pattern.regex, bool(pattern.include)))
    return patterns, odd


def _written_out(line: str) -> str:
    """pathspec shortens these to what begins a path; git means "something inside of" and "of any name"."""
    return re.sub(r"^(!?)\*+(/?)$", r"\1?*\2", line + "/*" if line.endswith("/**") else line)


def _ignoring(path: str, folder: bool, rules: tuple[_Rules, ...]) -> str:
    """The ignore file that names a path, "" where none does: the deepest file with a pattern for it decides.

    Whole paths are held against the patterns, since what lies in an ignored folder is never asked for.
    """
    for rule in reversed(rules):
        inside = path[rule.prefix :] + "/" * folder
        for pattern, ignored in rule.patterns:
            if pattern.fullmatch(inside):
                return rule.name if ignored else ""
    return ""


def _where_to(path: str, root: str) -> str:
    target = os.path.realpath(path)
    if not os.path.exists(target):  # noqa: PTH110 - pathlib raises for loops of links
        return "It is a link that leads nowhere."
    if os.path.commonpath((target, os.path.realpath(root))) == os.path.realpath(root):
        return "It is a link; what it leads to is read at its own place."
    return "It is a link that leads out of the folder."


def _shown(path: str) -> str:
    return path.encode(errors="replace").decode()
