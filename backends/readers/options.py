"""What a caller may ask of the readers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ReadOptions:
    """`ocr`: the languages in which the text of scanned pages is recognised, as tesseract calls them ("eng",
    "deu+eng"); "" leaves such pages without text."""

    ocr: str = ""


AS_IT_IS = ReadOptions()
