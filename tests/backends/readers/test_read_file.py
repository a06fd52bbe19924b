"""What the reader of a file refuses, and how it says so."""

import zipfile
from pathlib import Path

import pytest

from backends import readers
from backends.errors import UnreadableFile
from backends.readers import READERS, archives, read_file


def refusal(path: Path) -> str:
    with pytest.raises(UnreadableFile) as caught:
        list(read_file(path))
    return str(caught.value)


def made(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def zipped(folder: Path, name: str, members: dict[str, bytes]) -> Path:
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return path


def test_unknown_suffix(tmp_path: Path) -> None:
    said = refusal(made(tmp_path, "a.xyz", b"x"))
    assert said == f"a.xyz: .xyz files are not read; supported: {', '.join(READERS)}."
    assert refusal(made(tmp_path, "README", b"x")).startswith("README: files without a suffix are not read; supported:")
    assert "a.xls: .xls files are not read; save it as .xlsx; supported:" in refusal(made(tmp_path, "a.xls", b"x"))


@pytest.mark.parametrize("suffix", sorted(READERS))
def test_empty_files(tmp_path: Path, suffix: str) -> None:
    assert refusal(made(tmp_path, f"a{suffix}", b"")) == f"a{suffix}: the file is empty."


def test_white_space_only(tmp_path: Path) -> None:
    assert refusal(made(tmp_path, "a.csv", b"\n")) == "a.csv: the file is empty (it holds no text)."
    assert refusal(made(tmp_path, "b.csv", b",,\n,,\n")) == "b.csv: the file is empty (it holds no cell)."


def test_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "MAX_BYTES", 2**20)
    path = made(tmp_path, "a.txt", b"x" * (3 * 2**20))
    assert refusal(path) == "a.txt: the file is too large (3 MB, the limit is 1 MB); split it."


def test_suffix_in_capitals(tmp_path: Path) -> None:
    assert next(read_file(made(tmp_path, "A.TXT", b"Hello"))).title == "A"


NOISE = bytes((n * 7919 + n * n * 31) % 256 for n in range(2000))


def test_content_that_does_not_match_the_suffix(tmp_path: Path) -> None:
    match = "(the content does not match the file's suffix)."
    assert refusal(made(tmp_path, "a.pdf", NOISE)) == f"a.pdf: not a PDF {match}"
    assert refusal(made(tmp_path, "a.docx", NOISE)) == f"a.docx: not a DOCX file {match}"
    assert refusal(made(tmp_path, "a.xlsx", NOISE)) == f"a.xlsx: not an XLSX file {match}"
    assert refusal(made(tmp_path, "a.txt", NOISE)) == f"a.txt: not text {match}"
    assert refusal(made(tmp_path, "a.csv", NOISE)) == f"a.csv: not text {match}"
    assert refusal(zipped(tmp_path, "b.docx", {"x.txt": b"x"})) == f"b.docx: not a DOCX file {match}"


def test_corrupt_files(tmp_path: Path) -> None:
    whole = zipped(tmp_path, "w.docx", {"word/document.xml": NOISE * 20}).read_bytes()
    again = "open it in its program and save it again."
    assert refusal(made(tmp_path, "a.docx", whole[:3000])) == f"a.docx: the DOCX file is corrupt; {again}"
    assert refusal(made(tmp_path, "b.docx", whole)) == f"b.docx: the DOCX file is corrupt; {again}"
    parts = {"[Content_Types].xml": b"<Types/>", "xl/workbook.xml": b"<"}
    said = refusal(zipped(tmp_path, "a.xlsx", parts))
    assert said == "a.xlsx: the XLSX file is corrupt; open it in a spreadsheet program and save it again."
    said = refusal(made(tmp_path, "a.pdf", b"%PDF-1.4\n" + NOISE))
    assert said == "a.pdf: the PDF is corrupt; open it in a viewer and save it again."


def test_office_files_with_a_password(tmp_path: Path) -> None:
    said = refusal(made(tmp_path, "a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)))
    assert said == "a.docx: encrypted, or in the format before DOCX; save it as .docx without a password."


def test_zip_bombs_are_refused_before_parsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rest = "MB and is not opened; split it, or take out pictures and empty ranges."
    bomb = zipped(tmp_path, "a.xlsx", {"[Content_Types].xml": b"", "xl/a.xml": bytes(60 * 2**20)})
    assert refusal(bomb) == f"a.xlsx: it inflates to more than 20 {rest}"  # the ratio alone
    monkeypatch.setattr(archives, "MAX_INFLATED", 2**20)
    large = zipped(tmp_path, "b.docx", {"word/document.xml": NOISE * 600})
    assert refusal(large) == f"b.docx: it inflates to more than 1 {rest}"
