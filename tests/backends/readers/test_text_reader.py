"""Plain text, and the encodings that every text format shares."""

import tracemalloc
from collections import deque
from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from backends.readers.decoding import clean, decode
from backends.readers.parts import PART_CHARS, in_parts
from backends.readers.text_lines import LONGEST_LINE, TextLines
from retrieval.chunk import chunk
from retrieval.types import Block, Document

GERMAN = "Die Fähre fährt täglich außer sonntags.\nFür Gäste gelten die Größen nach § 4.\n"
CHINESE = "中国人民的船舶每天从港口出发，乘客须提前三十分钟到达码头办理登船手续。\n货物运输另有规定。\n"
JAPANESE = "本船は毎日午前八時に出港します。乗客は三十分前までに到着してください。\n"
RUSSIAN = "Паром отправляется ежедневно в восемь часов утра. Пассажиры должны прибыть заранее.\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "cp1252"),
        ("Café crème, 12 €\n", "cp1252"),
        ("a,b,c\n1,2,3\n4,5,©\n", "latin-1"),
        ("naïve", "cp1252"),
        (CHINESE, "gb18030"),
        (GERMAN, "utf-16-be"),
        (JAPANESE, "cp932"),
        (JAPANESE, "iso2022_jp"),
        (RUSSIAN, "cp1251"),
    ],
)
def test_encodings(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding), "a.txt") == text


def test_utf8_with_one_broken_byte_stays_utf8() -> None:
    raw = CHINESE.encode() + b"\xff" + GERMAN.encode()
    assert decode(raw, "a.txt") == CHINESE + "\ufffd" + GERMAN


def test_nul_bytes_and_surrogates_are_removed() -> None:
    assert decode(b"one\0 two", "a.txt") == "one two"
    assert clean("one \ud800two") == "one two"


def read(folder: Path, text: str, name: str = "notes.txt") -> list[Block]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    (document,) = read_file(path)
    assert document.kind == "text"
    return list(document.blocks)


def test_paragraphs_with_their_lines(tmp_path: Path) -> None:
    text = "First line.\nSecond line.\n\n\nThird: a value\n- item one\n- item two\n"
    assert read(tmp_path, text) == [
        Block("First line.\nSecond line.", line=1),
        Block("Third: a value\n- item one\n- item two", line=5),
    ]


def test_wrapped_lines_become_whole_sentences(tmp_path: Path) -> None:
    text = (
        "The berth is allotted by the duty manager of the port in the\n"
        "order of arrival, unless a contract says otherwise, and then\n"
        "by contract.\n"
    )
    (block,) = read(tmp_path, text)
    assert block.text == " ".join(text.split())


def test_underlined_titles(tmp_path: Path) -> None:
    text = "Manual\n======\n\nIntro.\n\nUse\n---\nPress start.\n"
    assert read(tmp_path, text, "a.rst") == [
        Block("Manual", "heading", 1, line=1),
        Block("Intro.", line=4),
        Block("Use", "heading", 2, line=6),
        Block("Press start.", line=8),
    ]


def test_log_lines_stay_apart_and_know_their_line(tmp_path: Path) -> None:
    lines = [f"2026-01-01 12:00:{n:02d} a line that is long enough to look as if it were wrapped" for n in range(40)]
    blocks = read(tmp_path, "\n".join(lines), "a.log")
    assert [b.line for b in blocks] == [1, 31]
    assert blocks[1].text.split("\n") == lines[30:]


def test_a_long_text_comes_in_parts_that_are_chunked_as_one(tmp_path: Path) -> None:
    sections = (f"Section {n}\n=========\n\nText {n}. {'word ' * 4000}\n\n{'more ' * 300}\n\n" for n in range(120))
    path = tmp_path / "long.txt"
    path.write_text("".join(sections))
    parts = list(read_file(path))
    assert [part.continues for part in parts] == [False, True, True]
    assert [part.units for part in parts] == [1, 0, 0]
    assert {part.title for part in parts} == {"Section 0"}
    blocks = [block for part in parts for block in part.blocks]
    together = chunk(Document("Section 0", "text", tuple(b for n, b in enumerate(blocks) if b not in blocks[:n])))
    apart = [c for part in parts for c in chunk(part)]
    assert [c.heading for c in apart] == [c.heading for c in together]
    assert [c.text for c in apart] == [c.text for c in together]
    lines = [b.line or 0 for b in blocks if b.kind == "paragraph"]
    assert lines == [n for section in range(120) for n in (section * 7 + 4, section * 7 + 6)]


def test_parts_repeat_the_headings_that_they_stand_under() -> None:
    def text(n: int) -> Block:
        return Block("x" * 60, line=n)

    one, two, deep = Block("1", "heading", 1), Block("2", "heading", 1), Block("1.1", "heading", 2)
    blocks = [one, deep, text(1), text(2), text(3), Block("1.2", "heading", 2), text(4), text(5), two, text(6)]
    assert list(in_parts(blocks, size=100)) == [
        (one, deep, text(1), text(2)),
        (one, deep, text(3), Block("1.2", "heading", 2), text(4)),
        (one, Block("1.2", "heading", 2), text(5), two, text(6)),
    ]
    assert list(in_parts([], size=100)) == [()]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    def peak(megabytes: int) -> int:
        path = tmp_path / f"{megabytes}.log"
        lines = megabytes * 2**20 // 64
        with path.open("w") as stream:
            stream.writelines(f"{n:010d} one line of a log, as long as all of the others are.\n" for n in range(lines))
        tracemalloc.start()
        try:
            (last,) = deque(read_file(path), maxlen=1)
            assert last.blocks[-1].text.startswith(f"{(lines - 1) // 30 * 30:010d}")
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak(10) < 1.2 * peak(4) < 10 * PART_CHARS


def test_a_line_without_end_is_divided_between_words(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("first\n" + "word " * 50_000 + "\n" + "x" * 250_000 + "\nlast")
    lines = list(TextLines(path))
    assert "".join(text for _, text in lines) == path.read_text()
    assert max(len(text) for _, text in lines) <= LONGEST_LINE
    assert [number for number, _ in lines] == [1, 2, 2, 2, 3, 3, 3, 4]
    assert all(text.endswith(("word ", "\n")) for number, text in lines if number == 2)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(tmp_path: Path, ends: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(ends.join(("one", "", "three", "")).encode())
    assert list(TextLines(path)) == [(1, "one\n"), (2, "\n"), (3, "three\n")]


def test_bytes_that_cannot_be_decoded_are_counted_and_told(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(f"{GERMAN * 20}\ufffd\n".encode() + b"a \xff b\n\xfe c\n")
    (document,) = read_file(path)
    assert document.warnings == ('bytes that are no utf-8 became "\ufffd" (2 places, the first in line 42)',)
    assert document.blocks[-1].text.endswith("a \ufffd b\n\ufffd c")
    path.write_bytes(GERMAN.encode())
    assert next(read_file(path)).warnings == ()


def test_what_is_not_utf8_only_far_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"plain words\n" * 50_000 + GERMAN.encode("cp1252"))
    assert TextLines(path).encoding == "cp1252"
    assert "".join(text for number, text in TextLines(path) if number > 50_000) == GERMAN


def test_text_that_turns_into_something_else(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"#!/bin/sh\n" * 40_000 + bytes((n * 7919 + n * n * 31) % 256 for n in range(200_000)))
    with pytest.raises(UnreadableFile, match="not text"):
        list(read_file(path))
