"""Holds an immutable snapshot of the content, with a library for each language.

A language's library has its versions of the pages, and the other pages in the site's language: a
visitor who asks in that language is answered from the whole site, and only such a visitor is
answered from these versions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import msgspec

from aitp_desk.knowledge.documents.base import Document, Passage, Problem
from aitp_desk.knowledge.documents.detection import detect_language
from aitp_desk.knowledge.documents.languages import Languages, list_fallbacks, look_up
from aitp_desk.knowledge.enrichment.file import Line
from aitp_desk.knowledge.index.builder import FILE
from aitp_desk.knowledge.index.index import open_indexes
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.media.declarations import NO_MEDIA, DeclarationReader
from aitp_desk.knowledge.media.payloads import ContentTypeText
from aitp_desk.knowledge.sources.loader import RawContent, digest_of_files, find_language_versions
from aitp_desk.knowledge.sources.reserved_paths import find_hidden_pages


class Editions:
    """One snapshot of the content in all its languages.

    Parameters:
        libraries: by the tags of their languages, the site's own first.

    Attributes:
        library: in the site's own language.
        languages: their tags, the site's own first.
        documents: of all languages, by path, without their bodies.
        problems: of all languages, each once.
        files: those that pages of any language declare, by their addresses.
        types: the content types that pages of any language offer, each once.
        described: site-specific content types by name, if pages of any language offer
            and document them; the site's own language takes precedence.
        revision: changes with anything that an answer may depend on.
    """

    def __init__(self, libraries: Mapping[str, Library]) -> None:
        self._libraries = dict(libraries)
        self.own, self.library = next(iter(self._libraries.items()))
        self.languages = tuple(self._libraries)
        every = self._libraries.values()
        found = {document.path: document for library in every for document in library.documents}
        self.documents = tuple(found[path] for path in sorted(found))
        self._by_path = found
        self.problems = tuple(
            dict.fromkeys(problem for library in every for problem in library.problems)
        )
        self.files = {url: file for library in every for url, file in library.shelf.files.items()}
        self.types = tuple(dict.fromkeys(kind for library in every for kind in library.shelf.types))
        described: dict[str, ContentTypeText] = {}
        for library in every:
            described = {**library.shelf.described, **described}
        self.described = {kind: described[kind] for kind in sorted(described) if kind in self.types}
        self.revision = self.library.revision
        if len(self._libraries) > 1:
            revisions = " ".join(library.revision for library in every)
            self.revision = sha256(revisions.encode()).hexdigest()

    def passages(self) -> Iterator[Passage]:
        """The passages of all languages; one that is in several is repeated."""
        for library in self._libraries.values():
            yield from library.passages

    @property
    def libraries(self) -> tuple[Library, ...]:
        """A library for each language, the site's own first."""
        return tuple(self._libraries.values())

    def prepare(self) -> None:
        """Prepare, outside of the event loop, what the first questions would wait for."""
        for library in self._libraries.values():
            library.vocabulary.prepare()

    def is_stale(self) -> bool:
        """Whether an index has to be reopened: its file has changed, or is damaged."""
        return any(library.is_stale() for library in self._libraries.values())

    def document(self, path: str) -> Document | None:
        """Return the document at a path, in any language, with its body, or None."""
        document = self._by_path.get(path)
        return document and self.find_library_of(document).document(path)

    def find_library(self, locale: str | None) -> Library:
        """Return the library for a visitor's language; the site's own if that is not available.

        Parameters:
            locale: its tag, in any spelling; None without a preference.
        """
        return self._libraries[self.find_language(locale) or self.own] if locale else self.library

    def find_language(self, locale: str) -> str | None:
        """Return the tag of the available language that :meth:`find_library` uses, or None."""
        return look_up(locale, self._libraries, self.own)

    def find_library_of(self, document: Document) -> Library:
        """Return the library of a document's language."""
        return self._libraries[document.language or self.own]

    def find_page_language(self, url: str) -> str | None:
        """Return the language of the page of a source; None if there is no such page.

        Parameters:
            url: as :attr:`aitp_desk.knowledge.documents.base.Passage.url`.
        """
        page = self._by_path.get(url.partition("#")[0].removeprefix("/"))
        return None if page is None else page.language or self.own


def open_editions(
    raw: RawContent,
    data: Path,
    synonyms: Mapping[str, Sequence[str]],
    languages: Languages,
    problems: tuple[Problem, ...] = (),
    reader: DeclarationReader | None = None,
    lines: Sequence[Line] = (),
) -> Editions:
    """Open the libraries of this content; missing indexes are built first.

    Parameters:
        raw: the content in all languages.
        problems: external pages that could not be read.
        reader: reads the media that pages declare.
        lines: the enrichment of the passages.
    """
    languages = _detected(raw, languages)
    parts = _part(raw, languages)
    names = {tag: FILE if tag == languages.own else _name(tag) for tag in parts}
    indexes = open_indexes({names[tag]: part for tag, part in parts.items()}, data)
    libraries: dict[str, Library] = {}
    for tag in parts:
        index = indexes[names[tag]]
        declared = NO_MEDIA if reader is None else reader.read(index.documents)
        found = problems if tag == languages.own else ()
        hidden = find_hidden_pages(index.documents, raw.below)
        libraries[tag] = Library(index, synonyms, (*found, *hidden), tag, declared, lines)
    _clear_away(data, libraries)
    return Editions(libraries)


def _detected(raw: RawContent, languages: Languages) -> Languages:
    """Return the languages with the detected one, if the owner has configured none."""
    if languages != Languages() or find_language_versions(raw, languages).versions:
        return languages
    own = detect_language(payload for found, payload in raw.files if found.kind != "pdf")
    return languages if own is None else Languages(own)


def _name(tag: str) -> str:
    """Return the name of the index of a language other than the site's."""
    place = Path(FILE)
    return f"{place.stem}.{tag}{place.suffix}"


def _clear_away(data: Path, languages: Collection[str]) -> None:
    """Remove the indexes of languages that the content no longer has."""
    for left in set(data.glob(_name("*"))) - {data / _name(tag) for tag in languages}:
        left.unlink(missing_ok=True)


def _part(raw: RawContent, languages: Languages) -> dict[str, RawContent]:
    """Split the files by language library, the site's own language first."""
    versions = find_language_versions(raw, languages).versions
    if not versions:
        return {languages.own: raw}
    parts: dict[str, RawContent] = {}
    others = sorted({version.language for version in versions.values()} - {languages.own})
    for tag in (languages.own, *others):
        taken = list_fallbacks(tag, languages.own)
        files = tuple(
            (found, payload)
            for found, payload in raw.files
            if found.source not in versions or versions[found.source].language in taken
        )
        problems = raw.problems if tag == languages.own else ()
        here = {found.source: versions.get(found.source) for found, _ in files}
        told = msgspec.json.encode((raw.below, taken, here))
        digest = digest_of_files(files, problems, told)
        parts[tag] = RawContent(files, problems, digest, raw.below, versions, taken)
    return parts
