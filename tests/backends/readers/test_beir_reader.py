import json
from pathlib import Path

import pytest

from backends.errors import UnreadableFile
from backends.readers import read_file
from retrieval.types import Block, Document


def read(folder: Path, *lines: str) -> list[Document]:
    path = folder / "corpus.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(read_file(path))


def test_each_line_is_a_document(tmp_path: Path) -> None:
    one, two = read(
        tmp_path,
        json.dumps({"_id": "d1", "title": "A", "text": "One.\n\nTwo.", "metadata": {"year": 2020, "x": []}}),
        "",
        '{"id": 7, "text": "lone \\ud800 half"}',
    )
    assert one == Document("A", "beir", (Block("One."), Block("Two.")), metadata={"year": "2020"}, source_id="d1")
    assert two == Document("", "beir", (Block("lone  half"),), source_id="7")


def test_a_title_without_text_can_be_found(tmp_path: Path) -> None:
    assert read(tmp_path, '{"_id": "a", "title": "Only a title", "text": ""}')[0].blocks == (Block("Only a title"),)


FORM = '{"_id": "…", "title": "…", "text": "…"}'


@pytest.mark.parametrize(
    "bad", ["{oops", "[]", '{"_id": true, "text": "x"}', '{"_id": "b"}', '{"_id": "b", "text": 3}']
)
def test_a_bad_line_is_named(tmp_path: Path, bad: str) -> None:
    good = '{"_id": "a", "text": "x"}'
    for lines, number in (((good, bad, good), 2), ((bad, good), 1), ((good, "", bad), 3)):
        with pytest.raises(UnreadableFile) as caught:
            read(tmp_path, *lines)
        assert str(caught.value) == f"corpus.jsonl: line {number} is not in the form {FORM}; mend or remove it."


def test_another_form(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, '{"a": 1}', '{"a": 2}')
    assert str(caught.value) == f"corpus.jsonl: not in the form {FORM}, one object a line."
