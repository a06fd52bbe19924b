"""Bytes into text, whatever encoding they are in."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

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
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_SAMPLE = 200_000  # bytes that decide on the encoding


def read_text(path: Path) -> str:
    """A file's text, line ends as "\\n". Raises UnreadableFile where it holds no text."""
    return decode(path.read_bytes(), path.name)


def decode(raw: bytes, name: str, declared: str | None = None) -> str:
    """Text by byte order mark, as UTF-8, as declared by the file itself, or as guessed, in this order.

    Raises UnreadableFile for bytes that are no text, or nothing but white space.
    """
    text = clean(_decoded(raw, name, declared)).replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        raise UnreadableFile(f"{name}: the file is empty (it holds no text).")
    return text


def clean(text: str) -> str:
    """Without NUL, other control characters and lone surrogates, which stores and models stumble over."""
    return _UNWANTED.sub("", text)


def _decoded(raw: bytes, name: str, declared: str | None) -> str:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            return raw.decode(encoding, errors="replace")
    sample = raw[:_SAMPLE]
    if wide := _utf16_without_mark(sample):
        return raw.decode(wide, errors="replace")
    controls, nuls = len(_CONTROL.findall(sample)), sample.count(0)
    if controls > max(1, 0.02 * len(sample)) or nuls > max(1, 0.4 * len(sample)):
        raise UnreadableFile(f"{name}: not text (the content does not match the file's suffix).")
    if b"\x1b$" in sample:
        declared = "iso2022_jp"
    try:
        if declared != "iso2022_jp":
            return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass  # not UTF-8
    if declared:
        try:
            return raw.decode(declared)
        except (UnicodeDecodeError, LookupError):
            pass  # declared wrongly
    loose = raw.decode("utf-8", errors="replace")
    good = sum(c > "\x7f" and c != "\ufffd" for c in loose)
    if good > 20 * loose.count("\ufffd"):
        return loose  # UTF-8 with a few broken bytes
    return raw.decode(_guess(sample), errors="replace")


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
