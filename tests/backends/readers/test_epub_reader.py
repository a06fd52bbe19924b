import zipfile
from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.chunk import chunk
from retrieval.types import Document

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
META = "<dc:title>The Tide</dc:title><dc:creator>Ann Lee</dc:creator><dc:creator>Bo Ek</dc:creator><dc:language>en</dc:language>"


def opf(items: str, spine: str, meta: str = META, rest: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{meta}</metadata><manifest>{items}</manifest>'
        f"<spine>{spine}</spine>{rest}</package>"
    )


def item(name: str, href: str, properties: str = "", kind: str = "application/xhtml+xml") -> str:
    return f'<item id="{name}" href="{href}" media-type="{kind}" properties="{properties}"/>'


def page(inner: str, head: str = "<title/>") -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head>{head}</head><body>{inner}</body></html>'
    )


def book(folder: Path, parts: dict[str, str | bytes]) -> Path:
    path = folder / "tide.epub"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        for name, text in {"META-INF/container.xml": CONTAINER, **parts}.items():
            archive.writestr(name, text)
    return path


def two_chapters(**more: str | bytes) -> dict[str, str | bytes]:
    """In the manifest in another order than in the spine, with a table of contents that is part of the book."""
    items = item("b", "text/b%20b.xhtml") + item("a", "text/a.xhtml") + item("nav", "nav.xhtml", "nav")
    links = "<li><a href='text/a.xhtml#x'>One</a></li><li><a href='text/b%20b.xhtml'>Two</a></li>"
    toc = f"<nav epub:type='toc'><ol>{links}</ol></nav>"
    return {
        "OEBPS/book.opf": opf(items, "<itemref idref='nav'/><itemref idref='a'/><itemref idref='b'/>"),
        "OEBPS/nav.xhtml": page(toc),
        "OEBPS/text/a.xhtml": page("<h1>One</h1><p>High water.</p>"),
        "OEBPS/text/b b.xhtml": page("<p>Low&nbsp;water &amp; mud.</p>"),
        **more,
    }


def read(path: Path) -> Document:
    (document,) = read_file(path)
    assert document.kind == "epub"
    return document


def said(document: Document) -> list[tuple[str, int, str]]:
    return [(b.kind, b.level, b.text) for b in document.blocks]


def refusal(path: Path) -> str:
    with pytest.raises(UnreadableFile) as caught:
        list(read_file(path))
    return str(caught.value)


def test_chapters_in_the_order_of_the_spine(tmp_path: Path) -> None:
    document = read(book(tmp_path, two_chapters()))
    assert said(document) == [
        ("heading", 1, "One"),
        ("paragraph", 0, "High water."),
        ("heading", 1, "Two"),  # as the table of contents says
        ("paragraph", 0, "Low water & mud."),
    ]
    assert (document.title, document.units, document.warnings) == ("The Tide", 2, ())
    assert document.metadata == {"author": "Ann Lee, Bo Ek", "language": "en"}
    assert [c.place for c in chunk(document)] == ["One", "Two"]


def test_labels_and_contents_of_the_older_version(tmp_path: Path) -> None:
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Prologue</text></navLabel>'
        '<content src="text/a.xhtml"/></navPoint></navMap></ncx>'
    )
    meta = (
        "<dc:title>T</dc:title><dc:date>1999</dc:date><meta property='dcterms:modified'>2024-03-01T10:00:00Z</meta>"
        "<dc:publisher>Quay</dc:publisher>"
    )
    parts = {
        "OEBPS/book.opf": opf(
            item("a", "text/a.xhtml")
            + item("toc", "toc.xhtml")
            + item("n", "toc.ncx", kind="application/x-dtbncx+xml"),
            "<itemref idref='toc'/><itemref idref='a'/>",
            meta,
            "<guide><reference type='toc' href='toc.xhtml'/></guide>",
        ),
        "OEBPS/toc.ncx": ncx,
        "OEBPS/toc.xhtml": page("<p>Contents</p><p>Prologue</p>"),
        "OEBPS/text/a.xhtml": page("<p>A motto.</p><h2>Prologue</h2><p>It began.</p>"),
    }
    document = read(book(tmp_path, parts))
    assert said(document) == [
        ("heading", 1, "Prologue"),
        ("paragraph", 0, "A motto."),
        ("paragraph", 0, "It began."),
    ]
    assert document.metadata == {"created": "1999", "modified": "2024-03-01", "publisher": "Quay"}


def test_notes_and_boxes_stay(tmp_path: Path) -> None:
    inner = (
        "<h1>One</h1><p>The sea<a epub:type='noteref' href='#n'><sup>1</sup></a> rose.</p>"
        "<aside epub:type='footnote' id='n'><p>1. At noon.</p></aside><div class='sidebar'><p>A box.</p></div>"
        "<table><tr><th>Port</th><th>m</th></tr><tr><td>Oban</td><td>3.1</td></tr></table>"
    )
    document = read(book(tmp_path, two_chapters(**{"OEBPS/text/a.xhtml": page(inner)})))
    assert said(document)[1:5] == [
        ("paragraph", 0, "The sea[1] rose."),
        ("paragraph", 0, "1. At noon."),
        ("paragraph", 0, "A box."),
        ("table", 0, "Port | m\nOban | 3.1"),
    ]


def test_any_script_and_broken_markup(tmp_path: Path) -> None:
    parts = two_chapters(
        **{
            "OEBPS/text/a.xhtml": page("<h1>第一章</h1><p>潮が満ちた。</p>").encode("utf-16"),
            "OEBPS/text/b b.xhtml": "<html><body><h1>פרק שני<p>גאות<br>ושפל &nbsp; היום",
        }
    )
    assert said(read(book(tmp_path, parts))) == [
        ("heading", 1, "第一章"),
        ("paragraph", 0, "潮が満ちた。"),
        ("heading", 1, "פרק שני"),
        ("paragraph", 0, "גאות\nושפל היום"),
    ]


def test_a_missing_or_unreadable_chapter_is_named(tmp_path: Path) -> None:
    parts = two_chapters(**{"OEBPS/text/a.xhtml": bytes(range(1, 9)) * 50})
    parts.pop("OEBPS/text/b b.xhtml")
    items = item("b", "text/b.xhtml") + item("a", "text/a.xhtml") + item("c", "text/c.xhtml")
    parts["OEBPS/book.opf"] = opf(items, "".join(f"<itemref idref='{x}'/>" for x in "abc"))
    parts["OEBPS/text/c.xhtml"] = page("<p>Still here.</p>")
    document = read(book(tmp_path, parts))
    assert said(document) == [("paragraph", 0, "Still here.")]
    assert document.warnings == (
        "the chapter OEBPS/text/b.xhtml is missing from the file",
        "the chapter OEBPS/text/a.xhtml could not be read: not text (the content does not match the file's suffix).",
    )


def sealed(uri: str) -> str:
    return (
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:CipherData>'
        f'<e:CipherReference URI="{uri}"/></e:CipherData></e:EncryptedData></encryption>'
    )


def test_protected_chapters_are_refused_but_not_protected_fonts(tmp_path: Path) -> None:
    fonts = two_chapters(**{"META-INF/encryption.xml": sealed("OEBPS/a.otf")})
    assert len(read(book(tmp_path, fonts)).blocks) == 4
    chapters = two_chapters(**{"META-INF/encryption.xml": sealed("OEBPS/text/b%20b.xhtml")})
    assert refusal(book(tmp_path, chapters)) == (
        "tide.epub: the book is protected (DRM) and cannot be read; use a copy without protection."
    )


def test_paths_do_not_leave_the_archive(tmp_path: Path) -> None:
    (tmp_path / "secret.xhtml").write_text(page("<p>secret</p>"))
    items = item("a", "../../secret.xhtml") + item("b", "file:///etc/hostname") + item("c", "c.xhtml")
    parts: dict[str, str | bytes] = {
        "OEBPS/book.opf": opf(items, "".join(f"<itemref idref='{x}'/>" for x in "abc")),
        "OEBPS/c.xhtml": page("<p>Mine.</p>"),
    }
    document = read(book(tmp_path, parts))
    assert said(document) == [("paragraph", 0, "Mine.")]
    assert len(document.warnings) == 2


def test_entities_reach_no_other_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    declared = f'<!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}">]>'
    chapter = declared + "<html xmlns='http://www.w3.org/1999/xhtml'><body><p>Words &x; end</p></body></html>"
    document = read(book(tmp_path, two_chapters(**{"OEBPS/text/a.xhtml": chapter})))
    assert "secret" not in " ".join(b.text for b in document.blocks)
    package = str(two_chapters()["OEBPS/book.opf"]).replace("<package", f"{declared}<package", 1)
    assert refusal(book(tmp_path, two_chapters(**{"OEBPS/book.opf": package}))) == (
        "tide.epub: it declares XML entities (OEBPS/book.opf) and is not opened; "
        "open it in its program and save it again."
    )


def test_broken_books(tmp_path: Path) -> None:
    corrupt = "tide.epub: the EPUB file is corrupt; get or export it again."
    assert refusal(book(tmp_path, {})) == corrupt  # the package is not there
    assert refusal(book(tmp_path, two_chapters(**{"OEBPS/book.opf": "<package"}))) == corrupt
    pictures = two_chapters(**{"OEBPS/text/a.xhtml": page("<img src='a'/>"), "OEBPS/text/b b.xhtml": page("")})
    assert refusal(book(tmp_path, pictures)) == "tide.epub: no text found (only pictures?)."
    deep = two_chapters(**{"OEBPS/text/a.xhtml": page("<div>" * 3000 + "x" + "</div>" * 3000)})
    assert "could not be read" in read(book(tmp_path, deep)).warnings[0]
    whole = book(tmp_path, two_chapters()).read_bytes()
    (tmp_path / "tide.epub").write_bytes(whole[:400])
    assert refusal(tmp_path / "tide.epub") == (
        "tide.epub: the EPUB file is corrupt; open it in its program and save it again."
    )
