from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.chunk import chunk
from retrieval.types import Document


def read(folder: Path, name: str, text: str | bytes) -> Document:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (document,) = read_file(path)
    assert document.kind == path.suffix[1:]
    return document


def said(document: Document) -> list[tuple[str, str]]:
    return [(b.spot, b.text) for b in document.blocks]


def cues(*found: tuple[str, str, str]) -> str:
    return "\n".join(f"{n}\n{start} --> {end}\n{text}\n" for n, (start, end, text) in enumerate(found, 1))


VTT = """WEBVTT - Harbour talk
Language: en-GB

NOTE nobody hears
this remark

STYLE
::cue { color: red }

intro
00:00:01.000 --> 00:00:04.000 align:start position:0%
<v Ada Byron>Good <b>morning</b>, <c.yellow>all</c>. Tea &amp; bread
at <i>nine</i>.</v>

00:04.500 --> 00:06.000
<v.loud Bo>Fine.</v> <v Ada Byron><00:00:05.000>So <c>be</c> it.

01:02:05.000 --> 01:02:06.000
- Are we there?
- Not yet.
"""


def test_webvtt_keeps_times_and_speakers_and_drops_markup(tmp_path: Path) -> None:
    document = read(tmp_path, "talk.vtt", VTT)
    assert said(document) == [
        ("00:00:01", "Ada Byron: Good morning, all. Tea & bread at nine.\nBo: Fine.\nAda Byron: So be it."),
        ("01:02:05", "- Are we there?\n- Not yet."),
    ]
    assert (document.title, document.metadata, document.warnings) == ("Harbour talk", {"language": "en-GB"}, ())


def test_srt_in_its_many_spellings(tmp_path: Path) -> None:
    text = (
        "1\n00:00:01,000 --> 00:00:02,000\n<i>In the year</i>\n1984\n\n"
        "2\n00:00:02.500 --> 00:00:03.000 X1:10 X2:20\n{\\an8}JO: no number,<br>but a --> mark\n"
        "3\n00:00:03,000-->00:00:04,000\n\n\n4\n00:00:05,000 --> 00:00:06,000\nand\n1985\n"
    )
    document = read(tmp_path, "a.srt", text)
    assert said(document) == [("00:00:01", "In the year 1984\nJO: no number, but a --> mark and 1985")]
    assert document.warnings == ()
    unnumbered = "00:00:01,000 --> 00:00:02,000\nOne\n\n00:00:12,000 --> 00:00:13,000\nTwo\n"
    assert said(read(tmp_path, "b.srt", unnumbered)) == [("00:00:01", "One"), ("00:00:12", "Two")]


def test_a_place_is_a_time_or_a_span_of_times(tmp_path: Path) -> None:
    words = "one two three four five six seven eight nine ten"
    spoken = [(f"00:{n:02}:07,000", f"00:{n:02}:09,500", f"{words} {n}.") for n in range(30)]
    document = read(tmp_path, "a.srt", cues(*spoken))
    assert [spot for spot, _ in said(document)] == [f"00:{n:02}:07" for n in range(30)]  # a minute's silence ends each
    places = [c.place for c in chunk(document)]
    assert places[0] == "00:00:07-00:09:07"
    short = read(tmp_path, "b.srt", cues(("00:12:07,000", "00:12:09,000", "Hello.")))
    assert [c.place for c in chunk(short)] == ["00:12:07"]


def test_paragraphs_end_with_a_sentence_or_at_a_bound(tmp_path: Path) -> None:
    nine = "one two three four five six seven eight nine"
    spoken = [(f"00:00:{n:02},000", f"00:00:{n + 1:02},000", f"{nine} {n}" + "." * (n % 5 == 4)) for n in range(20)]
    assert [spot for spot, _ in said(read(tmp_path, "a.srt", cues(*spoken)))] == [
        f"00:00:{n:02}" for n in (0, 5, 10, 15)
    ]
    endless = [(f"00:00:{n:02},000", f"00:00:{n + 1:02},000", f"{nine} {n}") for n in range(20)]
    assert [spot for spot, _ in said(read(tmp_path, "b.srt", cues(*endless)))] == ["00:00:00", "00:00:08", "00:00:16"]


def test_captions_that_roll_are_said_once(tmp_path: Path) -> None:
    rolling = "WEBVTT\n\n" + "\n\n".join(f"00:{n:02}.000 --> 00:{n + 1:02}.000\nl{n}\nl{n + 1}" for n in range(6))
    document = read(tmp_path, "a.vtt", rolling)
    assert said(document) == [("00:00:00", "l0 l1 l2 l3 l4 l5 l6")]
    assert document.warnings == ("5 lines that only repeat the subtitle before were left out",)
    spoken = cues(
        *[(f"00:00:0{n},000", f"00:00:0{n + 1},000", text) for n, text in enumerate(["No.", "No.", "Yes.", "So."])]
    )
    assert said(read(tmp_path, "b.srt", spoken)) == [("00:00:00", "No. No. Yes. So.")]


def test_any_script_and_encoding(tmp_path: Path) -> None:
    text = cues(("00:00:01,000", "00:00:02,000", "船は港に着いた。"), ("00:00:03,000", "00:00:04,000", "ברוך הבא"))
    assert said(read(tmp_path, "a.srt", text.encode("utf-16"))) == [("00:00:01", "船は港に着いた。 ברוך הבא")]


def test_what_cannot_be_told_apart_is_named(tmp_path: Path) -> None:
    good = cues(("00:00:01,000", "00:00:02,000", "One."), ("00:00:0x,000", "00:00:04,000", "Two."))
    document = read(tmp_path, "a.srt", good + "\n3\n00:00:05,000 --> 00:00:06,000\nThree.\n")
    assert said(document) == [("00:00:01", "One. Three.")]
    assert document.warnings == ("only 2 of 3 subtitles could be told apart; check the lines with times",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.srt", "<html><body>Hi</body></html>", "a.srt: no subtitle with a time was found in it."),
        ("a.vtt", "WEBVTT\n\nNOTE x\n", "a.vtt: no subtitle with a time was found in it."),
        ("b.srt", cues(("00:00:01,000", "00:00:02,000", "<i> </i>")), "b.srt: the subtitles hold no words."),
        (
            "b.vtt",
            cues(("00:00:01,000", "00:00:02,000", "x")),
            "b.vtt: not WebVTT (its first line is not WEBVTT); if it is SRT, give it the suffix .srt.",
        ),
    ],
)
def test_files_without_subtitles(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, name, content)
    assert str(caught.value) == message
