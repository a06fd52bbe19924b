"""What the prompts share: text from documents as data that cannot end its own frame, and languages by name."""

from __future__ import annotations

import re

LANGUAGES = {
    "en": "English", "de": "German", "fr": "French", "es": "Spanish", "it": "Italian", "pt": "Portuguese", "nl": "Dutch",
    "sv": "Swedish", "ja": "Japanese", "ko": "Korean", "zh": "Chinese", "ar": "Arabic", "ru": "Russian", "el": "Greek",
}  # fmt: skip
_TAG = re.compile(r"<\s*/?\s*(?:manifest|passages?|conversation|question|draft|text)\b(?:[^<>]*>)?", re.I)
_MARK = re.compile(r"\[([TW]?\d+)\]")


def data(text: str) -> str:
    """A text from outside, for a prompt: it can neither close the frame around it nor pass for a citation's mark."""
    return _MARK.sub(r"(\1)", _TAG.sub(" ", text))


def language_name(code: str) -> str:
    return LANGUAGES.get(code, "the language of the question")
