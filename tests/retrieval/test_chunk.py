import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.chunk import chunk, count_words
from retrieval.types import Block, BlockKind, Chunk, Document


def document(*blocks: Block, kind: str = "markdown", title: str = "Doc") -> Document:
    return Document(title, kind, blocks)


def heading(text: str, level: int = 1, page: int | None = None) -> Block:
    return Block(text, "heading", level, page=page)


def words(n: int, start: str = "w") -> str:
    return " ".join(f"{start}{i}" for i in range(n))


def test_words_are_counted_in_any_script() -> None:
    assert count_words("") == 0
    assert count_words("two words") == 2
    assert count_words("船舶每天") == 2
    assert count_words("MV 船舶 sails") == 3


def test_heading_path_and_place() -> None:
    found = chunk(
        document(
            heading("Rules", 1, 1),
            Block("Intro.", page=1),
            heading("4 Luggage", 2, 3),
            Block("Two bags.", page=3),
            heading("4.1 Weight", 3, 3),
            Block("23 kg.", page=3),
            heading("Claims", 2, 4),
            Block("In 15 days.", page=4),
        )
    )
    assert found == [
        Chunk("Intro.", ("Rules",), "p. 1, Rules", 1),
        Chunk("Two bags.", ("Rules", "4 Luggage"), "p. 3, § 4 Luggage", 3),
        Chunk("23 kg.", ("Rules", "4 Luggage", "4.1 Weight"), "p. 3, § 4.1 Weight", 3),
        Chunk("In 15 days.", ("Rules", "Claims"), "p. 4, Claims", 4),
    ]


def test_short_blocks_are_merged_up_to_the_size() -> None:
    clauses = [Block(f"({n}) {words(8)}", "list_item", line=n) for n in range(1, 7)]
    found = chunk(document(*clauses), size=20)
    assert [c.text.count("\n") for c in found] == [1, 1, 1]
    assert found[1].text == f"(3) {words(8)}\n(4) {words(8)}"
    assert [c.place for c in found] == ["line 1", "line 3", "line 5"]


def test_a_short_rest_joins_the_chunk_before() -> None:
    found = chunk(document(Block(words(18)), Block(words(4))), size=20)
    assert [c.text for c in found] == [f"{words(18)}\n{words(4)}"]


def test_a_clause_is_whole_up_to_one_and_a_half_times_the_size() -> None:
    clause = f"§ 4.2(b) {words(27)}"
    assert [c.text for c in chunk(document(Block(clause)), size=20)] == [clause]


def test_a_longer_one_is_cut_by_sentences() -> None:
    text = ". ".join(words(9, s) for s in "ABCD") + "."
    found = chunk(document(Block(text, line=7)), size=20)
    assert [c.text for c in found] == [
        f"{words(9, 'A')}. {words(9, 'B')}.",
        f"{words(9, 'C')}. {words(9, 'D')}.",
    ]


def test_a_sentence_without_end_is_cut_between_words() -> None:
    found = chunk(document(Block(words(90))), size=20)
    assert " ".join(c.text for c in found) == words(90)
    assert max(count_words(c.text) for c in found) <= 30
    cjk = chunk(document(Block("船" * 200)), size=20)
    assert "".join(c.text for c in cjk) == "船" * 200
    assert max(count_words(c.text) for c in cjk) <= 30


def test_lines_of_a_long_paragraph_are_found_at_their_own_line() -> None:
    text = "\n".join(f"2026 entry number {n} of the log" for n in range(9))
    found = chunk(document(Block(text, line=10), kind="text"), size=20)
    assert [c.place for c in found] == ["line 10", "line 12", "line 14", "line 16", "line 18"]


def test_an_introducing_line_stays_with_its_first_items() -> None:
    found = chunk(
        document(Block(words(14)), Block("Bring along:"), *(Block(words(9), "list_item") for _ in range(2))), size=20
    )
    assert [c.text for c in found] == [words(14), f"Bring along:\n{words(9)}\n{words(9)}"]


@pytest.mark.parametrize("marker", ["(1)", "§ 4.2(b)", "4.2", "7.3.", "(a)"])
def test_a_lone_marker_stays_with_its_clause(marker: str) -> None:
    found = chunk(document(Block(words(19)), Block(marker), Block(words(15))), size=20)
    assert [c.text for c in found] == [words(19), f"{marker}\n{words(15)}"]


def test_rows_repeat_their_header() -> None:
    rows = [f"R{n} | {n} | EUR" for n in range(1, 7)]
    table = Block("\n".join(["route | price | currency", *rows]), "table", line=4)
    found = chunk(document(heading("Fares", 2), Block("In force:"), table), size=18)
    assert [(c.text, c.place) for c in found] == [
        (f"In force:\nroute | price | currency\n{rows[0]}\n{rows[1]}", "Fares, rows 2-3"),
        (f"route | price | currency\n{rows[2]}\n{rows[3]}", "Fares, rows 4-5"),
        (f"route | price | currency\n{rows[4]}\n{rows[5]}", "Fares, rows 6-7"),
    ]


def test_rows_of_a_file_are_counted_in_the_file() -> None:
    table = Block("a | b\n1 | 2\n3 | 4", "table", line=4)
    assert chunk(document(table, kind="csv")) == [Chunk("a | b\n1 | 2\n3 | 4", (), "rows 5-6")]
    assert chunk(document(Block("a | b\n1 | 2", "table", line=4), kind="xlsx"))[0].place == "row 5"


def test_code_is_whole_up_to_twice_the_size() -> None:
    code = "\n".join(f"x{n} = {n}" for n in range(13))
    assert [c.text for c in chunk(document(Block(code, "code")), size=20)] == [code]
    long = "\n".join(f"x{n} = {n}" for n in range(20))
    found = chunk(document(Block(long, "code", line=5)), size=20)
    assert "\n".join(c.text for c in found) == long
    assert [c.place for c in found] == ["line 5", "line 11", "line 17", "line 23"]


def test_pages_are_not_mixed() -> None:
    found = chunk(document(Block("One.", page=1), Block("Two.", page=2)))
    assert [(c.text, c.place, c.page) for c in found] == [("One.", "p. 1", 1), ("Two.", "p. 2", 2)]


def test_headings_without_a_body_are_said() -> None:
    found = chunk(
        document(heading("Doc"), heading("Reserved", 2), heading("Next", 2), Block("Text."), heading("End", 2))
    )
    assert found == [
        Chunk("Reserved", (), ""),
        Chunk("Text.", ("Doc", "Next"), "Next"),
        Chunk("End", (), ""),
    ]


def test_only_headings() -> None:
    assert chunk(document(heading("One"), heading("Two", 2))) == [Chunk("One\nTwo")]


def test_nothing() -> None:
    assert chunk(document()) == []


def test_a_passage_of_a_benchmark_is_one_chunk() -> None:
    assert chunk(document(Block(words(150)), Block(words(150)), kind="beir")) == [Chunk(f"{words(150)}\n{words(150)}")]
    assert len(chunk(document(Block(words(150)), Block(words(151)), kind="beir"))) > 1


@pytest.mark.parametrize("kind", ["paragraph", "list_item", "code", "table"])
@pytest.mark.parametrize("n", [1, 19, 31, 61, 400])
def test_no_word_is_lost(kind: BlockKind, n: int) -> None:
    text = "\n".join(words(7, f"r{i}_") for i in range(n // 7 + 1))
    found = chunk(document(heading("H"), Block(text, kind)), size=20)
    said = {word for c in found for word in c.text.split()}
    assert said == set(text.split())


@given(
    st.lists(
        st.tuples(
            st.text("ab. (1):;\n船!?”", max_size=400), st.sampled_from(["heading", "paragraph", "code", "list_item"])
        )
    )
)
def test_every_word_of_any_text_is_said_in_order(parts: list[tuple[str, BlockKind]]) -> None:
    blocks = [Block(text, kind, 1) for text, kind in parts if text.strip()]
    said = "".join("".join((*c.heading, c.text)) for c in chunk(document(*blocks, title=""), size=10))
    letters = "".join(said.split())
    for block in blocks:
        if block.kind != "heading":
            assert all(word in letters for word in block.text.split())
