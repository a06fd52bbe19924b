"""Small PDF files, put together by hand."""

import hashlib
from collections.abc import Mapping, Sequence

Text = tuple[float, float, float, str]  # x, y, size, words; bold where the words begin with "*"
Turn = tuple[float, float, float, str, int]  # the same, and the degrees by which it is turned: 0, 90, 180 or 270
PAD = bytes.fromhex("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a")


def rc4(key: bytes, data: bytes) -> bytes:
    state, j = list(range(256)), 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    out, i, j = bytearray(), 0, 0
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def rule(left: float, bottom: float, right: float, top: float) -> str:
    """A rule from one point to another, drawn as it is."""
    return f"{left} {bottom} m {right} {top} l S"


def pdf(
    pages: Sequence[Sequence[Text | Turn | str]],
    user: str | None = None,
    title: str = "",
    rotate: int = 0,
    unicode: Mapping[str, str] | None = None,
) -> bytes:
    """A PDF of these texts, and of what is given as drawn; `user` encrypts it (PDF 1.4, 40 bits), with an owner's
    password beside. `rotate` turns the pages. `unicode` says which characters the letters stand for.
    """
    key = entry = b""
    if user is not None:
        password = (user.encode() + PAD)[:32]
        owner = rc4(hashlib.md5((b"owner" + PAD)[:32]).digest()[:5], password)
        key = hashlib.md5(password + owner + b"\xfc\xff\xff\xff" + b"id").digest()[:5]
        entry = b"<</Filter/Standard/V 1/R 2/P -4/O<%s>/U<%s>>>" % (owner.hex().encode(), rc4(key, PAD).hex().encode())
    objects = [b"<</Type/Catalog/Pages 2 0 R>>"]
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode())
    mapped = b"/ToUnicode %d 0 R" % (5 + 2 * len(pages)) if unicode else b""
    fonts = (b"Helvetica", b"Helvetica-Bold")
    objects.extend(b"<</Type/Font/Subtype/Type1/BaseFont/%s%s>>" % (name, mapped) for name in fonts)
    for n, texts in enumerate(pages):
        number = 6 + 2 * n
        parts = []
        for drawn in texts:
            if isinstance(drawn, str):
                parts.append(drawn)
                continue
            x, y, size, words, *turn = drawn
            a, b = ((1, 0), (0, 1), (-1, 0), (0, -1))[turn[0] // 90 if turn else 0]
            bold, words = words.startswith("*"), words.lstrip("*")
            words = words.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            parts.append(f"BT /F{2 if bold else 1} {size} Tf {a} {b} {-b} {a} {x} {y} Tm ({words}) Tj ET")
        stream = "\n".join(parts).encode("cp1252")
        if key:
            stream = rc4(hashlib.md5(key + number.to_bytes(3, "little") + b"\0\0").digest()[:10], stream)
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Rotate %d/Contents %d 0 R" % (rotate, number)
            + b"/Resources<</Font<</F1 3 0 R/F2 4 0 R>>>>>>"
        )
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream))
    if unicode:
        entries = "\n".join(f"<{ord(k):02x}> <{ord(v):04x}>" for k, v in unicode.items())
        codes = "begincmap 1 begincodespacerange <00> <ff> endcodespacerange"
        table = f"{codes} {len(unicode)} beginbfchar\n{entries}\nendbfchar endcmap"
        objects.append(b"<</Length %d>>stream\n%s\nendstream" % (len(table), table.encode()))
    trailer = b"/Root 1 0 R"
    for extra, name in ((entry, b"Encrypt"), (f"<</Title({title})>>".encode() if title else b"", b"Info")):
        if extra:
            objects.append(extra)
            trailer += b"/%s %d 0 R" % (name, len(objects))
    out, offsets = b"%PDF-1.4\n", []
    for n, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj%s\nendobj\n" % (n, body)
    places = b"".join(b"%010d 00000 n \n" % at for at in offsets)
    size = len(objects) + 1
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d%s/ID[<6964><6964>]>>\nstartxref\n%d\n%%%%EOF" % (
        size, places, size, trailer, len(out),
    )  # fmt: skip
