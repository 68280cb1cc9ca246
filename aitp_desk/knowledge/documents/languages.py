"""Determines the language versions of pages, and which one a visitor gets.

A file is a page's version in another language if its name says so before the extension:
``returns.fr.md`` next to ``returns.md``, ``returns.fr-CA.md``. Names with dots are common for other
reasons (``jquery.min.md``, ``v1.2.md``, ``readme.old.md``), so two letters count only if they are a
language and the page exists; three letters, files without that page, and folders such as ``fr/``
count only for languages that the owner has named. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec

from aitp_desk.knowledge.documents.base import Document, get_page_path, is_elsewhere

ISO_639_1 = frozenset(
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu "
    "cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi "
    "ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks "
    "ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl "
    "nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl "
    "sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve "
    "vi vo wa wo xh yi yo za zh zu".split()
)
"""The two-letter language codes."""

_WIDER = {"nb": "no", "nn": "no"}
"""Browsers send the written forms of Norwegian, and sites mostly use the language."""

_TAG = re.compile(r"([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|[0-9]{3}))?", re.IGNORECASE)
_SERVER = re.compile(r"https?://[^/]*/")


class Languages(msgspec.Struct, frozen=True):
    """The languages of the content, as the owner configured them.

    Parameters:
        own: BCP 47 tag of the default language of pages.
        further: tags of others.
    """

    own: str = "en"
    further: tuple[str, ...] = ()

    def is_named(self, tag: str) -> bool:
        """Return whether the owner has named a language, or another form of it."""
        return _primary(tag) in {_primary(known) for known in (self.own, *self.further)}


class Version(msgspec.Struct, frozen=True):
    """The page that a file is a version of.

    Parameters:
        language: its tag, in the usual spelling.
        page: path of the page in the site's language, which need not exist.
    """

    language: str
    page: str


def spell_tag(text: str) -> str | None:
    """Return a language tag in its usual spelling (``fr-CA``, ``zh-Hant-TW``); else None.

    Language, script and region are read (BCP 47, section 2.1), in any case.
    """
    found = _TAG.fullmatch(text)
    if found is None:
        return None
    language, script, region = found.groups()
    parts = (language.lower(), script and script.title(), region and region.upper())
    return "-".join(filter(None, parts))


def find_versions(sources: Iterable[str], languages: Languages) -> dict[str, Version]:
    """Return the sources in another language, with the pages that they are versions of.

    If several have one address, such as ``returns.fr.md`` and ``returns.fr/index.md``, all are
    included: the page's source is chosen later, in the same way for every language.
    """
    addresses = {source: get_page_path(source) for source in sources}
    pages = set(addresses.values())
    found: dict[str, Version] = {}
    for source, address in addresses.items():
        version = _version(source, pages, languages)
        if version is not None:
            found.setdefault(address, version)
    return {source: found[address] for source, address in addresses.items() if address in found}


def look_up(wanted: str, available: Collection[str], own: str) -> str | None:
    """Choose an available language for a visitor, or None.

    The lookup of RFC 4647, section 3.4: ``fr-CA``, then ``fr``. If that finds nothing, another form
    of the same language is chosen: ``pt-BR`` for ``pt``, but the site's language first.

    Parameters:
        wanted: a tag, in any spelling.
        available: tags in their usual spelling.
        own: the site's language.
    """
    by_name = {tag.lower(): tag for tag in available}
    for name in _and_wider(wanted.lower()):
        if name in by_name:
            return by_name[name]
    same = [tag for tag in (own, *sorted(available)) if _primary(tag) == _primary(wanted.lower())]
    return same[0] if same else None


def list_fallbacks(language: str, own: str) -> dict[str, int]:
    """Return the languages in which a page is looked for, ranked: ``fr-CA``, ``fr``, the site's.

    The site's is included also as the empty tag, for pages without a language.
    """
    chain = (tag for tag in map(spell_tag, _and_wider(language)) if tag is not None)
    ranks = {tag: rank for rank, tag in enumerate(dict.fromkeys((*chain, own)))}
    return ranks | {"": ranks[own]}


def drop_duplicates_by_language(documents: Sequence[Document]) -> tuple[Document, ...]:
    """Return the pages, each in one language: without versions of pages that are included."""
    there = {document.path for document in documents}
    return tuple(document for document in documents if document.version_of not in there)


def group_versions(documents: Iterable[Document], own: str) -> dict[str, dict[str, Document]]:
    """Return the pages in several languages, by path: their versions by language.

    Parameters:
        own: the language of pages without a tag.
    """
    pages: dict[str, dict[str, Document]] = {}
    for document in documents:
        versions = pages.setdefault(document.version_of or document.path, {})
        versions.setdefault(document.language or own, document)
    return {page: dict(sorted(found.items())) for page, found in pages.items() if len(found) > 1}


def choose_versions(documents: Sequence[Document], ranks: Mapping[str, int]) -> list[Document]:
    """Return the documents, of each page those in its best available language.

    Parameters:
        ranks: of :func:`list_fallbacks`; an empty one leaves all unchanged.
    """
    if not ranks:
        return list(documents)
    best: dict[str, int] = {}
    for document in documents:
        page, rank = document.version_of or document.path, ranks[document.language]
        best[page] = min(rank, best.get(page, rank))
    return [
        document
        for document in documents
        if ranks[document.language] == best[document.version_of or document.path]
    ]


def _version(source: str, pages: Collection[str], languages: Languages) -> Version | None:
    below = _below_a_folder(source, languages)
    if below is not None or is_elsewhere(source):
        return below
    place = PurePosixPath(source)
    stem, _, ending = place.stem.rpartition(".")
    tag = spell_tag(ending) if stem else None
    if tag is None:
        return None
    page = get_page_path(str(place.with_name(stem + place.suffix)))
    if languages.is_named(tag) or (_primary(tag) in ISO_639_1 and page in pages):
        return Version(tag, page)
    return None


def _below_a_folder(source: str, languages: Languages) -> Version | None:
    """Return a file's version in a top-level folder named by a further language."""
    server = _SERVER.match(source)
    start = server[0] if server else ""
    folder, slash, rest = source[len(start) :].partition("/")
    if not slash or folder.lower() not in {tag.lower() for tag in languages.further}:
        return None
    return Version(spell_tag(folder) or folder, get_page_path(start + rest) if rest else start)


def _and_wider(tag: str) -> list[str]:
    parts = tag.split("-")
    return ["-".join(parts[:count]) for count in range(len(parts), 0, -1)]


def _primary(tag: str) -> str:
    language = tag.partition("-")[0].lower()
    return _WIDER.get(language, language)
