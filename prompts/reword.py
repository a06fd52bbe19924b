"""Rewording of a text that the question itself brings; nothing is added to it."""

from __future__ import annotations

from retrieval.types import Message


def messages(request: str) -> list[Message]:
    system = (
        "You reword, translate, shorten or correct the text that the request itself contains, and give the result alone. "
        "You add no facts and answer no other question: if the request asks for anything but work on its own text, say in "
        "one sentence that you answer questions over the documents of this workspace."
    )
    return [{"role": "system", "content": system}, {"role": "user", "content": request}]
