from pathlib import Path

import pytest
from pdf_files import Text, pdf

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.types import Block, Document


def read(folder: Path, content: bytes) -> Document:
    path = folder / "manual.pdf"
    path.write_bytes(content)
    (document,) = read_file(path)
    assert document.kind == "pdf"
    return document


def lines(*words: str, top: float = 700, size: float = 10, pitch: float = 12) -> list[Text]:
    return [(60, top - n * pitch, size, w) for n, w in enumerate(words)]


LONG = "The master has the duty to decide on the safety of the vessel and on all that"


def test_paragraphs_headings_and_pages(tmp_path: Path) -> None:
    one = [
        (60.0, 780.0, 18.0, "*Safety manual"),
        *lines(LONG, "concerns the crew, and nobody may over-", "rule the master, who"),
        *lines("(a) writes the log;", "(b) signs it.", top=650),
        (60.0, 600.0, 10.0, "4.2 Hours of rest"),
        *lines(LONG, "is written down here.", top=584),
    ]
    two = [(60.0, 780.0, 14.0, "*Fire"), *lines("Ring the bell. " + LONG[:40], "and go.")]
    document = read(tmp_path, pdf([one, two]))
    assert (document.title, document.units, document.warnings) == ("Safety manual", 2, ())
    assert list(document.blocks) == [
        Block("Safety manual", "heading", 1, page=1),
        Block(f"{LONG} concerns the crew, and nobody may overrule the master, who", page=1),
        Block("(a) writes the log;", "list_item", page=1),
        Block("(b) signs it.", "list_item", page=1),
        Block("4.2 Hours of rest", "heading", 3, page=1),
        Block(f"{LONG} is written down here.", page=1),
        Block("Fire", "heading", 2, page=2),
        Block("Ring the bell. The master has the duty to decide on the and go.", page=2),
    ]


def test_hyphens_at_line_ends(tmp_path: Path) -> None:
    text = lines(
        LONG + " con-", "cerns the crew of a two-deck ship and nobody else at all, be it on a two-", "deck ship."
    )
    (block,) = read(tmp_path, pdf([text])).blocks
    assert (
        block.text == f"{LONG} concerns the crew of a two-deck ship and nobody else at all, be it on a two-deck ship."
    )


def test_headers_and_footers_that_repeat_are_dropped(tmp_path: Path) -> None:
    pages = [
        [(60.0, 810.0, 8.0, "Fleet manual"), *lines(f"Page text {word}."), (500.0, 30.0, 8.0, f"Page {n}")]
        for n, word in enumerate(("one", "two", "three", "four"), 1)
    ]
    document = read(tmp_path, pdf(pages))
    assert [b.text for b in document.blocks] == [
        "Page text one.", "Page text two.", "Page text three.", "Page text four.",
    ]  # fmt: skip
    assert document.warnings == ('left out as what repeats at the edge of the pages: "Page 1", "Fleet manual"',)


def test_two_pages_keep_what_they_say(tmp_path: Path) -> None:
    document = read(tmp_path, pdf([lines("1"), lines("2")]))
    assert [(b.text, b.page) for b in document.blocks] == [("1", 1), ("2", 2)]


def test_a_paragraph_over_a_page_break_stays_whole(tmp_path: Path) -> None:
    document = read(tmp_path, pdf([lines(LONG), lines("concerns the crew.")]))
    assert [(b.text, b.page) for b in document.blocks] == [(f"{LONG} concerns the crew.", 1)]


def test_rows_of_a_table_stay_together(tmp_path: Path) -> None:
    rows = [("Figure", "2024", "2025"), ("Cars", "212,700", "219,300"), ("Passengers", "1,018", "1,071")]
    texts = [
        (x, 700 - 12 * n, 10, cell) for n, row in enumerate(rows) for x, cell in zip((60, 300, 450), row, strict=True)
    ]
    (block,) = read(tmp_path, pdf([texts])).blocks
    assert block.text == "Figure | 2024 | 2025\nCars | 212,700 | 219,300\nPassengers | 1,018 | 1,071"


def test_a_number_in_front_of_a_wrapped_line_is_no_item(tmp_path: Path) -> None:
    text = lines(LONG, "0.6 miles south of the fairway concerns the crew.")
    assert [b.kind for b in read(tmp_path, pdf([text])).blocks] == ["paragraph"]


def test_pages_without_text_are_named(tmp_path: Path) -> None:
    document = read(tmp_path, pdf([lines("Words."), [], lines("More.")]))
    assert document.warnings == ("page 2 holds no text (a scan?)",)
    assert [b.page for b in document.blocks] == [1, 3]


def test_stated_title(tmp_path: Path) -> None:
    assert read(tmp_path, pdf([lines("Words.")], title="Port handbook")).title == "Port handbook"
    assert read(tmp_path, pdf([lines("Words.")], title="untitled.docx")).title == "manual"


def test_no_text_at_all(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, pdf([[], []]))
    assert str(caught.value) == "manual.pdf: no text found (a scan?); recognise its text (OCR) first."


def test_passwords(tmp_path: Path) -> None:
    assert read(tmp_path, pdf([lines("Locked against change.")], user="")).blocks[0].text == "Locked against change."
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, pdf([lines("Secret.")], user="1234"))
    assert str(caught.value) == "manual.pdf: the PDF needs a password; save a copy without one."


LEFT = [
    "The harbour master decides who may", "enter the port and in which order", "the vessels are served. In winter the",
    "ice pilot is heard first, and no ship", "may leave before he has agreed to it", "in writing and paid all of its dues.",
]  # fmt: skip
RIGHT = [
    "Fees are due on arrival, in cash or", "by transfer to the account of the ha-", "rbour. Who does not pay is not to",
    "leave until the whole sum has been paid", "in full. Complaints go to the court", "of the district within thirty days.",
]  # fmt: skip


def test_columns_drawn_line_by_line_are_read_one_after_the_other(tmp_path: Path) -> None:
    texts = [(x, 700.0 - 12 * n, 10.0, side[n]) for n in range(len(LEFT)) for x, side in ((60.0, LEFT), (320.0, RIGHT))]
    document = read(tmp_path, pdf([texts]))
    text = " ".join(" ".join(b.text.split()) for b in document.blocks)
    assert text == " ".join(LEFT) + " " + " ".join(RIGHT).replace("ha- rb", "harb")
    assert document.tables == ()


def test_pages_and_texts_that_are_turned(tmp_path: Path) -> None:
    whole = f"{LONG} concerns the crew of the ship."
    first, second = LONG, "concerns the crew of the ship."
    for turn, (x, y, across, down) in {
        0: (60, 700, 0, -12), 90: (100, 60, 12, 0), 180: (535, 100, 0, 12), 270: (500, 800, -12, 0),
    }.items():  # fmt: skip
        texts = [(x, y, 10, first, turn), (x + across, y + down, 10, second, turn)]
        for rotate in (0, turn):
            (block,) = read(tmp_path, pdf([texts], rotate=rotate)).blocks
            assert (turn, rotate, block.text) == (turn, rotate, whole)


def test_notes_in_the_margin_come_last(tmp_path: Path) -> None:
    texts: list[Text | tuple[float, float, float, str, int]] = [(30, 300, 8, "Draft of May", 90)]
    texts.extend(lines(LONG, "concerns the crew."))
    assert [b.text for b in read(tmp_path, pdf([texts])).blocks] == [f"{LONG} concerns the crew.", "Draft of May"]


def test_hebrew_is_read_in_logical_order(tmp_path: Path) -> None:
    letters = {"A": "ש", "B": "ל", "C": "ו", "D": "ם", "E": "ע", "F": "כ", " ": " "}
    (block,) = read(tmp_path, pdf([[(60, 700, 10, "FE DCBA")]], unicode=letters)).blocks  # as it stands on the page
    assert block.text == "שלום עכ"


def test_a_broken_table_of_places_is_made_anew(tmp_path: Path) -> None:
    content = pdf([lines("Words.")])
    at = content.index(b"xref")
    assert (
        read(tmp_path, content[:at] + b"xref\n0 1\n" + content[content.index(b"trailer") :]).blocks[0].text == "Words."
    )
