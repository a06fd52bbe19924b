import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.types import Block, Document


def read(folder: Path, book: Workbook) -> Document:
    path = folder / "book.xlsx"
    book.save(path)
    (document,) = read_file(path)
    assert document.kind == "xlsx"
    return document


def book_of(*rows: list[Any], title: str = "Fares") -> Workbook:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = title
    for row in rows:
        sheet.append(row)
    return book


def test_cells_as_text(tmp_path: Path) -> None:
    book = book_of(
        ["code", "n", "x", "day", "at", "on", "t"],
        ["007", 12, 4.51119775197299, dt.date(2026, 3, 4), dt.datetime(2026, 3, 4, 5, 6), True, dt.time(7, 8)],
        [7, 12.0, 0.1, dt.datetime(2026, 3, 5), None, False, "  "],
    )
    book["Fares"]["A3"].number_format = "000"
    document = read(tmp_path, book)
    (grid,) = document.tables
    assert (grid.name, grid.header, grid.first_row) == ("Fares", ("code", "n", "x", "day", "at", "on", "t"), 2)
    assert grid.rows == (
        ("007", "12", "4.51119775197299", "2026-03-04", "2026-03-04 05:06:00", "TRUE", "07:08:00"),
        ("007", "12", "0.1", "2026-03-05", None, "FALSE", None),
    )
    assert document.warnings == ()
    assert document.blocks[0].text.startswith("code | n | x | day | at | on | t\n007 | 12 | 4.51119775197299 | ")


def test_sheets(tmp_path: Path) -> None:
    book = book_of(["a", "b"], [1, 2])
    book.create_sheet("Key").append(["c", "d"])
    book["Key"].append([3, 4])
    book.create_sheet("Blank")
    book.create_sheet("Old").append(["secret"])
    book["Old"].sheet_state = "hidden"
    document = read(tmp_path, book)
    assert [g.name for g in document.tables] == ["Fares", "Key"]
    assert document.units == 2
    assert document.warnings == ('the hidden sheet "Old" was left out',)
    assert document.blocks == (
        Block("Fares", "heading", 1),
        Block("a | b\n1 | 2", "table", line=1),
        Block("Key", "heading", 1),
        Block("c | d\n3 | 4", "table", line=1),
    )


def test_merged_cells_hold_for_each_row_and_are_said_once_across(tmp_path: Path) -> None:
    book = book_of(["port", "berth", "m"], ["AHV", 1, 5], [None, 2, 6], ["BRK", 3, None])
    book["Fares"].merge_cells("A2:A3")
    book["Fares"].merge_cells("B4:C4")
    (grid,) = read(tmp_path, book).tables
    assert grid.rows == (("AHV", "1", "5"), ("AHV", "2", "6"), ("BRK", "3", None))


def test_title_blank_rows_and_phantom_cells(tmp_path: Path) -> None:
    book = book_of(["Fares 2026"], [], ["route", "price", None], ["R1", 12], [], ["R2", 14])
    book["Fares"].cell(900_000, 40).number_format = "0.00"
    document = read(tmp_path, book)
    (grid,) = document.tables
    assert (grid.header, grid.rows, grid.first_row) == (("route", "price"), (("R1", "12"), ("R2", "14")), 4)
    assert grid.notes == ('row 1 was left out as a title: "Fares 2026"', "row 5 was left out as blank")


def test_several_tables_in_a_sheet(tmp_path: Path) -> None:
    book = book_of(
        ["a", "b", None, "c", "d"],
        [1, 2, None, 5, 6],
        [3, 4],
        [],
        [None, "e", "f"],
        [None, 7, 8],
    )
    document = read(tmp_path, book)
    assert [(g.name, g.header, g.rows, g.first_row) for g in document.tables] == [
        ("Fares table 1", ("a", "b"), (("1", "2"), ("3", "4")), 2),
        ("Fares table 2", ("c", "d"), (("5", "6"),), 2),
        ("Fares table 3", ("e", "f"), (("7", "8"),), 6),
    ]
    assert document.warnings == ('sheet "Fares" holds 3 tables, each read on its own',)


def test_formulas_without_a_saved_value_are_told(tmp_path: Path) -> None:
    document = read(tmp_path, book_of(["a", "b"], [1, "=A2*2"]))
    assert document.warnings == (
        'sheet "Fares": 1 formulas hold no saved value and were read as empty; '
        "open and save the file in a spreadsheet program",
    )


def test_no_cells(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"^book\.xlsx: no visible sheet holds a cell\.$"):
        read(tmp_path, book_of())
