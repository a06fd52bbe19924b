import shutil
import sys
from pathlib import Path

import pypdfium2 as pdfium
import pytest
from pdf_files import pdf

from backends.errors import UnreadableFile
from backends.readers import read_file
from backends.readers.ocr import RecognitionFailed, recognise
from backends.readers.options import ReadOptions
from retrieval.types import Document

ROWS = [
    "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext",
    "1\t1\t0\t0\t0\t0\t0\t0\t2479\t3508\t-1\t",
    "5\t1\t1\t1\t1\t1\t300\t300\t200\t40\t96.1\tBerth",
    "5\t1\t1\t1\t1\t2\t520\t300\t90\t40\t95.0\tseven",
    "5\t1\t1\t1\t2\t1\t300\t350\t200\t40\t95.0\tis",
    '5\t1\t1\t1\t2\t2\t520\t350\t90\t40\t95.0\t"closed".',
]


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """A program called tesseract on the PATH, and none beside it."""
    program = folder / "bin" / "tesseract"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys, time\n"
        "if '--list-langs' in sys.argv:\n    print('List of available languages (2):\\neng\\nnld')\n    sys.exit()\n"
        f"assert sys.argv[1:5] == ['stdin', 'stdout', '-l', 'nld'], sys.argv\n"
        f"assert sys.stdin.buffer.read().startswith(b'P5 2480 3509 255\\n')\n{answer}\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


def read(folder: Path, pages: int = 2, ocr: str = "nld") -> Document:
    """A page of text, and others without any."""
    path = folder / "scan.pdf"
    path.write_bytes(pdf([[(60, 700, 10, "Typed words, quite enough of them for a page.")], *[[]] * (pages - 1)]))
    (document,) = read_file(path, ReadOptions(ocr=ocr))
    return document


def test_scanned_pages_are_recognised_and_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, f"print({chr(10).join(ROWS)!r})")
    document = read(tmp_path)
    assert [(b.text, b.page) for b in document.blocks] == [
        ("Typed words, quite enough of them for a page.", 1), ('Berth seven is "closed".', 2),
    ]  # fmt: skip
    assert document.warnings == ("page 2 was recognised by OCR, which may misread",)


def test_nothing_is_recognised_unless_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "sys.exit(9)")
    assert read(tmp_path, ocr="").warnings == ("page 2 holds no text (a scan?)",)


def test_a_page_that_fails_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "sys.exit(9)")
    assert read(tmp_path).warnings == ("page 2 holds no text (a scan?); tesseract failed",)


def test_a_page_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "time.sleep(60)")
    file = pdfium.PdfDocument(pdf([[]]))
    with pytest.raises(RecognitionFailed, match=r"^recognising it took longer than 0\.2 s$"):
        recognise(file[0], "nld", seconds=0.2)
    file.close()


def test_without_tesseract_what_to_install_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read(tmp_path, pages=1).units == 1  # where nothing is to be recognised, nothing is missed
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path)
    assert str(caught.value) == (
        "scan.pdf: recognising its text (OCR) needs the program tesseract, which is not installed: "
        "on Debian or Ubuntu `apt install tesseract-ocr`, on macOS `brew install tesseract`."
    )


def test_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "sys.exit(9)")
    with pytest.raises(UnreadableFile, match=r"has no data for chi_sim; .*`apt install tesseract-ocr-chi-sim`"):
        read(tmp_path, ocr="nld+chi_sim")
    with pytest.raises(UnreadableFile, match='"--psm 0" is no language for OCR'):
        read(tmp_path, ocr="--psm 0")


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_a_picture_of_words_is_read(tmp_path: Path) -> None:
    words = pdfium.PdfDocument(pdf([[(60, 700, 24, "The quay is closed on Sunday")]]))
    picture = words[0].render(scale=2, grayscale=True).to_numpy()
    words.close()
    height, width = picture.shape[:2]
    image = f"q 595 0 0 842 0 0 cm BI /W {width} /H {height} /CS /G /BPC 8 /F /AHx ID {picture.tobytes().hex()}> EI Q"
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf([[image, (60, 20, 8, "Page 1")]]))  # a stamp beside the picture
    (plain,) = read_file(path)
    (document,) = read_file(path, ReadOptions(ocr="eng"))
    assert plain.warnings == ("page 1 holds hardly any text (a scan?)",)
    assert document.warnings == ("page 1 was recognised by OCR, which may misread",)
    assert document.blocks[0].text == "The quay is closed on Sunday"
