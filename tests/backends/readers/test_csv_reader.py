from pathlib import Path

import pytest

from backends.readers import read_file
from retrieval.types import Block, Document, Grid


def read(folder: Path, text: str, name: str = "fares.csv", encoding: str = "utf-8") -> Document:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    (document,) = read_file(path)
    assert document.kind == "csv"
    return document


def grid(folder: Path, text: str, name: str = "fares.csv", encoding: str = "utf-8") -> Grid:
    document = read(folder, text, name, encoding)
    assert document.warnings == document.tables[0].notes
    return document.tables[0]


def test_grid_and_table_block(tmp_path: Path) -> None:
    document = read(tmp_path, 'route,price,note\r\nR1,"1,200",\r\nR2,,"two\nlines"\r\n')
    assert document == Document(
        "fares",
        "csv",
        (Block("route | price | note\nR1 | 1,200 | \nR2 |  | two lines", "table", line=1),),
        (Grid("fares", ("route", "price", "note"), (("R1", "1,200", None), ("R2", None, "two\nlines")), 2),),
    )


def test_a_long_grid_is_not_text(tmp_path: Path) -> None:
    assert len(read(tmp_path, "a,b\n" + "1,2\n" * 100).blocks) == 1
    assert read(tmp_path, "a,b\n" + "1,2\n" * 101).blocks == ()


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(tmp_path: Path, delimiter: str) -> None:
    found = grid(
        tmp_path, f"a{delimiter}b\n1,5{delimiter}2\n3,5{delimiter}4\n".replace(",5" if delimiter == "," else "\0", "")
    )
    assert found.header == ("a", "b")
    assert [r[1] for r in found.rows] == ["2", "4"]


def test_tsv_and_the_line_that_names_the_delimiter(tmp_path: Path) -> None:
    assert grid(tmp_path, "a\tb\n1\t2\n", "a.tsv").rows == (("1", "2"),)
    named = grid(tmp_path, "sep=;\na;b\n1;2\n")
    assert (named.header, named.rows, named.first_row) == (("a", "b"), (("1", "2"),), 3)


def test_encodings(tmp_path: Path) -> None:
    assert grid(tmp_path, "foo,bar\n1,ʤ\n", encoding="utf-8-sig").header == ("foo", "bar")
    assert grid(tmp_path, "a,b\n1,ʤ\n", encoding="utf-16").rows == (("1", "ʤ"),)
    assert grid(tmp_path, "a,b\n1,©\n", encoding="latin-1").rows == (("1", "©"),)


def test_what_stands_above_the_header(tmp_path: Path) -> None:
    found = grid(tmp_path, "Fares 2026\n\n# made by hand\nroute,price\nR1,12\n# half time\nR2,14\n")
    assert (found.header, found.rows, found.first_row) == (("route", "price"), (("R1", "12"), ("R2", "14")), 5)
    assert found.notes == (
        "rows 3, 6 were left out as comments (#)",
        'row 1 was left out as a title: "Fares 2026"',
    )
    blank = grid(tmp_path, "\n\na,b\n1,2\n")
    assert (blank.first_row, blank.notes) == (4, ("the header stands in row 3; the blank rows above it are left out",))


def test_ragged_rows(tmp_path: Path) -> None:
    found = grid(tmp_path, "a,b\n1\n1,2,3,4\n1,2\n")
    assert found.header == ("a", "b", "column_3", "column_4")
    assert found.rows == (("1", None, None, None), ("1", "2", "3", "4"), ("1", "2", None, None))
    assert found.notes == (
        "row 2 was filled up with empty cells (fewer cells than the header)",
        "row 3 was longer than the header; the extra cells are in column_3, column_4",
    )


def test_headers_become_unique(tmp_path: Path) -> None:
    found = grid(tmp_path, "id,name,,Name,name_2\n1,2,3,4,5\n")
    assert found.header == ("id", "name", "column_3", "Name_3", "name_2")
    assert found.notes == (
        "column 3 has no header and is named column_3",
        'column 4 is named Name_3, since "Name" occurs twice',
    )


def test_blank_rows_and_columns_go(tmp_path: Path) -> None:
    found = grid(tmp_path, "a,b,\n1,2,\n\n,,\n3,4,\n,,\n")
    assert (found.header, found.rows) == (("a", "b"), (("1", "2"), ("3", "4")))
    assert found.notes == ("rows 3, 4, 6 were left out as blank",)


def test_a_quote_that_never_closes(tmp_path: Path) -> None:
    document = read(tmp_path, 'a,b\n1,"two\n' + "3,4\n" * 150)
    assert document.warnings == ("a quote is never closed; quotes were read as plain characters",)
    assert len(document.tables[0].rows) == 151
    assert document.tables[0].rows[0] == ("1", '"two')


def test_blanks_after_the_delimiter(tmp_path: Path) -> None:
    assert grid(tmp_path, 'a, b\n1, "x, y"\n').rows == (("1", "x, y"),)


def test_a_header_alone(tmp_path: Path) -> None:
    found = grid(tmp_path, "a,b\n")
    assert (found.header, found.rows) == (("a", "b"), ())


def test_a_header_wider_than_every_row(tmp_path: Path) -> None:
    assert grid(tmp_path, "a,b,c\n1,,\n2,3,\n").rows == (("1", None, None), ("2", "3", None))
