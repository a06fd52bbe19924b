from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.types import Block, Document


def read(folder: Path, html: str, encoding: str = "utf-8") -> Document:
    path = folder / "page.html"
    path.write_bytes(html.encode(encoding))
    (document,) = read_file(path)
    return document


def said(document: Document) -> list[tuple[str, str, int]]:
    return [(b.kind, b.text, b.level) for b in document.blocks]


PAGE = """<!doctype html><html lang="en"><head><title>Rules | Intranet</title><style>p{}</style></head><body>
<header><a href="/">Home</a></header><nav>Menu</nav>
<main><header><h1>House rules</h1></header>
<p>Valid from<br>1 May.</p>
<h2>&sect; 1 Contract</h2>
<p>(1) A <b>contract</b> is made.</p><aside><a href="/x">See also</a></aside>
<ul><li>apple<ol start="3"><li>first</li><li>second</li></ol></li><li><p>pear</p><p>more on pears</p></li></ul>
<dl><dt>ETA</dt><dd>time of arrival</dd></dl>
<pre>x = 1
  y = 2</pre>
<table><caption>Fares</caption><thead><tr><th>Route</th><th>Price</th><th>Note</th></tr></thead>
<tr><td rowspan="2">R1</td><td>12</td><td><ul><li>a</li><li>b</li></ul></td></tr><tr><td colspan="2">14</td></tr></table>
<script>alert(1)</script><p hidden>Secret</p></main>
<footer>Imprint</footer></body></html>"""


def test_main_content_in_order(tmp_path: Path) -> None:
    document = read(tmp_path, PAGE)
    assert (document.title, document.kind, document.metadata) == ("House rules", "html", {"language": "en"})
    assert said(document) == [
        ("heading", "House rules", 1),
        ("paragraph", "Valid from\n1 May.", 0),
        ("heading", "§ 1 Contract", 2),
        ("paragraph", "(1) A contract is made.", 0),
        ("list_item", "apple", 0),
        ("list_item", "3. first", 1),
        ("list_item", "4. second", 1),
        ("list_item", "pear", 0),
        ("paragraph", "more on pears", 0),
        ("paragraph", "ETA: time of arrival", 0),
        ("code", "x = 1\n  y = 2", 0),
        ("paragraph", "Fares", 0),
        ("table", "Route | Price | Note\nR1 | 12 | a; b\nR1 | 14 | ", 0),
    ]
    assert document.blocks[0].line == 3


def test_without_main_the_body_is_read_without_its_frame(tmp_path: Path) -> None:
    document = read(
        tmp_path, "<body><nav>Menu</nav><div><div>Server</div><div>Quinn</div></div><p>Text</p><footer>F</footer>"
    )
    assert said(document) == [("paragraph", "Server Quinn", 0), ("paragraph", "Text", 0)]


def test_better_the_frame_than_nothing(tmp_path: Path) -> None:
    assert said(read(tmp_path, "<body><nav>Only a menu</nav></body>")) == [("paragraph", "Only a menu", 0)]


def test_layout_tables_are_read_through(tmp_path: Path) -> None:
    document = read(tmp_path, "<table><tr><td><h1>Title</h1><p>Body.</p></td></tr></table>")
    assert said(document) == [("heading", "Title", 1), ("paragraph", "Body.", 0)]


def test_declared_encoding(tmp_path: Path) -> None:
    document = read(tmp_path, '<meta charset="shift_jis"><p>本船は毎日出港します。</p>', "shift_jis")
    assert document.blocks == (Block("本船は毎日出港します。", line=1),)


def test_tags_without_text(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"^page\.html: no text found between the tags\.$"):
        read(tmp_path, "<html><body><img src='x.png'></body></html>")


def test_tags_nested_without_end(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"^page\.html: the tags are nested too deeply to be read\.$"):
        read(tmp_path, "<div>" * 2000 + "x")


def test_tables_are_grids(tmp_path: Path) -> None:
    document = read(
        tmp_path,
        """<h1>Ports</h1><h2>4 Fees</h2><table><caption>Dues</caption>
        <tfoot><tr><td>Sum</td><td>3</td><td>4</td></tr></tfoot>
        <thead><tr><th rowspan=2>Port</th><th colspan=2>2026</th></tr><tr><th>Q1</th><th>Q2</th></tr></thead>
        <tr><td>Oslo</td><td>1</td><td>2</td></tr><tr style="display:none"><td>x</td><td>9</td><td>9</td></tr></table>
        <table><tr><td>one</td></tr><tr><td>column</td></tr></table><table><tr><td>one</td><td>row</td></tr></table>""",
    )
    (grid,) = document.tables
    assert (grid.name, grid.place) == ("Dues", "§ 4 Fees")
    assert grid.header == ("Port", "2026 Q1", "2026 Q2")
    assert grid.rows == (("Oslo", "1", "2"), ("Sum", "3", "4"))
    assert [b.text for b in document.blocks[-3:]] == ["column", "one", "row"]


def test_headers_in_the_first_column(tmp_path: Path) -> None:
    rows = "<tr><th>Port</th><td>Oslo</td><td>Rome</td></tr><tr><th>Fee</th><td>1</td><td>2</td></tr>"
    (grid,) = read(tmp_path, f"<table>{rows}</table>").tables
    assert (grid.header, grid.rows) == (("Port", "Fee"), (("Oslo", "1"), ("Rome", "2")))
    assert grid.notes == ("its headers stood in the first column; it was turned",)


def test_names_beside_values_are_no_records(tmp_path: Path) -> None:
    document = read(tmp_path, "<table><tr><th>Port</th><td>Oslo</td></tr><tr><th>Fee</th><td>1</td></tr></table>")
    assert (said(document), document.tables) == ([("table", "Port | Oslo\nFee | 1", 0)], ())


def test_content_is_kept_wherever_it_stands(tmp_path: Path) -> None:
    page = """<body class="sidebar-page"><div class="cookie-banner">We use cookies.</div>
    <div class="sidebar"><a href="/a">A</a> <a href="/b">B</a></div>
    <article><header><h1>Flood</h1>By A. Writer</header><p>The quay is under water since noon.</p>
    <aside>Never go there alone.</aside><blockquote>It is wet.<footer>The mayor</footer></blockquote>
    <h3><button aria-expanded="false">Why?</button></h3><div hidden="until-found">Rain.</div>
    <pre>pip install<br>x<button>Copy</button></pre><p>Pay <input value="12"> <input type="hidden" value="t0k3n"> now.</p>
    <p>So <math><semantics><mi>a</mi><annotation encoding="application/x-tex">a^2</annotation></semantics></math>.</p>
    <footer><a href="/s">Share</a></footer></article>
    <section><h2>Comments</h2><p>I saw it too, from the other side of the river.</p></section>
    <noscript>Switch JavaScript on.</noscript><dialog>Subscribe!</dialog><footer>Imprint</footer></body>"""
    assert [b.text for b in read(tmp_path, page).blocks] == [
        "Flood",
        "By A. Writer",
        "The quay is under water since noon.",
        "Never go there alone.",
        "It is wet.",
        "The mayor",
        "Why?",
        "Rain.",
        "pip install\nx",
        "Pay 12 now.",
        "So a^2.",
        "Comments",
        "I saw it too, from the other side of the river.",
    ]


def test_a_page_that_its_class_calls_a_sidebar_is_read(tmp_path: Path) -> None:
    document = read(tmp_path, '<body><p>Short.</p><div class="sidebar"><p>All there is to say stands here.</p></div>')
    assert [b.text for b in document.blocks] == ["Short.", "All there is to say stands here."]


def test_titles(tmp_path: Path) -> None:
    shared = '<meta property="og:title" content="Flood | The Paper">'
    assert read(tmp_path, f"{shared}<h1>Flood</h1><p>x</p>").title == "Flood"
    assert read(tmp_path, f"{shared}<h1>Weather</h1><p>x</p>").title == "Flood | The Paper"
    assert read(tmp_path, "<title>Window</title><p>x</p>").title == "Window"
