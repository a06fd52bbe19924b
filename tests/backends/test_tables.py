from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

from backends.readers.columns import convert
from backends.tables import TableStore, connect, quoted, table_name
from retrieval.types import Grid


def grid(*rows: tuple[str | None, ...], header: tuple[str, ...] = ("a", "b"), name: str = "fares") -> Grid:
    return Grid(name, header, rows)


def converted(*values: str | None) -> tuple[str, list[str | None], str]:
    found = convert("x", values)
    return found.type, list(found.values), found.assumption


def test_write_and_connect(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "tables")
    found = Grid(
        "Q1",
        ("id", "price", "day", "note"),
        (("1", "12.50", "2026-03-04", "x"), ("2", None, "n/a", None)),
        2,
        ("told",),
    )
    schema, path = store.write("prices/Fares 2026.csv", found)
    assert schema == {
        "name": "fares_2026_q1",
        "source": "prices/Fares 2026.csv",
        "rows": 2,
        "columns": [
            {"name": "id", "type": "BIGINT", "values": ["1", "2"]},
            {"name": "price", "type": "DECIMAL(18,2)", "values": ["12.50"]},
            {
                "name": "day",
                "type": "DATE",
                "values": ["2026-03-04"],
                "assumption": '`day`: 1 of 2 values ("n/a") read as empty',
            },
            {"name": "note", "type": "VARCHAR", "values": ["x"]},
        ],
        "assumptions": ["told", '`day`: 1 of 2 values ("n/a") read as empty'],
    }
    rows = connect({schema["name"]: path}).execute("select * from fares_2026_q1").fetchall()
    assert rows == [(1, Decimal("12.50"), date(2026, 3, 4), "x"), (2, None, None, None)]


def test_files_are_named_by_content_and_swept(tmp_path: Path) -> None:
    store = TableStore(tmp_path / "tables")
    _, one = store.write("a.csv", grid(("1", "2")))
    stamp = one.stat().st_mtime_ns
    _, again = store.write("b.csv", grid(("1", "2")))
    _, other = store.write("a.csv", grid(("1", "3")))
    assert (one, stamp) == (again, again.stat().st_mtime_ns)
    assert other != one
    assert sorted(p.name for p in store.folder.iterdir()) == sorted((one.name, other.name))
    (store.folder / "part-interrupted").mkdir()
    (store.folder / "part-interrupted" / "rows.json").write_text("{}")
    (store.folder / "notes.txt").write_text("not ours")
    store.sweep({other.name})
    assert sorted(p.name for p in store.folder.iterdir()) == sorted((other.name, "notes.txt"))
    TableStore(tmp_path / "none").sweep(set())


def test_the_connection_reaches_nothing_else(tmp_path: Path) -> None:
    schema, path = TableStore(tmp_path).write("a.csv", grid(("1", "2")))
    connection = connect({schema["name"]: path})
    for statement in (
        f"select * from read_parquet('{path}')",
        f"copy (select 1) to '{tmp_path / 'x.csv'}'",
        "set enable_external_access=true",
        "install httpfs",
    ):
        with pytest.raises(duckdb.Error):
            connection.execute(statement)


def test_any_text_and_any_name_survive(tmp_path: Path) -> None:
    text = 'a "quoted"\nline, with \\ and \t and \U0001f6a2 and 中国'
    header = ('say "hi"', 'SAY "HI"', "select")
    schema, path = TableStore(tmp_path / "o'brien").write(
        "it's.csv", grid((text, "'; drop table x; --", "00"), header=header)
    )
    assert [c["name"] for c in schema["columns"]] == ['say "hi"', 'SAY "HI"_2', "select"]
    name = 'my "table"'
    rows = connect({name: path}).execute(f"select {quoted(header[0])}, * from {quoted(name)}").fetchall()
    assert rows == [(text, text, "'; drop table x; --", "00")]


def test_row_order_and_size(tmp_path: Path) -> None:
    rows = tuple((str(n), f"name {n}") for n in range(5000))
    schema, path = TableStore(tmp_path).write("a.csv", grid(*rows))
    assert schema["name"] == "a_fares"
    found = connect({"t": path}).execute("select a from t").fetchall()
    assert [n for (n,) in found] == list(range(5000))


def test_a_table_without_rows(tmp_path: Path) -> None:
    schema, path = TableStore(tmp_path).write("a.csv", grid())
    assert schema["rows"] == 0
    assert connect({"t": path}).execute("select count(*) from t").fetchone() == (0,)


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        ("x/Fares 2026.csv", "Fares 2026", "fares_2026"),
        ("book.xlsx", "Sheet1", "book"),
        ("book.xlsx", "Sheet2", "book_sheet2"),
        ("2026.csv", "2026", "t_2026"),
        ("Таблица.csv", "Таблица", "таблица"),
        ("'; drop--.csv", "Key", "drop_key"),
        ("---.csv", "!!", "table"),
    ],
)
def test_names(source: str, name: str, expected: str) -> None:
    assert table_name(source, name) == expected


NUMBERS = [
    (("1", "-2", "+3", None), "BIGINT", ["1", "-2", "3", None], ""),
    (("1", "2.50"), "DECIMAL(18,2)", ["1", "2.50"], ""),
    (("0.5", "0"), "DECIMAL(18,1)", ["0.5", "0"], ""),
    (("4.51119775197299",), "DOUBLE", ["4.51119775197299"], ""),
    (("1e-5", "2"), "DOUBLE", ["1e-5", "2"], ""),
    (("6,718", "776"), "BIGINT", ["6718", "776"], '`x`: 1 of 2 values read with "," between thousands'),
    (("1.234,50", "7"), "DECIMAL(18,2)", ["1234.50", "7"], '`x`: 1 of 2 values read with "," before decimals'),
    (
        ("1.234,50", "1,234.75"),
        "DECIMAL(18,2)",
        ["1234.50", "1234.75"],
        '`x`: 1 of 2 values read with "," before decimals, the rest with "."',
    ),
    (
        ("1 234,50", "12,00"),
        "DECIMAL(18,2)",
        ["1234.50", "12.00"],
        '`x`: 2 of 2 values read with "," before decimals',
    ),
    (("€ 5.00", "6.00 EUR"), "DECIMAL(18,2)", ["5.00", "6.00"], "`x`: 2 of 2 values read as amounts in EUR"),
    (("12 %", "3.5%"), "DECIMAL(18,1)", ["12", "3.5"], '`x`: read as numbers without "%" (12 means 12 %)'),
    (("(5)", "6"), "BIGINT", ["-5", "6"], "`x`: 1 of 2 values in brackets read as negative"),
    (("1", "-", "null"), "BIGINT", ["1", None, None], '`x`: 2 of 3 values ("-", "null") read as empty'),
]


@pytest.mark.parametrize(("values", "kind", "expected", "assumption"), NUMBERS)
def test_numbers(values: tuple[str | None, ...], kind: str, expected: list[str | None], assumption: str) -> None:
    assert converted(*values) == (kind, expected, assumption)


TEXTS = [
    (("01", "2"), "`x`: 1 of 2 values begin with zeros; kept as text"),
    (("€5", "£6"), "`x`: amounts in 2 currencies (EUR, GBP); kept as text"),
    (("5 %", "6"), "`x`: 1 of 2 values are per cent; kept as text"),
    (("1.234,50", "1,234.50", "1,260"), '`x`: "." and "," divide both thousands and decimals; kept as text'),
    (("01/02/2026", "03/04/2026"), "`x`: 2 of 2 values may have the day or the month first; kept as text"),
    (("25/12/2026", "12/25/2026"), "`x`: some dates have the day first, others the month; kept as text"),
    (("1", "two"), ""),
    (("1", "6ff4173b"), ""),
    (("yes", "no"), ""),
    (("12345678901234567890",), ""),
    (("1005-00-856-6885",), ""),
    (("30/02/2026",), ""),
    (("NA", "Namibia"), ""),
    (("n/a", None), ""),
    (("٣", "٤"), ""),
]


@pytest.mark.parametrize(("values", "assumption"), TEXTS)
def test_what_stays_text(values: tuple[str | None, ...], assumption: str) -> None:
    assert converted(*values) == ("VARCHAR", list(values), assumption)


DATES = [
    (("2026-03-04", None), ["2026-03-04", None], ""),
    (("25/12/2025", "01/02/2026"), ["2025-12-25", "2026-02-01"], "`x`: 2 of 2 values read as day first"),
    (("12/25/2025", "1-2-2026"), ["2025-12-25", "2026-01-02"], "`x`: 2 of 2 values read as month first"),
    (("04.03.2026",), ["2026-03-04"], "`x`: 1 of 1 values read as day.month.year"),
    (("4 Mar 2026", "March 5, 2026"), ["2026-03-04", "2026-03-05"], ""),
    (("4/25/2026 0:00:00",), ["2026-04-25"], "`x`: 1 of 1 values read as month first"),
    (("01/01/2026",), ["2026-01-01"], "`x`: 1 of 1 values read as day first"),
]


@pytest.mark.parametrize(("values", "expected", "assumption"), DATES)
def test_dates(values: tuple[str | None, ...], expected: list[str | None], assumption: str) -> None:
    assert converted(*values) == ("DATE", expected, assumption)


def test_times(tmp_path: Path) -> None:
    schema, path = TableStore(tmp_path).write(
        "a.csv", grid(("2026-03-04 05:06", "2026-03-04T05:06:07.5"), ("2026-03-04", None))
    )
    assert [c["type"] for c in schema["columns"]] == ["TIMESTAMP", "TIMESTAMP"]
    found = connect({"t": path}).execute("select a, b from t").fetchall()
    assert found == [
        (datetime(2026, 3, 4, 5, 6), datetime(2026, 3, 4, 5, 6, 7, 500_000)),
        (datetime(2026, 3, 4), None),
    ]


def test_samples_are_the_most_frequent_values(tmp_path: Path) -> None:
    schema, _ = TableStore(tmp_path).write("a.csv", grid(*((v, None) for v in "zyxwvuzz"), header=("a", "b")))
    assert schema["columns"][0]["values"] == ["z", "y", "x", "w", "v"]
    assert schema["columns"][1]["values"] == []
