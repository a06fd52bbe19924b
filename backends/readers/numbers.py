"""Numbers as people write them: thousands separators, currencies, per cent, negatives in brackets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from backends.readers.readings import Reading

_CURRENCY = re.compile(r"[$€£¥₹]|\b(?:EUR|USD|GBP|CHF|SEK|NOK|DKK|JPY|CNY|PLN|CZK|AUD|CAD|INR)\b|\b[Kk]r\b\.?")
_SIGNS = {"€": "EUR", "£": "GBP", "₹": "INR", "Kr": "kr", "kr.": "kr", "Kr.": "kr"}
_SIMPLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?")
_DIGIT = re.compile(r"[0-9]")
_CODE = re.compile(r"0[0-9]")
_PLAIN = re.compile(r"\d+")
_SCIENTIFIC = re.compile(r"\d+(?:\.\d+)?[eE][+-]?\d{1,3}")
_POINT = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?")  # 1,234.50
_COMMA = re.compile(r"(?:\d{1,3}(?:\.\d{3})+|\d+)?(?:,\d+)?")  # 1.234,50
_SPACED = re.compile(r"\d{1,3}(?:[ \u00a0\u202f\u2009'’]\d{3})+(?:[.,]\d+)?")  # 1 234,50
_MOST_DIGITS = 18  # of a DECIMAL and a BIGINT
_MOST_PLACES = 9  # more are measured, not counted: DOUBLE


class _NotANumber(Exception):
    pass


def read_numbers(values: Sequence[str]) -> Reading | None:
    """None where a value is no number; a reading without a type where they are, but what they mean is not certain."""
    codes = [v for v in values if re.fullmatch(r"0\d+", v)]
    if codes:
        digits = all(_PLAIN.fullmatch(v) for v in values)
        return Reading(None, notes=(f"{len(codes)} of {len(values)} values begin with zeros",)) if digits else None
    try:
        cores = [_core(v) for v in values]
    except _NotANumber:
        return None
    bodies = [body for body, _, _, _ in cores]
    if any(_PLAIN.fullmatch(b) and len(b) > _MOST_DIGITS for b in bodies):
        return None  # an identifier, not a quantity
    currencies = {currency for _, _, currency, _ in cores if currency}
    percents = sum(percent for _, _, _, percent in cores)
    if len(currencies) > 1:
        return Reading(None, notes=(f"amounts in {len(currencies)} currencies ({', '.join(sorted(currencies))})",))
    if percents not in (0, len(values)):
        return Reading(None, notes=(f"{percents} of {len(values)} values are per cent",))
    notes: list[str] = []
    plain = _plain(bodies, notes)
    if plain is None:
        return Reading(None, notes=('"." and "," divide both thousands and decimals',))
    numbers = [("-" if cores[n][1] else "") + text for n, text in enumerate(plain)]
    if currencies:
        said = sum(1 for _, _, currency, _ in cores if currency)
        notes.append(f"{said} of {len(values)} values read as amounts in {currencies.pop()}")
    if percents:
        notes.append('read as numbers without "%" (12 means 12 %)')
    if brackets := sum(v.startswith("(") for v in values):
        notes.append(f"{brackets} of {len(values)} values in brackets read as negative")
    return Reading(_type(numbers), tuple(numbers), tuple(notes))


def _core(value: str) -> tuple[str, bool, str, bool]:
    """Digits and separators of a value, whether it is negative, its currency, and whether it is per cent."""
    if _SIMPLE.fullmatch(value):
        return value.lstrip("-"), value[0] == "-", "", False
    found = _CURRENCY.findall(value)
    if len(found) > 1:
        raise _NotANumber
    text = _CURRENCY.sub("", value).strip()
    negative = False
    if text.startswith("(") and text.endswith(")"):
        negative, text = True, text[1:-1].strip()
    if text[:1] in ("-", "−", "+"):
        if negative:
            raise _NotANumber
        negative, text = text[0] != "+", text[1:].strip()
    percent = text.endswith("%")
    text = text[:-1].strip() if percent else text
    if _SPACED.fullmatch(text):
        text = re.sub(r"[ \u00a0\u202f\u2009'’]", "", text)
    if not text.isascii() or not _DIGIT.search(text) or _CODE.match(text):
        raise _NotANumber
    if not (_POINT.fullmatch(text) or _COMMA.fullmatch(text) or _SCIENTIFIC.fullmatch(text)):
        raise _NotANumber
    return text, negative, _SIGNS.get(found[0], found[0]) if found else "", percent


def _plain(bodies: Sequence[str], notes: list[str]) -> list[str] | None:
    """The numbers with a decimal point and nothing else; None where some can be read in two ways and the rest disagree."""
    points = [bool(_POINT.fullmatch(b) or _SCIENTIFIC.fullmatch(b)) for b in bodies]
    commas = [bool(_COMMA.fullmatch(b)) for b in bodies]
    separated = sum("," in b or b.count(".") > 1 for b in bodies)
    if all(points):
        if grouped := sum("," in b for b in bodies):
            notes.append(f'{grouped} of {len(bodies)} values read with "," between thousands')
        return [b.replace(",", "") for b in bodies]
    if all(commas):
        notes.append(f'{separated} of {len(bodies)} values read with "," before decimals')
        return [b.replace(".", "").replace(",", ".") for b in bodies]
    if any(p and c and not _PLAIN.fullmatch(b) for b, p, c in zip(bodies, points, commas, strict=True)):
        return None
    notes.append(
        f'{sum(not p for p in points)} of {len(bodies)} values read with "," before decimals, the rest with "."'
    )
    return [
        b.replace(",", "") if p else b.replace(".", "").replace(",", ".") for b, p in zip(bodies, points, strict=True)
    ]


def _type(numbers: Sequence[str]) -> str:
    """BIGINT, a DECIMAL that holds every digit, or DOUBLE."""
    if all(n.lstrip("-").isdecimal() for n in numbers):
        return "BIGINT"
    places = whole = 0
    for n in numbers:
        _, digits, exponent = Decimal(n).as_tuple()
        if not isinstance(exponent, int) or exponent > 0 or "e" in n.lower():
            return "DOUBLE"
        places = max(places, -exponent)
        whole = max(whole, len(digits) + exponent)
    if places > _MOST_PLACES or whole + places > _MOST_DIGITS:
        return "DOUBLE"
    return f"DECIMAL({_MOST_DIGITS},{places})"
