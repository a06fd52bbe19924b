"""E-mail: the headers that a person reads, the body with what it quotes marked, and what is attached by name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import policy
from email.errors import HeaderParseError
from email.message import EmailMessage
from email.parser import BytesParser, HeaderParser
from pathlib import Path

from backends.errors import UnreadableFile
from backends.readers.decoding import clean, decode
from backends.readers.eml_bodies import bodies
from backends.readers.metadata import iso_date, language_tag, stated, unclear_dates
from retrieval.types import Block, Document

_SHOWN = ("From", "To", "Cc", "Date")
_KNOWN = ("from", "to", "subject", "date", "received", "message-id", "return-path", "delivered-to")
_HEAD_END = re.compile(rb"\r?\n\r?\n|\r\r")
_ID = re.compile(r"<[^<>\s]+>")
_BROKEN = (ValueError, LookupError, AttributeError, TypeError, HeaderParseError, AssertionError)  # of broken headers


def read(path: Path) -> Iterator[Document]:
    raw = path.read_bytes()
    headers = _Headers(raw, path.name)
    if not any(headers[name] for name in _KNOWN):
        raise UnreadableFile(f"{path.name}: not an e-mail (the content does not match the file's suffix).")
    try:
        message = BytesParser(EmailMessage, policy=policy.default).parsebytes(raw)
        parts = list(bodies(message, path.name))
    except RecursionError as error:
        raise UnreadableFile(f"{path.name}: its parts are nested too deeply to be read.") from error
    subject = headers["Subject"]
    blocks = [Block(subject, "heading", 1)] if subject else []
    blocks.append(Block("\n".join(f"{name}: {said}" for name in _SHOWN if (said := headers[name]))))
    blocks.extend(block for part in parts for block in part.blocks)
    attached = [part.attached for part in parts if part.attached]
    if attached:
        blocks.append(Block("Attachments:"))
        blocks.extend(Block(said, "list_item") for said in attached)
    if not any(part.blocks for part in parts) and not (attached or subject):
        raise UnreadableFile(f"{path.name}: the e-mail holds neither a subject nor a text.")
    dates = {"date": headers["Date"]}
    metadata = _metadata(headers)
    warnings = (
        *unclear_dates(dates, metadata),
        *(warning for part in parts for warning in part.warnings),
        *(f"attachment not read: {said}" for said in attached),
    )
    yield Document(
        subject or path.stem, "eml", tuple(b for b in blocks if b.text), warnings=warnings, metadata=metadata
    )


def _metadata(headers: _Headers) -> dict[str, str]:
    """`thread` is the id of the message that began the conversation, so that its messages can be told together."""
    references = _ID.findall(headers["References"])
    answered = _ID.findall(headers["In-Reply-To"])
    own = _ID.findall(headers["Message-ID"])
    return stated(
        **{
            "from": headers["From"],
            "to": headers["To"],
            "cc": headers["Cc"],
            "author": headers["From"],
            "date": iso_date(headers["Date"]),
            "message_id": next(iter(own), None),
            "in_reply_to": next(iter(answered), None),
            "references": " ".join(references),
            "thread": next(iter((*references, *answered, *own)), None),
            "language": language_tag(headers["Content-Language"]),
        }
    )


class _Headers:
    """Headers as text, encoded words and bare bytes decoded, each on one line; "" for one that is not there."""

    def __init__(self, raw: bytes, name: str) -> None:
        end = _HEAD_END.search(raw)
        text = decode(raw[: end.start()] if end else raw, name)
        self._parsed = HeaderParser(EmailMessage, policy=policy.default).parsestr(text, headersonly=True)
        self._plain = HeaderParser(policy=policy.compat32).parsestr(text, headersonly=True)

    def __getitem__(self, name: str) -> str:
        try:
            said = ", ".join(str(value) for value in self._parsed.get_all(name, []))
        except _BROKEN:  # the parser of structured headers stumbles over some that are broken
            said = ", ".join(str(value) for value in self._plain.get_all(name, []))
        return " ".join(clean(said).split())
