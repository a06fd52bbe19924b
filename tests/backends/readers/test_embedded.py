from backends.readers.embedded import grid_warnings, table_blocks, with_grids
from retrieval.types import Block, Grid


def grids(*parts: Block) -> list[tuple[str, str]]:
    return [(grid.name, grid.place) for grid in with_grids(parts)[1]]


def table(page: int | None = None, line: int | None = None, caption: str = "") -> list[Block]:
    return list(table_blocks([["Port", "Fee"], ["Oslo", "12"]], 1, caption, page, line))


def only(rows: list[list[str | None]], headers: int = 0) -> Grid:
    (grid,) = with_grids(table_blocks(rows, headers))[1]
    return grid


def test_a_table_is_text_and_grid() -> None:
    blocks, (grid,) = with_grids([Block("Fees", "heading", 1), *table(line=3)])
    assert blocks[1] == Block("Port | Fee\nOslo | 12", "table", line=3)
    assert grid == Grid("Fees", ("Port", "Fee"), (("Oslo", "12"),), 2, (), "Fees")


def test_names_and_places() -> None:
    section, label = Block("4 Fees", "heading", 2, page=3), Block("Table 2: Fees of 2026", page=3)
    assert grids(section, *table(page=3)) == [("4 Fees", "p. 3, § 4 Fees")]
    assert grids(section, label, *table(page=3)) == [("Table 2: Fees of 2026", "p. 3, § 4 Fees, Table 2")]
    assert grids(section, *table(page=3), *table(page=3)) == [
        ("4 Fees", "p. 3, § 4 Fees"),
        ("4 Fees 2", "p. 3, § 4 Fees"),
    ]
    assert grids(Block("These are due:"), *table(line=9)) == [("These are due", "line 9")]
    assert grids(*table(line=9, caption="Dues")) == [("Dues", "line 9")]
    assert grids(Block("They are due."), *table(line=9)) == [("table", "line 9")]


def test_a_title_over_the_table_is_no_header() -> None:
    rows: list[list[str | None]] = [["Fees", "Fees"], ["Port", "Fee"], ["Oslo", "12"]]
    for headers, first in ((2, ["Fees", "Fees"]), (0, ["Fees", None])):
        blocks, (grid,) = with_grids(table_blocks([first, *rows[1:]], headers))
        assert [b.text for b in blocks] == ["Fees", "Port | Fee\nOslo | 12"]
        assert (grid.name, grid.header, grid.first_row) == ("Fees", ("Port", "Fee"), 2)


def test_several_header_rows_become_one() -> None:
    grid = only([["Port", "2025", "2025"], ["Port", "Q1", "Q2"], ["Oslo", "1", "2"]], 2)
    assert (grid.header, grid.rows) == (("Port", "2025 Q1", "2025 Q2"), (("Oslo", "1", "2"),))


def test_a_missing_header_is_said() -> None:
    grid = only([["Oslo", "12"], ["Rome", "14"]])
    assert (grid.header, len(grid.rows), grid.first_row) == (("column_1", "column_2"), 2, 1)
    assert grid_warnings([grid]) == ('table "table" (): it has no header row; its columns are numbered',)
    assert only([["Port", "2025"], ["Oslo", "12"]]).header == ("Port", "2025")


def test_what_is_no_data_is_no_grid() -> None:
    words = "The harbour master decides, and nobody else. " * 5
    for rows in ([["a", "b"]], [["a"], ["b"]], [["Name:", "Ada"], ["Phone:", "12"]], [[words, words], [words, words]]):
        blocks, found = with_grids(table_blocks(rows))
        assert found == ()
        assert [b.kind for b in blocks] == ["table"]
