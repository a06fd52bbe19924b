"""Bytes into text, whatever encoding they are in."""

from __future__ import annotations

import codecs
import io
import re
import unicodedata
from pathlib import Path
from typing import BinaryIO

from charset_normalizer import from_bytes

from backends.errors import UnreadableFile

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MULTIBYTE = {
    "gb18030",
    "gbk",
    "gb2312",
    "big5",
    "big5hkscs",
    "cp932",
    "shift_jis",
    "euc_jp",
    "euc_kr",
    "cp949",
    "johab",
}
_UNWANTED = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_CONTROL = bytes({*range(1, 9), *range(0x0E, 0x20), 0x7F} - {0x1B})
_MAGIC = {
    b"%PDF-": "a PDF",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"PK\x03\x04": "a zip archive, as DOCX and XLSX are",
    b"\x1f\x8b": "a gzip archive",
    b"{\\rtf": "an RTF document",
    b"\x7fELF": "a program",
    b"\xd0\xcf\x11\xe0": "an Office document of the old kind",
}
_SAMPLE = 200_000  # bytes that decide on the encoding
_STEP = 1 << 16  # bytes that are looked at at a time
_MARK = "\udcff"  # stands for bytes that cannot be decoded, until they are counted; no text holds it
UNDECODED = "perquire.undecoded"

codecs.register_error(UNDECODED, lambda error: (_MARK, error.end if isinstance(error, UnicodeDecodeError) else 0))


def read_text(path: Path) -> str:
    """A file's text, line ends as "\\n". Raises UnreadableFile where it holds no text."""
    return decode(path.read_bytes(), path.name)


def decode(raw: bytes, name: str, declared: str | None = None) -> str:
    """Text by byte order mark, as UTF-8, as declared by the file itself, or as guessed, in this order.

    Raises UnreadableFile for bytes that are no text, or nothing but white space.
    """
    text, _ = decode_counted(raw, name, declared)
    return text


def decode_counted(raw: bytes, name: str, declared: str | None = None) -> tuple[str, int]:
    """As `decode`, and how many runs of bytes could not be decoded and are "\ufffd" in the text."""
    encoding = encoding_of(io.BytesIO(raw), name, declared)
    marked, replaced = counted(raw.decode(encoding, errors=UNDECODED))
    text = clean(marked).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UnreadableFile(f"{name}: the file is empty (it holds no text).")
    return text, replaced


def counted(text: str) -> tuple[str, int]:
    """What was decoded with `errors=UNDECODED`, with "\ufffd" for what could not be, and how often."""
    return text.replace(_MARK, "\ufffd"), text.count(_MARK)


def clean(text: str) -> str:
    """Without NUL, other control characters and lone surrogates, which stores and models stumble over."""
    return _UNWANTED.sub("", text)


def encoding_of(stream: BinaryIO, name: str, declared: str | None = None) -> str:
    """The encoding of a seekable stream, for Python; looks at all of it, a little at a time.

    Raises UnreadableFile for bytes that are no text, also where they begin after some text.
    """
    sample = stream.read(_SAMPLE)
    if kind := next((kind for magic, kind in _MAGIC.items() if sample.startswith(magic)), ""):
        raise UnreadableFile(f"{name}: not text but {kind} (the content does not match the file's suffix).")
    for mark, encoding in _BOMS:
        if sample.startswith(mark):
            if encoding != "utf-8-sig" and not _is_writing(sample, encoding):
                raise _no_text(name)
            return encoding
    if (wide := _utf16_without_mark(sample)) and _is_writing(sample, wide):
        return wide
    if _controls(sample) > max(1, 0.02 * len(sample)) or sample.count(0) > max(1, 0.4 * len(sample)):
        raise _no_text(name)
    if b"\x1b$" in sample and _decodes(stream, "iso2022_jp"):
        return "iso2022_jp"
    valid, mostly, odd = _as_utf8(stream, name)
    if valid:
        return "utf-8"
    if declared and _decodes(stream, declared):
        return declared
    return "utf-8" if mostly else _guess(odd)


def _no_text(name: str) -> UnreadableFile:
    return UnreadableFile(f"{name}: not text (the content does not match the file's suffix).")


def _controls(block: bytes) -> int:
    return len(block) - len(block.translate(None, _CONTROL))


def _as_utf8(stream: BinaryIO, name: str) -> tuple[bool, bool, bytes]:
    """Whether the bytes are UTF-8, whether they are but for a few, and what to guess by if not."""
    decoder = codecs.getincrementaldecoder("utf-8")(UNDECODED)
    good = bad = 0
    odd = b""
    stream.seek(0)
    while block := stream.read(_STEP):
        if _controls(block) > max(400, 0.05 * len(block)):
            raise _no_text(name)
        if block.isascii() and not decoder.getstate()[0]:
            continue
        text = decoder.decode(block)
        broken = text.count(_MARK)
        bad += broken
        good += len(text) - len(text.encode("ascii", "ignore")) - broken
        if broken and len(odd) < _SAMPLE:
            odd += block
    bad += decoder.decode(b"", final=True).count(_MARK)
    return bad == 0, good > 20 * bad, odd[:_SAMPLE]


def _decodes(stream: BinaryIO, encoding: str) -> bool:
    try:
        b"".decode(encoding)  # some codecs give no text
        decoder = codecs.getincrementaldecoder(encoding)()
        stream.seek(0)
        while block := stream.read(_STEP):
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except (ValueError, LookupError):
        return False
    return True


def _is_writing(sample: bytes, encoding: str) -> bool:
    """Any two bytes are a character of UTF-16: whether they are mostly ones that are in use."""
    text = sample[: _SAMPLE // 10].decode(encoding, errors="replace")
    odd = sum(unicodedata.category(c) in ("Cc", "Cn", "Co", "Cs") and c not in "\0\t\n\r\f" for c in text)
    return odd + text.count("\ufffd") <= max(1, 0.05 * len(text))


def _utf16_without_mark(sample: bytes) -> str | None:
    """UTF-16 shows by NUL in every second byte of its ASCII part."""
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if half >= 4 and odd > 0.4 * half and even < 0.2 * odd:
        return "utf-16-le"
    if half >= 4 and even > 0.4 * half and odd < 0.2 * even:
        return "utf-16-be"
    return None


def _guess(sample: bytes) -> str:
    """Two-byte encodings come in runs of high bytes, Western ones as single letters between ASCII ones.

    charset-normalizer knows languages but takes a short Western text for Chinese: hence the look at the runs first.
    """
    runs = [len(run) for run in re.findall(rb"[\x80-\xff]+", sample)]
    high = sum(runs)
    single = sum(length for length in runs if length == 1)
    best = from_bytes(sample).best()
    found = best.encoding if best else "cp1252"
    if single > 0.5 * high:
        western = found not in _MULTIBYTE and found.startswith(("cp125", "latin", "iso8859"))
        central = western and best is not None and best.language in _CENTRAL
        return found if central else "cp1252" if _fits(sample, "cp1252") else "latin-1"
    pairs = sum(length for length in runs if length % 2 == 0)
    if found not in _MULTIBYTE and pairs > 0.9 * high and _fits(sample, "gb18030") and _hanzi(sample) > 0.9:
        return "gb18030"
    return found


_CENTRAL = {"Polish", "Czech", "Slovak", "Hungarian", "Romanian", "Croatian", "Slovene", "Turkish"}


def _fits(sample: bytes, encoding: str) -> bool:
    try:
        codecs.getincrementaldecoder(encoding)().decode(sample)  # the sample may end within a character
    except UnicodeDecodeError:
        return False
    return True


def _hanzi(sample: bytes) -> float:
    """Share of frequent Chinese characters (GB2312's first level) and punctuation among those beyond ASCII."""
    text = sample.decode("gb18030", errors="ignore")
    beyond = [c for c in text if c > "\x7f"]
    first_level = sum(b"\xb0\xa1" <= c.encode("gb18030") <= b"\xd7\xf9" for c in beyond)
    punctuation = sum("\u3000" <= c <= "\u303f" or c >= "\uff00" for c in beyond)
    return (first_level + punctuation) / max(1, len(beyond))
