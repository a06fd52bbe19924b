"""The lines of a text file of any size, decoded a little at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from backends.errors import UnreadableFile
from backends.readers.decoding import UNDECODED, clean, counted, encoding_of

LONGEST_LINE = 100_000  # characters; a longer one comes in pieces, divided between words where it has any


class TextLines:
    """Iterates over (line number, text with its "\\n"), once; the pieces of an overlong line share its number.

    Raises UnreadableFile for a file that holds no text, or (at the end) nothing but white space. Bytes that cannot be
    decoded become "\\ufffd"; `warnings` tells of them once the lines are through.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replaced = 0
        self.first_replaced = 0  # the line of the first one
        with path.open("rb") as stream:
            self.encoding = encoding_of(stream, path.name)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        number, rest, blank = 1, "", True
        with self.path.open(encoding=self.encoding, errors=UNDECODED) as stream:
            while piece := rest + stream.readline(LONGEST_LINE - len(rest)):
                overlong = len(piece) == LONGEST_LINE and not piece.endswith("\n")
                cut = (piece.rfind(" ") + 1 or len(piece)) if overlong else len(piece)
                piece, rest = piece[:cut], piece[cut:]
                text, replaced = counted(piece)
                if replaced:
                    self.replaced += replaced
                    self.first_replaced = self.first_replaced or number
                blank = blank and not text.strip()
                yield number, clean(text)
                number += piece.endswith("\n")
        if blank:
            raise UnreadableFile(f"{self.path.name}: the file is empty (it holds no text).")

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.replaced:
            return ()
        places = "1 place" if self.replaced == 1 else f"{self.replaced:,} places, the first"
        return (f'bytes that are no {self.encoding} became "\ufffd" ({places} in line {self.first_replaced:,})',)
