"""The numbers of lists as office programs show them, which the files do not hold."""

from __future__ import annotations

_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"),
          (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


def numeral(number: int, form: str) -> str:
    """A number in one of the forms that OOXML names.

    >>> numeral(27, "lowerLetter"), numeral(9, "upperRoman"), numeral(7, "decimalZero")
    ('aa', 'IX', '07')
    """
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form in ("lowerRoman", "upperRoman") and number > 0:
        out = ""
        for size, sign in _ROMAN:
            out += sign * (number // size)
            number %= size
        return out if form == "lowerRoman" else out.upper()
    return f"{number:02d}" if form == "decimalZero" else str(number)
