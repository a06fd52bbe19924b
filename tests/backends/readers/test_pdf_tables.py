from collections.abc import Sequence
from pathlib import Path

from pdf_files import Text, Turn, pdf, rule

from backends.readers import read_file
from retrieval.types import Document

Drawn = Text | Turn | str


def read(folder: Path, pages: Sequence[Sequence[Drawn]], rotate: int = 0) -> Document:
    path = folder / "fees.pdf"
    path.write_bytes(pdf(pages, rotate=rotate))
    (document,) = read_file(path)
    return document


def ruled(
    rows: Sequence[Sequence[str]], lefts: Sequence[float], top: float = 700, high: float = 20, sides: bool = True
) -> list[Drawn]:
    """Rows of texts in ruled cells between the lefts given, the last of which is the right side."""
    bottom = top - high * len(rows)
    out: list[Drawn] = [rule(lefts[0], top - high * n, lefts[-1], top - high * n) for n in range(len(rows) + 1)]
    out.extend(rule(x, bottom, x, top) for x in (lefts if sides else lefts[1:-1]))
    for n, row in enumerate(rows):
        out.extend((x + 3, top - high * n - 14, 10, text) for x, text in zip(lefts, row, strict=False) if text)
    return out


def aligned(rows: Sequence[Sequence[str]], lefts: Sequence[float], top: float = 700) -> list[Drawn]:
    return [
        (x, top - 14 * n, 10, text)
        for n, row in enumerate(rows)
        for x, text in zip(lefts, row, strict=True)
        if text.strip("*")
    ]


FEES = [("Port", "Berth", "Fee"), ("Oslo", "B1", "12.50"), ("Rome", "", "14.00"), ("Bari", "B7", "9.75")]


def test_a_ruled_table_is_a_grid_in_its_place(tmp_path: Path) -> None:
    page: list[Drawn] = [(60, 780, 16, "*Harbour dues"), (60, 720, 10, "Table 4: Fees of May")]
    page.extend(ruled(FEES, (60, 200, 300, 400)))
    page.append((60, 560, 10, "Who does not pay stays."))
    document = read(tmp_path, [page])
    (grid,) = document.tables
    assert (grid.name, grid.place) == ("Table 4: Fees of May", "p. 1, Harbour dues, Table 4")
    assert grid.header == FEES[0]
    assert grid.rows == (("Oslo", "B1", "12.50"), ("Rome", None, "14.00"), ("Bari", "B7", "9.75"))
    assert [(b.kind, b.page) for b in document.blocks] == [
        ("heading", 1), ("paragraph", 1), ("table", 1), ("paragraph", 1),
    ]  # fmt: skip
    assert document.blocks[2].text == "Port | Berth | Fee\nOslo | B1 | 12.50\nRome |  | 14.00\nBari | B7 | 9.75"


def test_a_table_that_is_open_at_its_sides(tmp_path: Path) -> None:
    (grid,) = read(tmp_path, [ruled(FEES, (60, 200, 300, 400), sides=False)]).tables
    assert (grid.header, len(grid.rows)) == (FEES[0], 3)


def test_cells_that_spread_and_wrap(tmp_path: Path) -> None:
    page: list[Drawn] = [rule(60, y, 400, y) for y in (700, 660, 620, 580)]
    page.extend([rule(200, 680, 400, 680), rule(200, 600, 400, 600)])
    page.extend(rule(x, 580, x, 700) for x in (60, 200, 400))
    page.append(rule(300, 580, 300, 680))
    page.extend([(63, 676, 10, "Port"), (203, 686, 10, "2026"), (203, 666, 10, "Q1"), (303, 666, 10, "Q2")])
    page.extend([(63, 646, 10, "Oslo, the inner"), (63, 634, 10, "harbour"), (203, 640, 10, "1"), (303, 640, 10, "2")])
    page.extend(
        [(63, 596, 10, "Rome"), (203, 606, 10, "3"), (303, 606, 10, "4"), (203, 586, 10, "5"), (303, 586, 10, "6")]
    )
    (grid,) = read(tmp_path, [page]).tables
    assert grid.header == ("Port", "2026 Q1", "2026 Q2")
    assert grid.rows == (("Oslo, the inner harbour", "1", "2"), ("Rome", "3", "4"), ("Rome", "5", "6"))


def test_rows_without_a_rule_between_them_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    page = ruled([("Port", "Q1", "Q2"), ("Oslo", "", "")], (60, 200, 300, 400), high=40)
    page.extend([(203, 650, 10, "1.5"), (303, 650, 10, "2.5"), (203, 636, 10, "3.5"), (303, 636, 10, "4.5")])
    (grid,) = read(tmp_path, [page]).tables
    assert grid.rows == (("Oslo", "1.5", "2.5"), ("Oslo", "3.5", "4.5"))
    assert grid.notes == ("rows that stand in one ruled cell were divided by their lines",)


def test_tables_on_turned_pages(tmp_path: Path) -> None:
    upright = ruled(FEES, (60, 200, 300, 400), top=500)
    page: list[Drawn] = ["q 0 1 -1 0 595 0 cm", *upright, "Q"]  # turned against the clock, as the page is with it
    (grid,) = read(tmp_path, [page], rotate=90).tables
    assert (grid.header, grid.rows[0]) == (FEES[0], ("Oslo", "B1", "12.50"))


def test_a_table_that_goes_on_over_pages_is_one(tmp_path: Path) -> None:
    lefts = (60, 200, 300, 400)
    second = ruled([FEES[0], ("Kiel", "B2", "8.00"), ("Riga", "B3", "7.00")], lefts)
    third = ruled([("Gdynia", "B4", "6.00"), ("Turku", "B5", "5.00")], lefts)
    document = read(tmp_path, [ruled(FEES, lefts), second, third])
    (grid,) = document.tables
    assert [row[0] for row in grid.rows] == ["Oslo", "Rome", "Bari", "Kiel", "Riga", "Gdynia", "Turku"]
    assert grid.notes == ("it goes on on page 2", "it goes on on page 3")
    assert [(b.page, b.text.split("\n")[0]) for b in document.blocks] == [(n, "Port | Berth | Fee") for n in (1, 2, 3)]


def test_a_table_without_rules(tmp_path: Path) -> None:
    page = aligned([*FEES, ("Kiel", "B2", "8.00")], (60, 200, 300))
    page.append((60, 600, 10, "Who does not pay stays."))
    document = read(tmp_path, [page])
    (grid,) = document.tables
    assert (grid.header, len(grid.rows), grid.rows[1]) == (FEES[0], 4, ("Rome", None, "14.00"))
    assert document.blocks[-1].text == "Who does not pay stays."


def test_a_blank_corner_and_a_cell_on_two_lines(tmp_path: Path) -> None:
    rows = [("", "Berth", "Fee"), ("Oslo", "at the long quay", "12"), ("Rome", "B2", "14")]
    page = aligned([rows[0]], (60, 200, 400))
    page.extend([*aligned([rows[1]], (60, 200, 400), 680), (200, 669, 10, "near the mole")])
    page.extend(aligned([rows[2]], (60, 200, 400), 650))
    (grid,) = read(tmp_path, [page]).tables
    assert grid.rows == (("Oslo", "at the long quay near the mole", "12"), ("Rome", "B2", "14"))


def test_what_only_looks_like_a_table_stays_text(tmp_path: Path) -> None:
    form = aligned([("Name:", "Ada"), ("Phone:", "555"), ("Berth:", "7")], (60, 200))
    words = aligned([("North", "South"), ("left quay", "right quay"), ("upper mole", "lower mole")], (60, 200))
    partly = aligned([("Hours", "Rate"), ("2", "150"), ("3", "160")], (300, 400))
    partly.extend(aligned([("Crew", "Night"), ("4", "90")], (340, 460), 658))
    frame = ruled([("", ""), ("", "")], (60, 300, 540), high=60)
    frame.extend(aligned([("Name", "Ada"), ("Ship", "Ida"), ("Berth", "B7")], (63, 160), 690))
    for page in (form, words, partly, frame):
        document = read(tmp_path, [page])
        assert document.tables == ()
        said = " ".join(b.text for b in document.blocks).split()
        assert sorted(said) == sorted(w for t in page if not isinstance(t, str) for w in t[3].split())


def test_prose_in_two_columns_is_no_table(tmp_path: Path) -> None:
    left = [
        "The harbour master decides who may",
        "enter the port and in which order",
        "the vessels are served. In 2024 the",
    ] * 3
    right = [
        "Fees are due on arrival, in cash or",
        "by transfer to the account of the",
        "port. Who does not pay is not allowed",
    ] * 3
    assert read(tmp_path, [aligned(list(zip(left, right, strict=True)), (60, 320))]).tables == ()


def test_rules_that_cut_words_are_no_table(tmp_path: Path) -> None:
    page = ruled([("", "", ""), ("", "", ""), ("", "", "")], (60, 100, 140, 180))
    page.extend((62, 686 - 20 * n, 10, "undivided words here") for n in range(3))
    document = read(tmp_path, [page])
    assert document.tables == ()
    assert document.blocks[0].text.startswith("undivided words here")
