from pathlib import Path
from typing import Any

import pytest
from docx import Document as new_docx
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.types import Document


def read(folder: Path, file: Any) -> Document:
    path = folder / "contract.docx"
    file.save(str(path))
    (document,) = read_file(path)
    assert document.kind == "docx"
    return document


def said(document: Document) -> list[tuple[str, str, int]]:
    return [(b.kind, b.text, b.level) for b in document.blocks]


def test_body_in_order(tmp_path: Path) -> None:
    file = new_docx()
    file.add_heading("Berth lease", 0)
    file.add_paragraph("between A and B.")
    file.add_heading("Term", 2)
    file.add_paragraph("1.1 It runs for four years.")
    file.add_paragraph("a bullet", style="List Bullet")
    file.add_paragraph("first", style="List Number")
    file.add_paragraph("second", style="List Number")
    table = file.add_table(3, 3)
    for n, text in enumerate(["Port", "Berth", "Depth", "AHV", "1", "8.0", "", "2", ""]):
        table.cell(n // 3, n % 3).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(2, 1).merge(table.cell(2, 2))
    file.add_paragraph("The end.")
    document = read(tmp_path, file)
    assert document.title == "Berth lease"
    assert said(document) == [
        ("heading", "Berth lease", 1),
        ("paragraph", "between A and B.", 0),
        ("heading", "Term", 2),
        ("paragraph", "1.1 It runs for four years.", 0),
        ("list_item", "a bullet", 0),
        ("list_item", "1. first", 0),
        ("list_item", "2. second", 0),
        ("table", "Port | Berth | Depth\nAHV | 1 | 8.0\n | 2 | ", 0),
        ("paragraph", "The end.", 0),
    ]


def test_changes_are_read_as_accepted(tmp_path: Path) -> None:
    file = new_docx()
    file.add_paragraph("Pay ")._p.append(
        parse_xml(f"<w:ins {nsdecls('w')} w:id='1' w:author='x'><w:r><w:t>now</w:t></w:r></w:ins>")
    )
    file.paragraphs[0]._p.append(
        parse_xml(f"<w:del {nsdecls('w')} w:id='2' w:author='x'><w:r><w:delText>later</w:delText></w:r></w:del>")
    )
    assert said(read(tmp_path, file)) == [("paragraph", "Pay now", 0)]


LEVELS = "".join(
    f"<w:lvl w:ilvl='{n}'><w:start w:val='1'/><w:numFmt w:val='{form}'/><w:lvlText w:val='{text}'/></w:lvl>"
    for n, (form, text) in enumerate(
        [("decimal", "§ %1"), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"), ("lowerRoman", "%4.")]
    )
)


def test_clause_numbers_are_counted_as_the_program_does(tmp_path: Path) -> None:
    file = new_docx()
    numbering = file.part.numbering_part.element
    numbering.insert(0, parse_xml(f"<w:abstractNum {nsdecls('w')} w:abstractNumId='99'>{LEVELS}</w:abstractNum>"))
    numbering.append(parse_xml(f"<w:num {nsdecls('w')} w:numId='99'><w:abstractNumId w:val='99'/></w:num>"))
    for depth, text in [
        (0, "Term"),
        (1, "Start"),
        (1, "End"),
        (2, "by notice"),
        (2, "by law"),
        (0, "Price"),
        (1, "Sum"),
        (3, "x"),
    ]:
        properties = file.add_paragraph(text)._p.get_or_add_pPr()
        properties.append(
            parse_xml(f"<w:numPr {nsdecls('w')}><w:ilvl w:val='{depth}'/><w:numId w:val='99'/></w:numPr>")
        )
    assert [b.text for b in read(tmp_path, file).blocks] == [
        "§ 1 Term",
        "1.1 Start",
        "1.2 End",
        "(a) by notice",
        "(b) by law",
        "§ 2 Price",
        "2.1 Sum",
        "i. x",
    ]


def test_a_table_of_one_cell_is_a_frame(tmp_path: Path) -> None:
    file = new_docx()
    file.add_table(1, 1).cell(0, 0).text = "Note: framed."
    assert said(read(tmp_path, file)) == [("paragraph", "Note: framed.", 0)]


def test_no_text(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"^contract\.docx: no text found \(only pictures\?\)\.$"):
        read(tmp_path, new_docx())
