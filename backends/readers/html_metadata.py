"""What the head of a page says about it: language, author and dates."""

from __future__ import annotations

from lxml.html import HtmlElement

from backends.readers.metadata import iso_date, language_tag, stated, unclear_dates

_AUTHOR = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
_CREATED = (
    "article:published_time", "date", "dc.date", "dcterms.created", "dcterms.date", "dc.date.issued", "dcterms.issued",
    "pubdate", "publish-date", "citation_publication_date", "datepublished",
)  # fmt: skip
_MODIFIED = ("article:modified_time", "last-modified", "dcterms.modified", "og:updated_time", "revised", "datemodified")
_LANGUAGE = ("content-language", "language", "dc.language", "dcterms.language")
_NAMED_BY = ("name", "property", "itemprop", "http-equiv")


def head_metadata(root: HtmlElement) -> tuple[dict[str, str], tuple[str, ...]]:
    """The metadata, and warnings for dates that are not clear. Where a page says a thing twice, the usual name wins."""
    found: dict[str, list[str]] = {}
    for meta in root.iter("meta"):
        said = (meta.get("content") or "").strip()
        for attribute in _NAMED_BY if said else ():
            if name := meta.get(attribute):
                found.setdefault(name.strip().lower(), []).append(said)
    dates = {"created": _first(found, _CREATED), "modified": _first(found, _MODIFIED)}
    metadata = stated(
        author=", ".join(dict.fromkeys(next((found[name] for name in _AUTHOR if name in found), []))),
        created=iso_date(dates["created"]),
        modified=iso_date(dates["modified"]),
        language=language_tag(root.get("lang") or root.get("xml:lang") or _first(found, _LANGUAGE)),
    )
    return metadata, unclear_dates(dates, metadata)


def _first(found: dict[str, list[str]], names: tuple[str, ...]) -> str | None:
    return next((found[name][0] for name in names if name in found), None)
