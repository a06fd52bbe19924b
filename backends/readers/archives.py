"""Office files are zip archives: what must be known about one before a parser may open it."""

from __future__ import annotations

import struct
import zipfile
import zlib
from pathlib import Path

from backends.errors import UnreadableFile

MAX_INFLATED = 150 * 1024 * 1024
MAX_RATIO = 300  # real sheets of repeated numbers reach about 100
RATIO_FROM = 20 * 1024 * 1024  # below this size no ratio does harm
_OLE = b"\xd0\xcf\x11\xe0"
_STEP = 1 << 20
_BROKEN = (  # what zipfile raises, depending on which bytes are wrong
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)


def check_archive(path: Path, kind: str, part: str) -> None:
    """Raises UnreadableFile for what is no archive, lacks `part`, is broken, or inflates beyond reason.

    The bytes are counted as they inflate, since the sizes that an archive states need not be true.
    """
    with path.open("rb") as stream:
        start = stream.read(4)
    if start == _OLE:
        raise UnreadableFile(
            f"{path.name}: encrypted, or in the format before {kind}; save it as {path.suffix} without a password."
        )
    article = "an" if kind.startswith("X") else "a"
    unlike = f"{path.name}: not {article} {kind} file (the content does not match the file's suffix)."
    if not start.startswith(b"PK"):
        raise UnreadableFile(unlike)
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
            _count(archive, path)
    except UnreadableFile:
        raise  # a ValueError, too
    except _BROKEN as error:
        raise UnreadableFile(
            f"{path.name}: the {kind} file is corrupt; open it in its program and save it again."
        ) from error
    if part not in names:
        raise UnreadableFile(unlike)


def _count(archive: zipfile.ZipFile, path: Path) -> None:
    allowed = min(MAX_INFLATED, max(RATIO_FROM, MAX_RATIO * path.stat().st_size))
    inflated = 0
    for info in archive.infolist():
        with archive.open(info) as member:
            while block := member.read(_STEP):
                inflated += len(block)
                if inflated > allowed:
                    raise UnreadableFile(
                        f"{path.name}: it inflates to more than {allowed // 2**20} MB and is not opened; "
                        "split it, or take out pictures and empty ranges."
                    )
