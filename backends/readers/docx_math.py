"""Formulas of Office documents (OMML) on one line, as they would be typed: "x^2", "(a+b)/2", "∑_(n=1)^∞ a_n"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from docx.oxml.ns import qn

_SIMPLE = {
    "sSup": ("e", "^", "sup"),
    "sSub": ("e", "_", "sub"),
    "limLow": ("e", "_", "lim"),
    "limUpp": ("e", "^", "lim"),
    "f": ("num", "/", "den"),
}


def formula(element: Any) -> str:
    """The text of an m:oMath, or of any part of one."""
    return "".join(_part(child) for child in element)


def _part(element: Any) -> str:
    if not isinstance(element.tag, str) or not element.tag.startswith("{" + _MATH + "}"):
        return ""
    name = element.tag.rsplit("}", 1)[1]
    if name == "t":
        return element.text or ""
    if name in _SIMPLE:
        left, sign, right = _SIMPLE[name]
        return f"{_grouped(element, left)}{sign}{_grouped(element, right)}"
    if name == "sSubSup":
        return f"{_grouped(element, 'e')}_{_grouped(element, 'sub')}^{_grouped(element, 'sup')}"
    if name == "nary":
        limits = "".join(
            f"{sign}{_grouped(element, part)}" for sign, part in (("_", "sub"), ("^", "sup")) if _inner(element, part)
        )
        return f"{_sign(element, 'chr', '∫')}{limits} {_inner(element, 'e')}"
    if name == "rad":
        degree = _inner(element, "deg")
        return f"{f'root_{degree}' if degree else '√'}({_inner(element, 'e')})"
    if name == "func":
        return f"{_inner(element, 'fName')} {_inner(element, 'e')}"
    if name == "d":
        middle = _sign(element, "sepChr", "|").join(formula(e) for e in element.findall(qn("m:e")))
        return f"{_sign(element, 'begChr', '(')}{middle}{_sign(element, 'endChr', ')')}"
    if name == "m":
        return "[" + "; ".join(", ".join(formula(e) for e in row) for row in element.findall(qn("m:mr"))) + "]"
    if name == "eqArr":
        return "; ".join(formula(e) for e in element.findall(qn("m:e")))
    return "" if name.endswith("Pr") else formula(element)


def _inner(element: Any, name: str) -> str:
    part = element.find(qn(f"m:{name}"))
    return formula(part) if part is not None else ""


def _grouped(element: Any, name: str) -> str:
    """In brackets where it is more than one sign or word, so that it stays clear what belongs together."""
    text = _inner(element, name)
    whole = text.isalnum() or len(text) <= 1 or (text[0] == "(" and text.find(")") == len(text) - 1)
    return text if whole else f"({text})"


def _sign(element: Any, name: str, usual: str) -> str:
    found = next(_named(element, name), None)
    return usual if found is None else found.get(qn("m:val"), "")


def _named(element: Any, name: str) -> Iterator[Any]:
    for properties in element:
        if isinstance(properties.tag, str) and properties.tag.endswith("Pr"):
            yield from properties.findall(qn(f"m:{name}"))


_MATH = qn("m:t")[1:].rsplit("}", 1)[0]
