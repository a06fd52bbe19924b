"""No mark without a citation, no citation without its words."""

from retrieval.citations import checked
from retrieval.types import Citation


def citation(mark: str, text: str) -> Citation:
    return {"id": mark, "kind": "document", "source": "a.md", "place": "", "text": text, "score": 1.0}


def test_what_holds_stays() -> None:
    text, kept, removed = checked("The valve is red. [1]", [citation("1", "The valve is red.")])
    assert (text, [c["id"] for c in kept], removed) == ("The valve is red. [1]", ["1"], [])


def test_a_mark_that_opens_on_nothing_goes() -> None:
    text, kept, removed = checked("The valve is red. [1][7]", [citation("1", "The valve is red.")])
    assert text == "The valve is red. [1]"
    assert (len(kept), removed) == (1, ["7"])


def test_a_citation_whose_words_are_not_in_the_answer_goes() -> None:
    text, kept, removed = checked("The valve is blue. [1]", [citation("1", "The valve is red.")])
    assert (text, kept, removed) == ("The valve is blue.", [], ["1"])


def test_an_unused_citation_is_not_listed() -> None:
    assert checked("Nothing.", [citation("1", "Nothing.")])[1] == []
