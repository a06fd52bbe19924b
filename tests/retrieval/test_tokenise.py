"""Identifiers are found however they are typed."""

import pytest

from retrieval.tokenise import tokenise


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("Fault Z-2207 halts the line", "z2207"),
        ("Fault Z2207 halts the line", "Z-2207?"),
        ("call fetchOrderById first", "fetchorderbyid"),
        ("call fetchOrderById first", "order"),
        ("set max_retry_count", "max retry count"),
        ("bulletin QS21-034", "qs21 034"),
        ("released in v4.11.2.", "4.11.2"),
        ("error 0X8007A001", "0x8007a001"),
        ("§ 6.3(a) allows it", "section 6.3 (a)"),
        ("see 7.12BB.3", "clause 7.12BB.3"),
        ("a total of 1,260.50 EUR", "1260.50"),
        ("保証期間は二年です", "保証期間"),
        ("배송은 화요일", "배송"),
        ("valves were closed", "closing valve"),
    ],
)
def test_query_meets_text(written: str, asked: str) -> None:
    terms = tokenise(asked)
    held = set(tokenise(written))
    assert terms
    assert any(t in held for t in terms if len(t) > 1), (terms, held)


@pytest.mark.parametrize(("one", "other"), [("§ 6.3(a)", "6.30(a)"), ("§ 6.3(a)", "16.3(a)"), ("v2.3", "2.31")])
def test_near_references_stay_apart(one: str, other: str) -> None:
    assert tokenise(one)[0] not in tokenise(other)


def test_stop_words_and_marks_leave_nothing() -> None:
    assert tokenise("What is the of ?! —") == []
