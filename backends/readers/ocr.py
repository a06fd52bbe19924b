"""The text of scanned pages, recognised by the program `tesseract` where it is installed and the caller asks for it."""

from __future__ import annotations

import csv
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pypdfium2 as pdfium

from backends.errors import UnreadableFile
from backends.readers.decoding import clean
from backends.readers.pdf_lines import CELL, WIDE, Cell, Line

SECONDS = 60  # for a page
DPI = 300
MOST_PIXELS = 6_000  # on the longer side
_LANGUAGES = re.compile(r"[A-Za-z]{3}(?:_[A-Za-z]+)*(?:\+[A-Za-z]{3}(?:_[A-Za-z]+)*)*")
_INSTALL = "on Debian or Ubuntu `apt install tesseract-ocr`, on macOS `brew install tesseract`"


class RecognitionFailed(Exception):
    """A page whose text tesseract could not recognise; the message says why."""


def check_ocr(languages: str, name: str) -> None:
    """Raises UnreadableFile, naming the file, where tesseract or the data of one of its languages is missing."""
    if not _LANGUAGES.fullmatch(languages):
        raise UnreadableFile(
            f'{name}: "{languages}" is no language for OCR; give tesseract\'s names, such as "eng" or "deu+eng".'
        )
    program = shutil.which("tesseract")
    if program is None:
        raise UnreadableFile(
            f"{name}: recognising its text (OCR) needs the program tesseract, which is not installed: {_INSTALL}."
        )
    try:
        listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnreadableFile(f"{name}: tesseract cannot be run ({error}); install it anew: {_INSTALL}.") from error
    missing = [part for part in languages.split("+") if part not in listed.stdout.split()]
    if missing:
        raise UnreadableFile(
            f"{name}: tesseract has no data for {', '.join(missing)}; install it, as with `apt install "
            f"tesseract-ocr-{missing[0].replace('_', '-')}`."
        )


def recognise(page: pdfium.PdfPage, languages: str, seconds: float = SECONDS) -> list[Line]:
    """The lines of a page as tesseract reads them, in points; [] for a page without text. See `check_ocr` first.

    Raises RecognitionFailed where it fails, or takes longer than `seconds`.
    """
    scale = min(DPI / 72, MOST_PIXELS / max(page.get_size()))
    image = page.render(scale=scale, grayscale=True, prefer_bgrx=False).to_numpy()
    height, width = image.shape[:2]
    picture = b"P5 %d %d 255\n" % (width, height) + image.reshape(height, width).tobytes()
    program, dpi = shutil.which("tesseract") or "tesseract", str(round(72 * scale))
    command = [program, "stdin", "stdout", "-l", languages, "--dpi", dpi, "tsv"]
    alone = {**os.environ, "OMP_THREAD_LIMIT": "1"}  # its threads cost more than they gain
    try:
        done = subprocess.run(command, input=picture, capture_output=True, timeout=seconds, check=True, env=alone)
    except subprocess.TimeoutExpired as error:
        raise RecognitionFailed(f"recognising it took longer than {seconds:g} s") from error
    except (OSError, subprocess.CalledProcessError) as error:
        raise RecognitionFailed("tesseract failed") from error
    return list(_lines(done.stdout.decode("utf-8", errors="replace"), scale, height))


def _lines(table: str, scale: float, height: int) -> Iterator[Line]:
    """tesseract's table of words, in pixels from the top, into lines."""
    lines: dict[tuple[str, ...], list[tuple[Cell, float, float]]] = {}
    for row in csv.DictReader(table.split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = clean(row.get("text") or "").strip()
        if row.get("level") != "5" or not text:
            continue
        left, top, across, down = (float(row[name]) / scale for name in ("left", "top", "width", "height"))
        key = (row["block_num"], row["par_num"], row["line_num"])
        word = (Cell(text, left, left + across), height / scale - top - down, height / scale - top)
        lines.setdefault(key, []).append(word)
    if not lines:
        return
    heights = [max(w[2] for w in words) - min(w[1] for w in words) for words in lines.values()]
    size = round(statistics.median(heights), 1)  # the same for all: a line's height depends on its letters
    for found in lines.values():
        words = [word for word, _, _ in found]
        text = " ".join(word.text for word in words)
        hyphenated = text.endswith("-") and text[-2:-1].isalpha()
        yield Line(
            text[:-1] if hyphenated else text,
            words[0].left,
            words[-1].right,
            min(low for _, low, _ in found),
            max(high for _, _, high in found),
            size,
            hyphenated=hyphenated,
            spaced=any(b.left - a.right > WIDE * size for a, b in pairwise(words)),
            cells=_cells(words, CELL * size),
        )


def _cells(words: Sequence[Cell], gap: float) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for word in words:
        if cells and word.left - cells[-1].right <= gap:
            cells[-1] = Cell(f"{cells[-1].text} {word.text}", cells[-1].left, word.right)
        else:
            cells.append(word)
    return tuple(cells)
