from email.message import EmailMessage
from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.chunk import chunk
from retrieval.types import Document


def read(folder: Path, content: EmailMessage | bytes) -> Document:
    path = folder / "mail.eml"
    path.write_bytes(content if isinstance(content, bytes) else content.as_bytes())
    (document,) = read_file(path)
    assert document.kind == "eml"
    return document


def said(document: Document) -> list[str]:
    return [b.text for b in document.blocks]


def message(**headers: str) -> EmailMessage:
    new = EmailMessage()
    for name, text in {"from": "a@x.test", "subject": "Rooms", **headers}.items():
        new[name.replace("_", "-")] = text
    return new


def html(inner: str) -> EmailMessage:
    new = message()
    new.set_content(f"<html><head><title>t</title></head><body>{inner}</body></html>", subtype="html")
    return new


def test_headers_are_shown_and_kept(tmp_path: Path) -> None:
    new = message(
        subject="Räume & 見積もり",
        **{"from": "Jürgen Groß <j@x.test>"},
        to="a@x.test, שרה לוי <s@x.test>",
        cc="c@x.test",
        date="Fri, 01 Mar 2024 23:30:00 +0100",
        message_id="<3@x.test>",
        in_reply_to="<2@x.test>",
        references="<1@x.test> <2@x.test>",
    )
    new.set_content("Zwanzig Räume.\n")
    new["Content-Language"] = "de"
    document = read(tmp_path, new)
    assert document.title == "Räume & 見積もり"
    assert said(document) == [
        "Räume & 見積もり",
        "From: Jürgen Groß <j@x.test>\nTo: a@x.test, שרה לוי <s@x.test>\nCc: c@x.test\n"
        "Date: Fri, 01 Mar 2024 23:30:00 +0100",
        "Zwanzig Räume.",
    ]
    assert document.metadata == {
        "from": "Jürgen Groß <j@x.test>",
        "to": "a@x.test, שרה לוי <s@x.test>",
        "cc": "c@x.test",
        "author": "Jürgen Groß <j@x.test>",
        "date": "2024-03-01",
        "message_id": "<3@x.test>",
        "in_reply_to": "<2@x.test>",
        "references": "<1@x.test> <2@x.test>",
        "thread": "<1@x.test>",
        "language": "de",
    }
    assert [c.place for c in chunk(document)] == ["Räume & 見積もり"]


def test_a_message_that_begins_a_thread_names_it(tmp_path: Path) -> None:
    new = message(message_id="<1@x.test>")
    new.set_content("Hello.")
    assert read(tmp_path, new).metadata["thread"] == "<1@x.test>"


def test_quoted_parts_are_marked(tmp_path: Path) -> None:
    new = message()
    new.set_content(
        "Yes, 20.\n\nOn Monday, Sara wrote:\n> How many rooms?\n>\n>> An older line.\n\nAnd chairs.\n\n"
        "-----Original Message-----\nFrom: Bo\n\nOld words.\n"
    )
    assert said(read(tmp_path, new))[2:] == [
        "Yes, 20.",
        "On Monday, Sara wrote:",
        "[quoted] How many rooms?",
        "[quoted] An older line.",
        "And chairs.",
        "[quoted] -----Original Message-----\nFrom: Bo",
        "[quoted] Old words.",
    ]


def test_every_piece_of_a_long_quote_is_marked(tmp_path: Path) -> None:
    new = message()
    sentence = "> These are exactly ten words of a sentence that ends.\n"
    new.set_content("Fine.\n\n" + sentence * 60)
    quoted = said(read(tmp_path, new))[3:]
    assert len(quoted) == 6
    assert all(text.startswith("[quoted] These") and text.count("ten words") == 10 for text in quoted)


def test_html_where_there_is_no_plain_text(tmp_path: Path) -> None:
    new = html(
        "<h1>Offer</h1><p>New &amp; <b>good</b></p><div class='gmail_quote'>Bo wrote:<blockquote><h2>Old</h2><p>words</p>"
        "<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></blockquote></div><p>Below.</p>"
        "<p><b>From:</b> X<br><b>Sent:</b> Monday<br>To: Y</p><p>Rest.</p><p style='display:none'>hidden</p>"
    )
    document = read(tmp_path, new)
    assert [(b.kind, b.level, b.text) for b in document.blocks[2:]] == [
        ("heading", 2, "Offer"),
        ("paragraph", 0, "New & good"),
        ("paragraph", 0, "[quoted] Bo wrote:"),
        ("paragraph", 0, "[quoted] Old"),
        ("paragraph", 0, "[quoted] words"),
        ("table", 0, "[quoted] a | b\n1 | 2"),
        ("paragraph", 0, "Below."),
        ("paragraph", 0, "[quoted] From: X\nSent: Monday\nTo: Y"),
        ("paragraph", 0, "[quoted] Rest."),
    ]


def test_plain_text_is_preferred_unless_it_is_blank(tmp_path: Path) -> None:
    new = message()
    new.set_content("Plain.\n")
    new.add_alternative("<p>Rich.</p>", subtype="html")
    assert said(read(tmp_path, new))[2:] == ["Plain."]
    blank = message()
    blank.set_content(" \n")
    blank.add_alternative("<p>Rich.</p>", subtype="html")
    assert said(read(tmp_path, blank))[2:] == ["Rich."]


def test_attachments_are_listed(tmp_path: Path) -> None:
    new = message()
    new.set_content("See below.")
    new.add_attachment(b"x" * 15_000, maintype="application", subtype="pdf", filename="Plän.pdf")
    new.add_attachment("a,b\n1,2\n", subtype="csv", filename="a.csv")
    inner = message(subject="Inner")
    inner.set_content("Inner words.")
    new.add_attachment(inner)
    document = read(tmp_path, new)
    size = len(inner.as_bytes())
    listed = [
        "Plän.pdf (application/pdf, 15 KB)",
        "a.csv (text/csv, 8 bytes)",
        f"Inner (message/rfc822, {size} bytes)",
    ]
    assert said(document)[2:] == ["See below.", "Attachments:", *listed]
    assert document.warnings == tuple(f"attachment not read: {line}" for line in listed)


def test_texts_around_an_attachment_are_all_read(tmp_path: Path) -> None:
    new = message()
    new.set_content("Above.")
    new.add_attachment(b"x", maintype="image", subtype="png", filename="a.png")
    new.attach(text := EmailMessage())
    text.set_content("Below.")
    assert said(read(tmp_path, new))[2:] == ["Above.", "Below.", "Attachments:", "a.png (image/png, 1 bytes)"]


@pytest.mark.parametrize("encoding", ["koi8-r", "iso-2022-jp", "utf-8"])
def test_charsets(tmp_path: Path, encoding: str) -> None:
    words = "お見積もりをお送りします" if encoding == "iso-2022-jp" else "Привет, как дела"
    head = (
        f"From: a@x.test\nSubject: s\nContent-Type: text/plain; charset={encoding}\nContent-Transfer-Encoding: 8bit\n\n"
    )
    assert said(read(tmp_path, head.encode() + words.encode(encoding)))[2:] == [words]


def test_headers_that_are_not_encoded_as_they_should_be(tmp_path: Path) -> None:
    raw = "From: Jürgen <j@x.test>\r\nSubject: Grüße\r\nContent-Type: text/plain; charset=nonsense\r\n\r\nschön\r\n"
    for encoding in ("latin-1", "utf-8"):
        assert said(read(tmp_path, raw.encode(encoding))) == ["Grüße", "From: Jürgen <j@x.test>", "schön"]
    broken = b"From: a@x.test\nSubject: =?nonsense?q?caf?= =?utf-8?q?_=F0=9F=98=80?=\nTo: <@@>,,;[[\nDate: Fri, 32 Foo 2024\n\nx"
    document = read(tmp_path, broken)
    assert document.title == "caf 😀"
    assert document.warnings == ('the date "Fri, 32 Foo 2024" (date) is not clear and was left out',)


def test_a_message_that_was_cut_off(tmp_path: Path) -> None:
    new = message()
    new.set_content("Words.")
    new.add_attachment(b"x" * 900, maintype="application", subtype="pdf", filename="a.pdf")
    assert said(read(tmp_path, new.as_bytes()[:-600]))[2:4] == ["Words.", "Attachments:"]


NESTED = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(3000))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (
            b"PK\x03\x04" + bytes(range(256)) * 4,
            "not text but a zip archive, as DOCX and XLSX are (the content does not match the file's suffix).",
        ),
        (b"<html><body>a: b</body></html>", "not an e-mail (the content does not match the file's suffix)."),
        (b"Note: this\n\nis text", "not an e-mail (the content does not match the file's suffix)."),
        (b"To: a@x.test\n\n", "the e-mail holds neither a subject nor a text."),
        (
            b"From: a@x\nSubject: s\nContent-Type: application/pkcs7-mime\n\nAAAA",
            "the e-mail is encrypted; save it decrypted from your mail program.",
        ),
        (
            b"From: a@x\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nVersion: 1\n--b--\n",
            "the e-mail is encrypted; save it decrypted from your mail program.",
        ),
        (b"From: a@x\n" + NESTED, "its parts are nested too deeply to be read."),
    ],
)
def test_refusals(tmp_path: Path, raw: bytes, message: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, raw)
    assert str(caught.value) == f"mail.eml: {message}"
