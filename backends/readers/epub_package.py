"""What an EPUB says about itself: which files are its chapters, in which order, and what the contents call them."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from lxml import etree

from backends.errors import UnreadableFile
from backends.readers.metadata import iso_date, language_tag, stated, unclear_dates

_N = {
    "c": "urn:oasis:names:tc:opendocument:xmlns:container",
    "o": "http://www.idpf.org/2007/opf",
    "d": "http://purl.org/dc/elements/1.1/",
    "n": "http://www.daisy.org/z3986/2005/ncx/",
    "h": "http://www.w3.org/1999/xhtml",
    "e": "http://www.w3.org/2001/04/xmlenc#",
    "epub": "http://www.idpf.org/2007/ops",
}
CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_PAGES = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")
_NCX = "application/x-dtbncx+xml"
_YEAR = 4


@dataclass(frozen=True)
class Package:
    """`chapters` are paths in the archive in reading order; `labels` what the table of contents calls some of them."""

    title: str
    chapters: tuple[str, ...]
    labels: dict[str, str]
    metadata: dict[str, str]
    warnings: tuple[str, ...]


def read_package(archive: zipfile.ZipFile, name: str) -> Package:
    """Raises UnreadableFile for a protected book; lxml's, KeyError and ValueError escape from a broken one."""
    root = _xml(archive.read(CONTAINER))
    place = next(iter(_strings(root, "//c:rootfile/@full-path")), "")
    opf = _xml(archive.read(place))
    items = {e.get("id"): e for e in _elements(opf, "//o:manifest/o:item") if e.get("href")}
    spine = [items[ref] for ref in _strings(opf, "//o:spine/o:itemref/@idref") if ref in items]
    contents = {_path(place, e.get("href", "")) for e in items.values() if "nav" in e.get("properties", "").split()}
    guide = {_path(place, href) for href in _strings(opf, "//o:guide/o:reference[@type='toc']/@href")}
    pages = [_path(place, e.get("href", "")) for e in spine if e.get("media-type") in _PAGES]
    _refuse_protected(archive, set(pages), name)
    there = set(archive.namelist())
    lost = [page for page in pages if page not in there]
    left = [page for page in pages if page in there and page not in contents | guide]
    ncx = {_path(place, e.get("href", "")) for e in items.values() if e.get("media-type") == _NCX}
    labels: dict[str, str] = {}
    for at in [*sorted(contents & there), *sorted(ncx & there)]:
        for page, label in _labels(at, _xml(archive.read(at))):
            labels.setdefault(page, label)
    metadata, unclear = _metadata(opf)
    title = " ".join(next(iter(_strings(opf, "//d:title/text()")), "").split())
    missing = tuple(f"the chapter {page} is missing from the file" for page in lost)
    return Package(title, tuple(dict.fromkeys(left)), labels, metadata, (*missing, *unclear))


def _labels(at: str, root: etree._Element) -> Iterator[tuple[str, str]]:
    for link in _elements(root, "//h:nav[@epub:type='toc']//h:a[@href]"):
        yield _path(at, link.get("href", "")), " ".join("".join(map(str, link.itertext())).split())
    for point in _elements(root, "//n:navPoint"):
        label = " ".join("".join(_strings(point, "n:navLabel/n:text/text()")).split())
        for source in _strings(point, "n:content/@src"):
            yield _path(at, source), label


def _metadata(opf: etree._Element) -> tuple[dict[str, str], tuple[str, ...]]:
    modified = "//o:meta[@property='dcterms:modified']/text()"
    dates = {
        "created": next(iter(_strings(opf, "//d:date[not(@o:event='modification')]/text()")), None),
        "modified": next(iter(_strings(opf, f"{modified} | //d:date[@o:event='modification']/text()")), None),
    }
    # a book often states its year alone
    days = {
        key: text if text and text.isdecimal() and len(text) == _YEAR else iso_date(text) for key, text in dates.items()
    }
    metadata = stated(
        author=", ".join(_strings(opf, "//d:creator/text()")),
        created=days["created"],
        modified=days["modified"],
        language=language_tag(next(iter(_strings(opf, "//d:language/text()")), None)),
        publisher=next(iter(_strings(opf, "//d:publisher/text()")), None),
    )
    return metadata, unclear_dates(dates, metadata)


def _refuse_protected(archive: zipfile.ZipFile, pages: set[str], name: str) -> None:
    """Fonts may be encrypted without harm, chapters not."""
    if _ENCRYPTION in archive.namelist():
        sealed = {unquote(uri) for uri in _strings(_xml(archive.read(_ENCRYPTION)), "//e:CipherReference/@URI")}
        if sealed & pages:
            raise UnreadableFile(
                f"{name}: the book is protected (DRM) and cannot be read; use a copy without protection."
            )


def _path(base: str, href: str) -> str:
    """A link in the file `base`, as a path in the archive. It never leaves the archive: nothing is unpacked."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(urlsplit(href).path)))


def _xml(raw: bytes) -> etree._Element:
    return etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True))


def _elements(root: etree._Element, query: str) -> list[etree._Element]:
    found = root.xpath(query, namespaces=_N)
    return [e for e in found if isinstance(e, etree._Element)] if isinstance(found, list) else []


def _strings(root: etree._Element, query: str) -> list[str]:
    found = root.xpath(query, namespaces=_N)
    return [str(e) for e in found] if isinstance(found, list) else []
