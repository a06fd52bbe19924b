"""What of a page is content, and what surrounds it: where it is not plain, it is content."""

from __future__ import annotations

from lxml.html import HtmlElement

from backends.readers.html_text import DROPPED, NOISE, fold, is_hidden

_FRAME = {"noscript", "nav"}
_PARTS = {"main", "article", "section", "blockquote"}
_ROLES = {"navigation", "banner", "contentinfo", "complementary", "search"}
_MOST_NOISE = 0.3  # of the page's text: what holds more is content, whatever its class is called
_MAIN = 0.9  # of the page's text outside of links: where it holds less, comments and the like stand beside it
_OPENS = ("aria-expanded", "aria-controls", "data-toggle", "data-bs-toggle")  # a button that opens what it names


def main_content(root: HtmlElement) -> HtmlElement:
    """The element that says it is the main content, if it holds most of the text; else the body."""
    body = root.find("body")
    whole = body if body is not None else root
    length = _plain_length(whole)
    for query in ("//main", "//*[@role='main']", "//article"):
        found = [e for e in root.xpath(query) if isinstance(e, HtmlElement)]
        if len(found) == 1 and _plain_length(found[0]) > _MAIN * length:
            return found[0]
    return whole


def is_frame(element: HtmlElement, tag: str, length: int) -> bool:
    """Whether an element only surrounds the content; `length` is the page's, in characters."""
    if tag == "button":
        return not any(element.get(name) for name in _OPENS)
    if tag in _FRAME:
        return True
    if tag in ("header", "footer", "aside"):  # of the page; within the content they hold its title, sources, remarks
        within = any(a.tag in _PARTS for a in element.iterancestors())
        return not within or (tag != "header" and link_share(element) > 0.5)
    noise = element.get("role") in _ROLES or bool(NOISE.search(element.get("class", "")))
    return noise and len(element.text_content()) < _MOST_NOISE * length


def link_share(element: HtmlElement) -> float:
    """The share of an element's text that is links, 0 to 1; 0 for one without text."""
    length = len("".join(element.text_content().split()))
    linked = sum(len("".join(a.text_content().split())) for a in element.iter("a"))
    return linked / length if length else 0.0


def _plain_length(element: HtmlElement) -> int:
    """Characters outside of links and of what is no content anywhere."""
    if element.tag in (*DROPPED, *_FRAME, "footer", "button", "a") or is_hidden(element):
        return 0
    length = len(fold(element.text or ""))
    for child in element:
        length += (_plain_length(child) if isinstance(child.tag, str) else 0) + len(fold(child.tail or ""))
    return length
