"""The parts of an e-mail: texts to be read, in order, and what is attached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage, Message

from backends.errors import UnreadableFile
from backends.readers.decoding import clean, decode
from backends.readers.eml_quotes import html_blocks, plain_blocks
from retrieval.types import Block

_SEALED = {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}
_MOST_PARTS = 1_000


@dataclass(frozen=True)
class Part:
    """A text as blocks, or an attachment as a line that tells name, type and size."""

    blocks: tuple[Block, ...] = ()
    attached: str = ""
    warnings: tuple[str, ...] = ()


def bodies(message: EmailMessage, name: str) -> Iterator[Part]:
    """The parts in order; of alternatives the plain text, or HTML where there is none.

    Raises UnreadableFile for a message that is encrypted as a whole.
    """
    said = False
    for count, part in enumerate(_chosen(message), 1):
        if count > _MOST_PARTS:
            yield Part(warnings=(f"only the first {_MOST_PARTS} parts were read",))
            return
        kind = part.get_content_type()
        if kind in _SEALED and not said:
            raise UnreadableFile(f"{name}: the e-mail is encrypted; save it decrypted from your mail program.")
        if kind in ("text/plain", "text/html") and not _is_attached(part):
            found = _read(part, kind, name)
            said = said or bool(found.blocks)
            yield found
        else:
            yield Part(attached=_described(part, kind))


def _chosen(part: Message) -> Iterator[Message]:
    kind = part.get_content_type()
    inner = _parts(part)
    if not inner or kind == "message/rfc822" or kind in _SEALED:
        yield part
    elif kind == "multipart/alternative":
        yield from _best(inner)
    else:
        for child in inner:
            yield from _chosen(child)


def _best(alternatives: list[Message]) -> Iterator[Message]:
    """Plain text where it says anything, else HTML, else what came last; calendar entries and the like stay listed."""
    leaves = [list(_chosen(a)) for a in alternatives]
    for wanted in ("text/plain", "text/html"):
        for found in leaves:
            if any(leaf.get_content_type() == wanted and _payload(leaf).strip() for leaf in found):
                yield from found
                texts = ("text/plain", "text/html", "text/enriched", "text/watch-html", "text/x-amp-html")
                for other in leaves:
                    if other is not found:
                        yield from (leaf for leaf in other if leaf.get_content_type() not in texts)
                return
    yield from (leaf for found in leaves for leaf in found)


def _read(part: Message, kind: str, name: str) -> Part:
    raw = _payload(part)
    if not raw.strip():
        return Part()
    try:
        if kind == "text/html":
            return Part(html_blocks(raw, part.get_content_charset(), name))
        return Part(plain_blocks(decode(raw, name, part.get_content_charset())))
    except UnreadableFile as error:
        return Part(warnings=(f"a text in it could not be read: {str(error).removeprefix(f'{name}: ')}",))


def _parts(part: Message) -> list[Message]:
    payload = part.get_payload() if part.is_multipart() else []
    return [inner for inner in payload if isinstance(inner, Message)]


def _payload(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""


def _is_attached(part: Message) -> bool:
    return part.get_content_disposition() == "attachment" or part.get_filename() is not None


def _described(part: Message, kind: str) -> str:
    inner = _parts(part)
    if kind == "message/rfc822" and inner:
        named = str(inner[0].get("Subject", "")) or "an e-mail"
        size = len(inner[0].as_bytes())
    else:
        named, size = part.get_filename() or "without a name", len(_payload(part))
    return f"{' '.join(clean(named).split())} ({kind}, {_size(size)})"


def _size(count: int) -> str:
    """Bytes as a person reads them.

    >>> _size(812), _size(14_000), _size(3_200_000)
    ('812 bytes', '14 KB', '3.2 MB')
    """
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.0f} KB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"
