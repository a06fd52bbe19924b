"""Files that a command writes: whole or not at all, and checked before the work that fills them is paid for."""

from __future__ import annotations

import uuid
from pathlib import Path

from backends.errors import BadRequest


def writable(file: Path) -> Path:
    """Where the lines will stand: the file itself, or what a link points at.

    Raises BadRequest where that is a folder, a device or a pipe, which a rename would destroy, OSError where the folder
    takes no file.
    """
    place = file.resolve()
    if place.is_dir():
        raise BadRequest(f"{file} is a folder: name a file in it.")
    if place.exists() and not place.is_file():
        raise BadRequest(f"{file} is a device or a pipe, which cannot be written whole or not at all: name a file.")
    probe = _part(place)
    try:
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from None  # the file that was named, not the probe
    return place


def write_lines(file: Path, lines: list[str]) -> None:
    """Puts the lines in the place of what the file held. Raises as `writable` does."""
    place = writable(file)
    part = _part(place)
    part.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    part.replace(place)


def _part(place: Path) -> Path:
    """A name of its own: no file that is there, and no other command's, is touched."""
    return place.with_name(f".{place.name}.{uuid.uuid4().hex}.part")
