"""How many tokens a text may cost, without the model's own tokenizer."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

PER_MESSAGE = 6  # a role and its delimiters, in the chat templates seen: 4 to 6
PER_REQUEST = 24  # the start of the reply, and a default system message where the template brings one: 3 to 23

_PIECES = re.compile(
    r"(?P<small>[A-Z]?[a-z]+)|(?P<capitals>[A-Z]+)|(?P<before_digit> (?=[0-9]))|(?P<blank> +)|(?P<ascii>[\x00-\x7f])"
    r"|(?P<cyrillic>[\u0400-\u052f]+)|(?P<short>[\u0080-\u07ff\u1e00-\u1fff])|(?P<long>[\u0800-\uffff])|(?P<astral>.)",
    re.DOTALL,
)
_EACH = {"before_digit": 1.0, "ascii": 1.0, "short": 1.25, "long": 1.5, "astral": 4.0}
_CHARS_PER_TOKEN = {"small": 3.0, "capitals": 2.0, "cyrillic": 1.4}


def estimate(text: str) -> int:
    """An estimate of the tokens in a text, meant to be too high rather than too low, for packing a context window.

    Byte-pair vocabularies spend about a token on four letters of English, on each digit, on most punctuation, and one
    to two on a character of Chinese, Korean or Hindi. So each kind of character has a rate here, set somewhat above what
    a 150,000-entry vocabulary was seen to need on 28 samples: prose, code, tables, hashes, URLs, 14 languages. English
    prose comes out some 50 % too high; strings like hashes come out right on average, so some too low. A vocabulary that
    lacks a script spends up to a token a byte, which is more than this.
    """
    total = 0.0
    for found in _PIECES.finditer(text):
        kind, length = str(found.lastgroup), found.end() - found.start()
        if kind == "blank":
            total += length // 4  # a single space belongs to the word behind it, but not to a digit
        elif kind in _EACH:
            total += _EACH[kind]
        else:
            total += math.ceil(length / _CHARS_PER_TOKEN[kind])
    return math.ceil(total)


def estimate_messages(messages: Iterable[Mapping[str, object]]) -> int:
    """The same for a conversation: its contents, and what a chat template adds around them."""
    return PER_REQUEST + sum(PER_MESSAGE + estimate(str(message["content"])) for message in messages)
