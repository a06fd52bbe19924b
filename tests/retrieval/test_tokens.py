"""The estimate against counts that a real 150,000-entry byte-pair vocabulary (Qwen2.5) gave for the same texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.tokens import PER_MESSAGE, PER_REQUEST, estimate, estimate_messages

COUNTED = [
    ("prose", 39, "The workshop was founded by Ilse Varga in 1987. When you are the only person on the hill, you carry the "
     "pendant and you do not climb the dome ladder."),
    ("code", 47, "async def grade(state: State, runtime: Runtime[Context]) -> Update:\n    if not state['hits']:\n"
     "        return {'verdict': None, \"x\": [i**2 for i in range(10)]}\n"),
    ("json", 37, '{"answerable": true, "claims": [{"id": "a1", "text": "x"}], "n": [1, 2, 3.5]}'),
    ("numbers", 91, "1234567890 3.14159 2026-03-31 12:45:01 £4,000.00 98,765,432 0x7fff 192.168.0.1 +44 20 7946 0958"),
    ("table", 67, "| part | price | since |\n|---|---|---|\n| 00417 | 12.50 | 2025-01-01 |\n| 00418 | 8.00 | 2025-02-01 |"),
    ("chinese", 39, "工作坊由伊尔莎·瓦尔加于1987年创立。你独自一人在山上时，必须携带吊坠，并且不要爬上圆顶的梯子。"),
    ("russian", 57, "Мастерская была основана Ильзой Варгой в 1987 году. Когда вы остаётесь на холме один, носите кулон "
     "и не поднимайтесь на лестницу купола."),
    ("greek", 65, "Το εργαστήριο ιδρύθηκε από την Ίλζε Βάργκα το 1987 και παραμένει ανοιχτό."),
    ("korean", 41, "작업장은 1987년에 일제 바르가가 설립했습니다. 언덕에 혼자 있을 때는 펜던트를 가지고 다닙니다."),
    ("hindi", 67, "कार्यशाला की स्थापना 1987 में इल्से वर्गा ने की थी और यह आज भी खुली है।"),
    ("emoji", 49, "Great 👍🏽 job 🎉🎉 👨‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ✅ → ≥ ∑ ½"),
]  # fmt: skip


@pytest.mark.parametrize(("tokens", "text"), [row[1:] for row in COUNTED], ids=[row[0] for row in COUNTED])
def test_the_estimate_is_no_less_than_the_count_and_not_useless(tokens: int, text: str) -> None:
    assert tokens <= estimate(text) <= 2.2 * tokens


@given(st.text(), st.text())
def test_a_text_costs_at_least_its_parts_less_the_join(left: str, right: str) -> None:
    assert estimate(left + right) >= max(estimate(left), estimate(right)) - 2


@given(st.text(min_size=1))
def test_no_text_is_taken_for_more_than_its_bytes_allow(text: str) -> None:
    assert 0 <= estimate(text) <= len(text.encode("utf-8", "replace")) + 1


def test_nothing_costs_nothing() -> None:
    assert estimate("") == 0


def test_lone_surrogates_are_counted_not_refused() -> None:
    assert estimate("\ud83d") > 0


def test_a_conversation_costs_more_than_its_words() -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]
    assert estimate_messages(messages) == PER_REQUEST + 2 * PER_MESSAGE + estimate("Be brief.") + estimate("Hello")
