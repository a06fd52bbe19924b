"""Plain text, and the encodings that every text format shares."""

from pathlib import Path

import pytest

from backends.readers import read_file
from backends.readers.decoding import clean, decode
from retrieval.types import Block

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
