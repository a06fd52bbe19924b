"""The text of an e-mail, with what it quotes of earlier ones marked, so that an answer is not taken for the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from lxml.html import HtmlElement, fromstring

from backends.readers.decoding import decode
from backends.readers.html import content, page_text, parse
from backends.readers.text import joined, paragraphs
from retrieval.sentences import sentences
from retrieval.types import Block

MARK = "[quoted] "
_PREFIX = re.compile(r"(?:>\s?)+")
_REST_QUOTED = re.compile(  # a rule with words, as programs set above the whole earlier message
    r"\s*-{3,}\s*(?:original message|ursprüngliche nachricht|message d'origine|mensaje original|messaggio originale|"
    r"mensagem original|oorspronkelijk bericht|original appointment|原始邮件|元のメッセージ)\s*-{3,}\s*",
    re.I,
)
_HEADER = re.compile(r"\s*\*?(?:from|von|de|da|van|发件人|差出人)\s?\*?\s?[:：]", re.I)
_SENT = re.compile(
    r"\s*\*?(?:sent|date|gesendet|datum|envoyé|enviado|inviato|data|verzonden|发送时间|送信日時)\s?\*?\s?[:：]", re.I
)
_MOST_WORDS = 100  # of one quoted block, so that no piece of it is cut off from its mark
_PLACE = "\ue000"  # private use: no text holds it but by malice, and then it finds no quote twice
_TOKEN = re.compile(rf"{_PLACE}(\d{{1,6}}){_PLACE}")
_QUOTES = "//blockquote | //*[contains(concat(' ', @class, ' '), ' gmail_quote ')]"


def plain_blocks(text: str) -> tuple[Block, ...]:
    """Paragraphs; runs of lines that begin with ">" are quoted."""
    lines = [(bool(_PREFIX.match(line)), _PREFIX.sub("", line, count=1)) for line in text.split("\n")]
    blocks: list[Block] = []
    for quoted, run in groupby(lines, key=lambda line: line[0]):
        found = [Block(joined(p, True)) for _, p in paragraphs("\n".join(line for _, line in run))]
        blocks.extend(_marked(found) if quoted else found)
    return tuple(_rest_marked(blocks))


def html_blocks(raw: bytes, charset: str | None, name: str) -> tuple[Block, ...]:
    """The blocks of an HTML body; quotes stay where they stand, and headings below the subject."""
    root = parse(decode(raw, name, charset) if charset else page_text(raw, name), name)
    quotes = _taken_out(root)
    blocks: list[Block] = []
    for block in content(root, name, whole=True):
        token = _TOKEN.fullmatch(block.text)
        if token and int(token.group(1)) in quotes:
            blocks.extend(_marked(content(quotes.pop(int(token.group(1))), name, whole=True)))
        else:
            blocks.append(block)
    below = (replace(b, level=min(6, b.level + 1)) if b.kind == "heading" else b for b in blocks)
    return tuple(_rest_marked([replace(b, line=None) for b in below]))


def _taken_out(root: HtmlElement) -> dict[int, HtmlElement]:
    """The outermost quotes by number, each replaced by a paragraph that holds its number."""
    quotes: dict[int, HtmlElement] = {}
    found = [e for e in root.xpath(_QUOTES) if isinstance(e, HtmlElement)]
    for element in found:
        parent = element.getparent()
        if parent is None or root not in element.iterancestors():
            continue  # within a quote that was taken out already
        place = fromstring(f"<p>{_PLACE}{len(quotes)}{_PLACE}</p>")
        place.tail, element.tail = element.tail, None
        parent.replace(element, place)
        quotes[len(quotes)] = element
    return quotes


def _marked(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        if block.kind in ("table", "code"):
            yield replace(block, text=MARK + block.text)
            continue
        kind = "paragraph" if block.kind == "heading" else block.kind
        for piece in _pieces(block.text):
            yield replace(block, text=MARK + piece, kind=kind, level=0 if kind == "paragraph" else block.level)


def _pieces(text: str) -> Iterator[str]:
    """The text, or where it is long, a few sentences at a time."""
    if len(text.split()) <= _MOST_WORDS:
        yield text
        return
    gathered: list[str] = []
    for sentence in sentences(text):
        if gathered and len(" ".join((*gathered, sentence)).split()) > _MOST_WORDS:
            yield " ".join(gathered)
            gathered = []
        gathered.append(sentence)
    yield " ".join(gathered)


def _rest_marked(blocks: Sequence[Block]) -> Iterator[Block]:
    """Some programs set the earlier message below the new one, without any mark but its headers."""
    for n, block in enumerate(blocks):
        if not block.text.startswith(MARK) and _begins_earlier_message(block.text):
            for rest in blocks[n:]:
                yield from [rest] if rest.text.startswith(MARK) else _marked([rest])
            return
        yield block


def _begins_earlier_message(text: str) -> bool:
    first, *further = text.split("\n")
    return bool(_REST_QUOTED.fullmatch(first)) or bool(
        _HEADER.match(first) and any(_SENT.match(line) for line in further[:3])
    )
