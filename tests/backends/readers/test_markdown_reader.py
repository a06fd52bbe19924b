from pathlib import Path

import pytest

from backends.readers import read_file
from retrieval.types import Block, Document


def read(folder: Path, text: str) -> Document:
    path = folder / "guide.md"
    path.write_text(text, encoding="utf-8")
    (document,) = read_file(path)
    return document


def test_structure_with_lines(tmp_path: Path) -> None:
    text = """# Guide & more

First *paragraph* with a [link](https://x.test) and `code`,
wrapped. A&nbsp;B &lt; C

(1) One clause.
(2) Another clause.

- apple
- pear
  1. conference
  2. nashi

3) third

```python
x = 1

y = 2
```

## Fares

| Route | Price |
|-------|------:|
| R1 | **12** |
| R2 | 14 &euro; |
"""
    document = read(tmp_path, text)
    assert (document.title, document.kind) == ("Guide & more", "markdown")
    assert list(document.blocks) == [
        Block("Guide & more", "heading", 1, line=1),
        Block("First paragraph with a link and code, wrapped. A B < C", line=3),
        Block("(1) One clause.\n(2) Another clause.", line=6),
        Block("apple", "list_item", 0, line=9),
        Block("pear", "list_item", 0, line=10),
        Block("1. conference", "list_item", 1, line=11),
        Block("2. nashi", "list_item", 1, line=12),
        Block("3) third", "list_item", 0, line=14),
        Block("x = 1\n\ny = 2", "code", line=16),
        Block("Fares", "heading", 2, line=22),
        Block("Route | Price\nR1 | 12\nR2 | 14 €", "table", line=24),
    ]


def test_front_matter_is_metadata(tmp_path: Path) -> None:
    text = (
        "---\ntitle: 'The rules'\nOwner: Port\ntags: [a, b]\nreaders:\n  - ann\n  - bob\nlang: no\nversion: 007\n"
        "date: 1 March 2024\nupdated: 2024-03-05T23:30:00Z\nnested:\n  x: 1\nempty:\n---\n\nBody.\n"
    )
    document = read(tmp_path, text)
    assert document.metadata == {
        "title": "The rules",
        "owner": "Port",
        "tags": "a, b",
        "readers": "ann, bob",
        "language": "no",
        "version": "007",
        "date": "2024-03-01",
        "updated": "2024-03-05",
        "nested.x": "1",
    }
    assert document.title == "The rules"
    assert document.warnings == ()
    assert list(document.blocks) == [Block(text.split("---")[1].strip(), line=2), Block("Body.", line=17)]


def test_front_matter_in_any_script(tmp_path: Path) -> None:
    document = read(tmp_path, "---\ntitle: 見出し\nالكاتب: سارة\n---\nBody.\n")
    assert (document.title, document.metadata) == ("見出し", {"title": "見出し", "الكاتب": "سارة"})


@pytest.mark.parametrize(
    ("inner", "why"),
    [
        ("title: a: b\n", "line 2"),
        ("ok: 1\n\tx: 2\n", "line 3"),
        ("a: &a [x, x]\nb: *a\n", "it uses aliases"),
        ("readers: ann\nreaders: bob\n", '"readers" occurs twice'),
        ("a: x\nb: " + "y" * 70_000 + "\n", "more than 64 KB"),
    ],
)
def test_front_matter_that_cannot_be_read_stays_text(tmp_path: Path, inner: str, why: str) -> None:
    document = read(tmp_path, f"---\n{inner}---\n\nBody.\n")
    assert document.metadata == {}
    assert document.warnings == (f"the front matter cannot be read as YAML ({why}); it is kept as text",)
    assert [b.text for b in document.blocks] == [inner.strip(), "Body."]


def test_front_matter_nested_without_end_is_no_crash(tmp_path: Path) -> None:
    document = read(tmp_path, "---\na: " + "[" * 20_000 + "]" * 20_000 + "\n---\n\nBody.\n")
    assert document.warnings == ("the front matter cannot be read as YAML (nested too deeply); it is kept as text",)
    assert document.blocks[-1].text == "Body."


def test_a_tag_in_front_matter_makes_no_object(tmp_path: Path) -> None:
    document = read(tmp_path, "---\nx: !!python/object/apply:os.getcwd []\ny: 1\n---\n\nBody.\n")
    assert document.metadata == {"y": "1"}


def test_words_between_rules_are_no_front_matter(tmp_path: Path) -> None:
    document = read(tmp_path, "---\n\nJust words.\n\n---\n\nMore.\n")
    assert (document.metadata, document.warnings) == ({}, ())
    assert [b.text for b in document.blocks] == ["Just words.", "More."]


def test_html_in_markdown_loses_its_tags(tmp_path: Path) -> None:
    document = read(tmp_path, "<div>Kept &amp; read</div>\n\n<!-- a remark -->\n\nOne<br>two <b>three</b>\n")
    assert [b.text for b in document.blocks] == ["Kept & read", "One\ntwo three"]


def test_file_name_is_the_title_where_there_is_no_heading(tmp_path: Path) -> None:
    assert read(tmp_path, "Just words.").title == "guide"


def test_entities_in_code_stay_as_they_are(tmp_path: Path) -> None:
    assert [b.text for b in read(tmp_path, "`&amp;` is &amp;, `a < b`\n\n    &lt;\n").blocks] == [
        "&amp; is &, a < b",
        "&lt;",
    ]
