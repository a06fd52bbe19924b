"""However a text is cut, the secret is not in what is shown, and nothing else is lost."""

from hypothesis import given
from hypothesis import strategies as st

from backends.veil import INSTEAD, Veil

SECRET = "sk-sk-4711"
pieces = st.lists(st.sampled_from([*SECRET, "sk-", SECRET, "a", " ", "sk-sk-", "4711"]), max_size=30)


@given(pieces)
def test_pieces_show_what_the_whole_would(parts: list[str]) -> None:
    veil = Veil(SECRET)
    shown = "".join(veil(part) for part in parts) + veil.rest()
    assert shown == "".join(parts).replace(SECRET, INSTEAD)
    assert SECRET not in shown


def test_what_cannot_begin_the_secret_is_not_kept_waiting() -> None:
    assert Veil(SECRET)("The key is s") == "The key is "
    assert Veil(SECRET)("The key is a") == "The key is a"


def test_a_word_for_a_key_stays_readable() -> None:
    veil = Veil("none")
    assert veil("There are none.") + veil.rest() == "There are none."
