"""The words of HTML elements, as a browser shows them."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

DROPPED = {"script", "style", "template", "svg", "iframe", "object", "select", "head", "canvas", "audio", "video"}
NOISE = re.compile(
    r"(?:^|\s)(?:navbox\S*|mw-editsection|mw-jump-link|toc|vector-(?:dropdown|column|toc|header|menu|page-toolbar|sticky)\S*|"
    r"sidebar\S*|infobox-image|mw-portlet\S*|mw-hidden\S*|breadcrumbs?|catlinks|noprint|printfooter|skip-link|sr-only|"
    r"visually-hidden|cookie-?(?:banner|consent|notice|bar|popup|modal|overlay|dialog|message)\S*)(?:\s|$)",
    re.I,
)
BLOCKS = {
    "p", "div", "section", "article", "main", "body", "html", "header", "form", "fieldset", "legend", "label", "figure",
    "figcaption", "blockquote", "address", "details", "summary", "center", "table", "tr", "td", "th", "tbody", "thead",
    "tfoot", "caption", "dl", "hr", "ul", "ol", "menu", "hgroup", "nav", "footer", "aside",
}  # fmt: skip
_UNSHOWN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)


def is_hidden(element: HtmlElement) -> bool:
    """Not shown. What opens on a click or on a search is shown; a formula hides behind its picture, and is read."""
    if (hidden := element.get("hidden")) is not None and hidden.lower() != "until-found":
        return True
    if element.tag == "dialog" and element.get("open") is None:
        return True
    return bool(_UNSHOWN.search(element.get("style", ""))) and element.find(".//math") is None


def text_of(element: HtmlElement) -> str:
    """The words of an element, with a blank where a block or break divides them, without a wiki's edit links."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "math":
            parts.append(formula(child))
        elif isinstance(child.tag, str) and not _unread(child):
            gap = " " if child.tag in BLOCKS or child.tag == "br" else ""
            parts.extend((gap, text_of(child), gap))
        parts.append(child.tail or "")
    return "".join(parts)


def _unread(child: HtmlElement) -> bool:
    """A button within a heading is the heading of what it opens, so it is read."""
    return (
        child.tag in DROPPED
        or child.tag == "noscript"
        or is_hidden(child)
        or bool(NOISE.search(child.get("class", "")))
    )


def code_of(element: HtmlElement) -> str:
    """Code as it stands, without the button that copies it."""
    parts = [element.text or ""]
    for child in element:
        if child.tag == "br":
            parts.append("\n")
        elif isinstance(child.tag, str) and child.tag not in ("button", *DROPPED) and not is_hidden(child):
            parts.append(code_of(child))
        parts.append(child.tail or "")
    return "".join(parts)


def formula(math: HtmlElement) -> str:
    """A MathML formula as it is typed (TeX) where the page says so, else its signs in order."""
    for note in math.iter("annotation"):
        if "tex" in note.get("encoding", "").lower() and note.text:
            return " ".join(note.text.split())
    return " ".join((math.get("alttext") or math.text_content()).split())


def fold(text: str) -> str:
    return " ".join(text.split())
