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
_MARKUP = (".xml", ".rels", ".opf", ".ncx")
_ENTITY = (b"<!ENTITY", "<!ENTITY".encode("utf-16-le"), "<!ENTITY".encode("utf-16-be"))
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
    """Raises UnreadableFile for what is no archive, lacks `part`, is broken, inflates beyond reason or declares entities.

    The bytes are counted as they inflate, since the sizes that an archive states need not be true. No office program
    writes XML entities: they serve to inflate, to reach other files, or to hide text from a parser that ignores them.
    """
    with path.open("rb") as stream:
        start = stream.read(4)
    if start == _OLE:
        raise UnreadableFile(
            f"{path.name}: encrypted, or in the format before {kind}; save it as {path.suffix} without a password."
        )
    article = "an" if kind[0] in "AEIOX" else "a"
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
        if info.flag_bits & 1:
            raise UnreadableFile(f"{path.name}: the file is encrypted; save it without a password.")
        markup = info.filename.lower().endswith(_MARKUP)
        with archive.open(info) as member:
            tail = b""
            while block := member.read(_STEP):
                seen = tail + block
                if markup and any(mark in seen for mark in _ENTITY):
                    raise UnreadableFile(
                        f"{path.name}: it declares XML entities ({info.filename}) and is not opened; "
                        "open it in its program and save it again."
                    )
                tail = seen[-2 * len("<!ENTITY") :]
                inflated += len(block)
                if inflated > allowed:
                    raise UnreadableFile(
                        f"{path.name}: it inflates to more than {allowed // 2**20} MB and is not opened; "
                        "split it, or take out pictures and empty ranges."
                    )
