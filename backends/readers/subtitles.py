"""SRT and WebVTT: cues put together to paragraphs of a few sentences, each with the time at which it begins."""

from __future__ import annotations

import html
import io
import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import srt
import webvtt
from webvtt.errors import MalformedFileError

from backends.errors import UnreadableFile
from backends.readers.decoding import read_text
from backends.readers.metadata import language_tag, stated
from retrieval.chunk import count_words
from retrieval.types import Block, Document

_TIMES = re.compile(r"\d\s*-->\s*\d")
_LANGUAGE = re.compile(r"Language:\s*(\S+)", re.I)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_MARKUP = re.compile(r"</?[a-zA-Z][^>]*>|</?\d[\d:.]*>|\{\\[^}]*\}")
_BREAK = re.compile(r"<br\s*/?>|\\[Nn]", re.I)
_SENTENCE_END = re.compile(r"[.!?…。！？؟۔][\"'”’»)\]]*$")
_TURN = re.compile(r"[-–—]\s?\S|>>|[^\W\d][\w .'-]{0,30}:\s")
ENOUGH, MOST = 40, 80  # words: a paragraph ends with the first sentence after the one, and without one at the other
PAUSE_S = 8.0  # silence that ends a paragraph

logging.getLogger(srt.__name__).setLevel(logging.ERROR)  # what it skips is counted here, and told in a warning


@dataclass(frozen=True)
class _Cue:
    start: float  # seconds
    end: float
    lines: tuple[str, ...]


def read(path: Path) -> Iterator[Document]:
    text = read_text(path)
    kind = path.suffix.lower().lstrip(".")
    title, metadata = "", dict[str, str]()
    if kind == "vtt":
        found, title, metadata = _vtt(text, path.name)
    else:
        found = _srt(text)
    if not found:
        raise UnreadableFile(f"{path.name}: no subtitle with a time was found in it.")
    warnings: list[str] = []
    if (times := len(_TIMES.findall(text))) > len(found):
        warnings.append(f"only {len(found)} of {times} subtitles could be told apart; check the lines with times")
    cues, repeated = _without_rolling(sorted(found, key=lambda cue: cue.start))
    if repeated:
        warnings.append(f"{repeated} lines that only repeat the subtitle before were left out")
    blocks = tuple(_paragraphs(cues))
    if not blocks:
        raise UnreadableFile(f"{path.name}: the subtitles hold no words.")
    yield Document(title or path.stem, kind, blocks, warnings=tuple(warnings), metadata=metadata)


def _srt(text: str) -> list[_Cue]:
    found = srt.parse(text, ignore_errors=True)
    return [_Cue(c.start.total_seconds(), c.end.total_seconds(), _lines(c.content)) for c in found]


def _vtt(text: str, name: str) -> tuple[list[_Cue], str, dict[str, str]]:
    """The cues, and the title and metadata that the header states."""
    try:
        found = webvtt.from_buffer(io.StringIO(text))
    except MalformedFileError as error:
        raise UnreadableFile(
            f"{name}: not WebVTT (its first line is not WEBVTT); if it is SRT, give it the suffix .srt."
        ) from error
    cues = [_Cue(c.start_in_seconds, c.end_in_seconds, _lines(c.raw_text)) for c in found.captions]
    said = next((m.group(1) for line in found.metadata if (m := _LANGUAGE.fullmatch(line.strip()))), None)
    return cues, found.header_text.strip(" \t-–—:"), stated(language=language_tag(said))


def _lines(raw: str) -> tuple[str, ...]:
    """A cue's lines without markup; whoever speaks is named in front."""
    spoken = _VOICE.sub(lambda match: f"\n{match.group(1).strip()}: ", _BREAK.sub("\n", raw))
    plain = html.unescape(_MARKUP.sub("", spoken))
    return tuple(line for found in plain.split("\n") if (line := " ".join(found.split())))


def _without_rolling(cues: Sequence[_Cue]) -> tuple[list[_Cue], int]:
    """Automatic captions roll: each cue shows the last line of the one before again. Only where most do, it is no speech."""
    overlaps = [_overlap(before.lines, cue.lines) for before, cue in pairwise(cues)]
    if sum(n > 0 for n in overlaps) <= len(cues) / 3 or len(cues) < 4:
        return list(cues), 0
    kept = [_Cue(cue.start, cue.end, cue.lines[n:]) for cue, n in zip(cues, [0, *overlaps], strict=True)]
    return kept, sum(overlaps)


def _overlap(before: Sequence[str], lines: Sequence[str]) -> int:
    """How many lines at the beginning are the last ones of the cue before."""
    return next((n for n in range(min(len(before), len(lines)), 0, -1) if before[-n:] == lines[:n]), 0)


def _paragraphs(cues: Sequence[_Cue]) -> Iterator[Block]:
    parts: list[str] = []
    start, end, words = 0.0, 0.0, 0.0
    for cue in cues:
        if not cue.lines:
            continue
        full = words >= MOST or (words >= ENOUGH and _SENTENCE_END.search(parts[-1]))
        if parts and (full or cue.start - end > PAUSE_S):
            yield Block(_joined(parts), spot=_clock(start))
            parts, words = [], 0.0
        start = start if parts else cue.start
        end = max(end, cue.end)
        parts.extend(cue.lines)
        words += sum(count_words(line) for line in cue.lines)
    if parts:
        yield Block(_joined(parts), spot=_clock(start))


def _joined(parts: Sequence[str]) -> str:
    """One running text; whoever begins to speak does so on a line of their own."""
    out = parts[0]
    for part in parts[1:]:
        out += ("\n" if _TURN.match(part) else " ") + part
    return out


def _clock(seconds: float) -> str:
    """Seconds as hours, minutes and seconds.

    >>> _clock(727.9)
    '00:12:07'
    """
    whole = int(seconds)
    return f"{whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
