import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.types import Block, Document

Text = tuple[float, float, float, str]  # x, y, size, words; bold where the words begin with "*"
PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def pdf(pages: Sequence[Sequence[Text]], user: str | None = None, title: str = "") -> bytes:
    """A PDF of these texts; `user` encrypts it (PDF 1.4, 40 bits), with an owner's password beside."""
    key = entry = b""
    if user is not None:
        password = (user.encode() + PAD)[:32]
        owner = rc4(hashlib.md5((b"owner" + PAD)[:32]).digest()[:5], password)
        key = hashlib.md5(password + owner + b"\xfc\xff\xff\xff" + b"id").digest()[:5]
        entry = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (owner.hex().encode(), rc4(key, PAD).hex().encode())
    objects = [b"<</Type/Catalog/Pages 2 0 R>>"]
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode())
    objects.extend(b"<</Type/Font/Subtype/Type1/BaseFont/%s>>" % name for name in (b"Helvetica", b"Helvetica-Bold"))
    for n, texts in enumerate(pages):
        number = 6 + 2 * n
        parts = []
        for x, y, size, words in texts:
            bold, words = words.startswith("*"), words.lstrip("*")
            words = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            parts.append(f"BT /F{2 if bold else 1} {size} Tf {x} {y} Td ({words}) Tj ET")
        stream = "\n".join(parts).encode("cp1252")
        if key:
            stream = rc4(hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], stream)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>/Contents %d 0 R>>"
            % number
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
    trailer = b"/Root 1 0 R"
    for extra, name in ((entry, b"Encrypt"), (f"<</Title({title})>>".encode() if title else b"", b"Info")):
        if extra:
            objects.append(extra)
            trailer += b"/%s %d 0 R" % (name, len(objects))
    out, offsets = b"%PDF-1.4\n", []
    for n, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (n, body)
    table = b"".join(b"%010d 00000 n \n" % at for at in offsets)
    size = len(objects) + 1
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d%s/ID[<6964><6964>]>>\nstartxref\n%d\n%%%%EOF" % (
        size, table, size, trailer, len(out),
    )  # fmt: skip


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
    assert [b.text for b in read(tmp_path, pdf(pages)).blocks] == [
        "Page text one.", "Page text two.", "Page text three.", "Page text four.",
    ]  # fmt: skip


def test_two_pages_keep_what_they_say(tmp_path: Path) -> None:
    document = read(tmp_path, pdf([lines("1"), lines("2")]))
    assert [(b.text, b.page) for b in document.blocks] == [("1", 1), ("2", 2)]


def test_a_paragraph_over_a_page_break_stays_whole(tmp_path: Path) -> None:
    document = read(tmp_path, pdf([lines(LONG), lines("concerns the crew.")]))
    assert [(b.text, b.page) for b in document.blocks] == [(f"{LONG} concerns the crew.", 1)]


def test_rows_of_a_table_stay_lines(tmp_path: Path) -> None:
    rows = [("Figure", "2024", "2025"), ("Cars", "212,700", "219,300"), ("Passengers", "1,018", "1,071")]
    texts = [
        (x, 700 - 12 * n, 10, cell) for n, row in enumerate(rows) for x, cell in zip((60, 300, 450), row, strict=True)
    ]
    (block,) = read(tmp_path, pdf([texts])).blocks
    assert block.text == "Figure 2024 2025\nCars 212,700 219,300\nPassengers 1,018 1,071"


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
