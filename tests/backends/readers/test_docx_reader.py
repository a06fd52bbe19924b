from pathlib import Path
from typing import Any

import pytest
from docx import Document as new_docx
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
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
        ("table", "Port | Berth | Depth\nAHV | 1 | 8.0\nAHV | 2 | ", 0),
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
    document = read(tmp_path, file)
    assert said(document) == [("paragraph", "Pay now", 0)]
    assert document.warnings == ("tracked changes were read as accepted",)


def test_clauses_and_rows_that_a_change_takes_out_do_not_count(tmp_path: Path) -> None:
    file = new_docx()
    for word in ("one", "two", "three"):
        file.add_paragraph(word, style="List Number")
    gone = file.paragraphs[1]._p
    run = gone.r_lst[0]
    gone.replace(
        run, parse_xml(f"<w:del {nsdecls('w')} w:id='1' w:author='x'><w:r><w:delText>two</w:delText></w:r></w:del>")
    )
    gone.get_or_add_pPr().append(parse_xml(f"<w:rPr {nsdecls('w')}><w:del w:id='2' w:author='x'/></w:rPr>"))
    table = file.add_table(3, 2)
    for n, text in enumerate(["Port", "Fee", "Oslo", "12", "Rome", "14"]):
        table.cell(n // 2, n % 2).text = text
    row = table.rows[1]._tr.get_or_add_trPr()
    row.append(parse_xml(f"<w:del {nsdecls('w')} w:id='3' w:author='x'/>"))
    assert [b.text for b in read(tmp_path, file).blocks] == ["1. one", "2. three", "Port | Fee\nRome | 14"]


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


def grid_of(file: Any, rows: list[list[str]]) -> Any:
    table = file.add_table(len(rows), len(rows[0]))
    for n, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(n, column).text = text
    return table


def test_tables_are_grids(tmp_path: Path) -> None:
    file = new_docx()
    file.add_heading("4 Fees", 1)
    table = grid_of(file, [["Port", "2026", ""], ["", "Q1", "Q2"], ["Oslo", "1", "2"], ["", "3", "4"]])
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(0, 0).merge(table.cell(1, 0))
    table.cell(2, 0).merge(table.cell(3, 0))
    for row in list(table.rows)[:2]:
        row._tr.get_or_add_trPr().append(parse_xml(f"<w:tblHeader {nsdecls('w')}/>"))
    file.add_paragraph("Table 1: Quarterly fees", style="Caption")
    (grid,) = read(tmp_path, file).tables
    assert (grid.name, grid.place) == ("Table 1: Quarterly fees", "§ 4 Fees, Table 1")
    assert grid.header == ("Port", "2026 Q1", "2026 Q2")
    assert grid.rows == (("Oslo", "1", "2"), ("Oslo", "3", "4"))


def test_a_table_in_a_cell_is_read_on_its_own(tmp_path: Path) -> None:
    file = new_docx()
    table = grid_of(file, [["Port", "Berths"], ["Oslo", "see below"], ["Rome", "none"]])
    inner = table.cell(1, 1).add_table(2, 2)
    for n, text in enumerate(["Berth", "Depth", "B1", "8.0"]):
        inner.cell(n // 2, n % 2).text = text
    document = read(tmp_path, file)
    assert [b.text for b in document.blocks] == [
        "Port | Berths\nOslo | see below\nRome | none",
        "Berth | Depth\nB1 | 8.0",
    ]
    assert [grid.header for grid in document.tables] == [("Port", "Berths"), ("Berth", "Depth")]


def test_layout_tables_are_read_through(tmp_path: Path) -> None:
    file = new_docx()
    grid_of(file, [["one"], ["column"]])
    file.add_paragraph("Then.")
    cell = grid_of(file, [["Left", "Right"]]).cell(0, 0)
    cell.add_paragraph("more on the left", style="List Bullet")
    document = read(tmp_path, file)
    assert [b.text for b in document.blocks] == ["one", "column", "Then.", "Left", "more on the left", "Right"]
    assert document.tables == ()


def part(file: Any, kind: str, xml: str) -> None:
    """Adds a part such as the footnotes to a file."""
    content = f"application/vnd.openxmlformats-officedocument.wordprocessingml.{kind}+xml"
    name = PackURI(f"/word/{kind}.xml")
    new = Part(name, content, xml.encode(), file.part.package)
    file.part.relate_to(new, f"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}")


def test_footnotes_follow_their_paragraph(tmp_path: Path) -> None:
    file = new_docx()
    for word, note in (("Fees", "7"), ("Dues", "5")):
        run = file.add_paragraph(f"{word} are due").add_run()
        run._r.append(parse_xml(f"<w:footnoteReference {nsdecls('w')} w:id='{note}'/>"))
    notes = "".join(
        f"<w:footnote w:id='{n}' {kind}><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:footnote>"
        for n, kind, text in ((0, "w:type='separator'", "x"), (5, "", "Not in May."), (7, "", "Net."))
    )
    part(file, "footnotes", f"<w:footnotes {nsdecls('w')}>{notes}</w:footnotes>")
    assert [b.text for b in read(tmp_path, file).blocks] == [
        "Fees are due", "Footnote 1: Net.", "Dues are due", "Footnote 2: Not in May.",
    ]  # fmt: skip


def test_headers_and_footers_are_read_once(tmp_path: Path) -> None:
    file = new_docx()
    file.add_paragraph("Body.")
    section = file.sections[0]
    section.different_first_page_header_footer = True
    section.header.paragraphs[0].text = section.first_page_header.paragraphs[0].text = "Contract 12"
    section.footer.paragraphs[0].text = "Page 1 of 3"
    section.first_page_footer.paragraphs[0].text = "Confidential"
    assert [b.text for b in read(tmp_path, file).blocks] == ["Contract 12", "Body.", "Confidential"]


def test_comments_hidden_text_and_contents_are_left_out_and_said(tmp_path: Path) -> None:
    file = new_docx()
    file.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    file.add_paragraph("Fees 1", style="toc 1")
    paragraph = file.add_paragraph("Fees are due")
    file.add_comment(paragraph.runs[0], text="Really?", author="x")
    paragraph.add_run(" secret").font.hidden = True
    paragraph.add_run(" today.").font.hidden = False
    document = read(tmp_path, file)
    assert [b.text for b in document.blocks] == ["Fees are due today."]
    assert document.warnings == (
        "1 comment was left out", "hidden text was left out", "the table of contents was left out",
    )  # fmt: skip


def test_text_boxes_are_read_once(tmp_path: Path) -> None:
    file = new_docx()
    box = "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>"
    both = (
        f"<w:r {nsdecls('w')} xmlns:mc='http://schemas.openxmlformats.org/markup-compatibility/2006'><mc:AlternateContent>"
        f"<mc:Choice Requires='wps'><w:drawing>{box}</w:drawing></mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent></w:r>"
    )
    file.add_paragraph("Beside it.")._p.append(parse_xml(both))
    assert [b.text for b in read(tmp_path, file).blocks] == ["Beside it.", "In the box."]


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def test_formulas_are_typed_on_one_line(tmp_path: Path) -> None:
    file = new_docx()
    power = f"<m:sSup><m:e>{run('r')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    fraction = f"<m:f><m:num>{run('a+b')}</m:num><m:den>{run('2')}</m:den></m:f>"
    total = (
        f"<m:nary><m:naryPr><m:chr m:val='∑'/></m:naryPr><m:sub>{run('n=1')}</m:sub><m:sup>{run('∞')}</m:sup>"
        f"<m:e><m:sSub><m:e>{run('a')}</m:e><m:sub>{run('n')}</m:sub></m:sSub></m:e></m:nary>"
    )
    brackets = "<m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr>"
    root = f"<m:rad><m:deg/><m:e><m:d>{brackets}<m:e>{run('x')}</m:e></m:d></m:e></m:rad>"
    rows = "".join(f"<m:mr><m:e>{run(a)}</m:e><m:e>{run(b)}</m:e></m:mr>" for a, b in ("12", "34"))
    matrix = f"<m:m>{rows}</m:m>"
    for formula in (power, fraction, total, root, matrix):
        file.add_paragraph("It is ")._p.append(parse_xml(f"<m:oMath {nsdecls('m')}>{formula}</m:oMath>"))
    assert [b.text.removeprefix("It is ") for b in read(tmp_path, file).blocks] == [
        "r^2", "(a+b)/2", "∑_(n=1)^∞ a_n", "√([x])", "[1, 2; 3, 4]",
    ]  # fmt: skip
