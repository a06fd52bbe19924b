"""Arithmetic is computed, never left to a model. What only looks like it (dates, versions, ranges) is not.

The question is read into our own tokens first: only numbers, operators and square roots reach the evaluator.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Context, Decimal, DecimalException, localcontext
from typing import Literal

Convention = Literal["english", "continental"]

LONGEST = 200  # characters of a question
MOST_DIGITS = 50  # of a result; beyond that nothing is computed
DIGITS_SHOWN = 12  # of a result that is not whole

_ASKED = {  # how a question opens: is it surely arithmetic, and in whose way of writing numbers?
    r"how much (?:is|are|does)|calculate|compute|evaluate|work out": (True, "english"),
    r"what(?:'s|’s| is| are| does)": (False, "english"),
    r"wie ?viel (?:ist|sind|ergibt|macht)|berechne|rechne": (True, "continental"),
    r"was (?:ist|ergibt|sind)": (False, "continental"),
    r"combien (?:font|fait|vaut)|calcule[rz]?": (True, "continental"),
    r"(?:que font|que fait|quel(?:le)? est(?: la| le)?)": (False, "continental"),
}
_POLITE = re.compile(r"(?:(?:please|can you|could you|bitte)[ ,]+)+")
_TAIL = re.compile(r"(?:(?<!\w)(?:equals?|equal to|make|please|bitte|gleich)|[\s=?.])*$")
_THE = re.compile(r"(?:the result of|the value of|the|die|la) +")

_OPERATORS = {  # longest first
    "to the power of": "**",
    "multiplied by": "*",
    "divided by": "/",
    "geteilt durch": "/",
    "divisé par": "/",
    "per cent of": "%of",
    "percent of": "%of",
    "prozent von": "%of",
    "pour cent de": "%of",
    "% of": "%of",
    "% von": "%of",
    "% de": "%of",
    "%of": "%of",
    "square root of": "sqrt",
    "quadratwurzel aus": "sqrt",
    "quadratwurzel von": "sqrt",
    "wurzel aus": "sqrt",
    "racine carrée de": "sqrt",
    "sqrt": "sqrt",
    "√": "sqrt",
    "squared": "squared",
    "cubed": "cubed",
    "times": "*",
    "plus": "+",
    "minus": "-",
    "moins": "-",
    "modulo": "%",
    "mod": "%",
    "durch": "/",
    "fois": "*",
    "hoch": "**",
    "mal": "*",
    "**": "**",
    "x": "*",
    "×": "*",
    "·": "*",
    "*": "*",
    "÷": "/",
    "/": "/",
    "^": "**",
    "+": "+",
    "-": "-",
    "%": "%",
    "(": "(",
    ")": ")",
}
_CONTINENTAL = re.compile(
    r"\b(?:mal|geteilt|durch|hoch|prozent|von|wurzel|quadratwurzel|fois|moins|divisé|racine|pour cent)\b"
)
_NUMBER = r"(?:\d[\d.,]*)?\d"
_TOKEN = re.compile(
    r"(?P<number>\.?"
    + _NUMBER
    + r")|(?P<operator>"
    # a word must not go on in letters: "minus" is not in "minuscule"
    + "|".join(re.escape(w) + (r"(?![^\W\d_])" if w[-1].isalpha() else "") for w in _OPERATORS)
    + r")|(?P<space>\s+)"
)
_BEFORE_SIGN = {"(", "+", "-", "*", "/", "**"}
_PAIR = re.compile(rf"({_NUMBER})([-/x])({_NUMBER})")
_SPACED_PAIR = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")
_CHAIN = re.compile(rf"{_NUMBER}(?:[-/]{_NUMBER}){{2,}}")


def compute(question: str) -> str | None:
    """The result, in short, where the question is nothing but arithmetic; else None.

    >>> compute("What is 17 times 23?")
    '391'
    """
    if len(question) > LONGEST or not any(c.isdigit() for c in question):
        return None
    text, asked, convention = _body(question)
    if _only_looks_like_it(text, asked):
        return None
    expression = _expression(text, convention)
    return _evaluate(expression) if expression else None


def _body(question: str) -> tuple[str, bool | None, Convention]:
    """The question without its frame; whether it surely asks for a result (None: it has no frame)."""
    text = " ".join(question.replace("−", "-").casefold().split())
    asked: bool | None = None
    convention: Convention = "continental" if _CONTINENTAL.search(text) else "english"
    text = text[m.end() :] if (m := _POLITE.match(text)) else text
    for opening, (surely, of) in _ASKED.items():
        if m := re.match(rf"(?:{opening})\s*:?\s+", text):
            asked, text = surely, text[m.end() :]
            convention = "continental" if of == "continental" else convention
            break
    text = text[m.end() :] if (m := _THE.match(text)) else text
    tail = _TAIL.search(text)
    if tail and "=" in tail.group():
        asked = True
    return (text[: tail.start()] if tail else text), asked, convention


def _only_looks_like_it(text: str, asked: bool | None) -> bool:
    """Dates, phone numbers, ranges, fractions, scores and sizes, unless a result is surely asked for."""
    if "--" in text:  # a dash, typed
        return True
    if asked:
        return False
    if _CHAIN.fullmatch(text):  # 2026-3-31, 555-123-4567, 3/4/2026
        return True
    if asked is None and (m := _SPACED_PAIR.fullmatch(text)):  # 3 - 5, 2019 - 2024
        return _comparable(m[1]) < _comparable(m[2]) or " " not in text
    if not (m := _PAIR.fullmatch(text)):
        return False
    first, operator, second = _comparable(m[1]), m[2], _comparable(m[3])
    if operator == "x":  # 1920x1080
        return True
    if operator == "/" and not second:
        return False
    if first == second or first + second == 100:  # 50/50, 80-20
        return True
    if operator == "-":  # 3-5, 4.2-4.5
        return first < second
    return (first <= 31 and second <= 31) or 1900 <= first < 2100  # 9/11, 3/4, 24/7, 2024/25


def _comparable(number: str) -> Decimal:
    return Decimal(re.sub(r"[.,]", "", number) if number.count(".") != 1 or "," in number else number)


def _expression(text: str, convention: Convention) -> str | None:
    """The text in the evaluator's notation; None where it is no arithmetic of at least one operation."""
    tokens = _tokens(text, convention)
    if tokens is None:
        return None
    out: list[str] = []
    operand = False  # does an operand stand to the left?
    depth = operations = 0
    for at, token in enumerate(tokens):
        following = tokens[at + 1] if at + 1 < len(tokens) else ""
        if token == "(":
            if operand:
                return None
            depth += 1
        elif token == ")":
            if not operand or not depth:
                return None
            depth -= 1
        elif token == "sqrt":
            if operand or not (following == "(" or following[:1].isdigit()):
                return None
            operations += 1
            if following != "(":
                out.append("sqrt(")
                tokens[at + 1] = f"{following})"
                continue
        elif token in {"squared", "cubed"}:
            if not operand:
                return None
            operations += 1
            token = "**2" if token == "squared" else "**3"
        elif token[0].isdigit():
            if operand:
                return None
            if following == "%of":
                if out and out[-1] in {"/", "**", "%"}:  # 3 / 10 % of 50: whose is the division?
                    return None
                token, tokens[at + 1] = f"({token}/100)", "*"
            operand = True
        elif token == "%of" or (not operand and not (token == "-" and (not out or out[-1] in _BEFORE_SIGN))):
            return None
        else:
            operations += operand
            operand = False
        out.append(token)
    return " ".join(out) if operand and not depth and operations else None


def _tokens(text: str, convention: Convention) -> list[str] | None:
    """Numbers in the evaluator's notation, operators, brackets. None at the first thing that is neither."""
    out: list[str] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if not match:
            return None
        at = match.end()
        if match["number"]:
            number = _number(match["number"], convention)
            if number is None:
                return None
            out.append(number)
        elif match["operator"]:
            out.append(_OPERATORS[match["operator"]])
    return out


def _number(raw: str, convention: Convention) -> str | None:
    """A number without its grouping; None for versions, leading zeros and what can be read two ways."""
    group, point = (",", ".") if convention == "english" else (".", ",")
    if not raw.isascii():
        return None
    if re.fullmatch(r"\d*\.\d+" if point == "." else r"\d*,\d+", raw) and not (
        convention == "continental" and re.fullmatch(r"[1-9]\d{0,2},\d{3}", raw)
    ):
        raw = raw.replace(point, ".")
    elif re.fullmatch(rf"[1-9]\d{{0,2}}(?:{re.escape(group)}\d{{3}})+(?:{re.escape(point)}\d+)?", raw):
        if convention == "continental" and re.fullmatch(r"\d+\.\d{3}", raw):  # 1.200: grouped, or with a point?
            return None
        raw = raw.replace(group, "").replace(point, ".")
    elif convention == "continental" and re.fullmatch(r"\d+\.\d{1,2}", raw):
        pass  # 12.5 can be read one way only
    elif not raw.isdigit():
        return None
    raw = "0" + raw if raw.startswith(".") else raw
    return None if re.match(r"0\d", raw) else raw


def _evaluate(expression: str) -> str | None:
    import ast

    from simpleeval import InvalidExpression, SimpleEval

    operators: dict[type[ast.AST], Callable[..., Decimal]] = {
        ast.Add: lambda a, b: a + b,
        ast.Sub: lambda a, b: a - b,
        ast.Mult: lambda a, b: a * b,
        ast.Div: _divide,
        ast.Mod: _modulo,
        ast.Pow: _power,
        ast.USub: lambda a: -a,
    }
    evaluator = SimpleEval(operators=operators, functions={"sqrt": Decimal.sqrt}, names={})
    evaluator.nodes[ast.Constant] = lambda node: Decimal(ast.get_source_segment(expression, node) or "NaN")
    try:
        with localcontext(Context(prec=MOST_DIGITS + 10)):
            return _show(evaluator.eval(expression))
    except ZeroDivisionError:
        return "undefined (division by zero)"
    except (InvalidExpression, DecimalException, SyntaxError, RecursionError, MemoryError):
        return None


def _divide(a: Decimal, b: Decimal) -> Decimal:
    if not b:
        raise ZeroDivisionError
    return a / b


def _modulo(a: Decimal, b: Decimal) -> Decimal:
    """With the sign of the divisor, as mathematicians and Python have it."""
    if not b:
        raise ZeroDivisionError
    rest = a % b
    return rest + b if rest and (rest < 0) != (b < 0) else rest


def _power(a: Decimal, b: Decimal) -> Decimal:
    from simpleeval import NumberTooHigh

    if not a and b < 0:
        raise ZeroDivisionError
    if abs(b) > 1_000 or (a and abs(a.adjusted() * b) > MOST_DIGITS):
        raise NumberTooHigh(f"{a} to the power of {b}")
    return a**b


def _show(value: Decimal) -> str | None:
    """Whole numbers in full, others to twelve digits, both without an exponent."""
    if not value.is_finite() or value.adjusted() >= MOST_DIGITS:
        return None
    if value != value.to_integral_value():
        whole_digits = max(value.adjusted() + 1, 0)
        with localcontext(Context(prec=max(DIGITS_SHOWN, whole_digits))):
            value = +value
    text = format(value, "f")
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text
