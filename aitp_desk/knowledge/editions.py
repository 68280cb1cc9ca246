"""One immutable snapshot of the site's content in all its languages, a library for each.

A language's library holds its versions of the pages, and the other pages in the site's own
language: whoever asks in that language is answered from all that the site knows, and nobody else is
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
    """What the site knew at one moment, in all its languages.

    Parameters:
        libraries: by the tags of their languages, the site's own first.

    Attributes:
        library: in the site's own language.
        languages: their tags, the site's own first.
        documents: of all languages, by path, without their bodies.
        problems: of all languages, each once.
        files: those that pages of any language declare, by their addresses.
        types: the content types of what pages of any language offer, each once.
        described: content types of the site's own by name, as far as pages of any language offer
            and document them; the site's own language goes before the others.
        revision: changes when anything does that an answer may depend on.
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
        """The passages of all languages; one that is in several comes several times."""
        for library in self._libraries.values():
            yield from library.passages

    @property
    def libraries(self) -> tuple[Library, ...]:
        """A library for each language, the site's own first."""
        return tuple(self._libraries.values())

    def prepare(self) -> None:
        """Make ready, outside of the event loop, what the first questions would wait for."""
        for library in self._libraries.values():
            library.vocabulary.prepare()

    def is_stale(self) -> bool:
        """Whether an index has to be opened again: its file has changed, or is damaged."""
        return any(library.is_stale() for library in self._libraries.values())

    def document(self, path: str) -> Document | None:
        """The document at a path, in whatever language, with its body, or None."""
        document = self._by_path.get(path)
        return document and self.find_library_of(document).document(path)

    def find_library(self, locale: str | None) -> Library:
        """The library for a visitor who prefers a language; the site's own where it is not there.

        Parameters:
            locale: its tag, in any spelling; None where nothing is preferred.
        """
        return self._libraries[self.find_language(locale) or self.own] if locale else self.library

    def find_language(self, locale: str) -> str | None:
        """The tag of the language.

        That is one that :meth:`find_library` finds, or None where it is not there.
        """
        return look_up(locale, self._libraries, self.own)

    def find_library_of(self, document: Document) -> Library:
        """The library that a document is in, which is its language's."""
        return self._libraries[document.language or self.own]

    def find_page_language(self, url: str) -> str | None:
        """The language of the page that a source points to; None where there is no such page.

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
    declaring: DeclarationReader | None = None,
    lines: Sequence[Line] = (),
) -> Editions:
    """Open the libraries of this content; indexes are made where they are not there yet.

    Parameters:
        raw: the content in all languages.
        problems: what could not be read elsewhere.
        declaring: reads what the pages offer beside their text.
        lines: what the passages were enriched with.
    """
    languages = _detected(raw, languages)
    parts = _part(raw, languages)
    names = {tag: FILE if tag == languages.own else _name(tag) for tag in parts}
    indexes = open_indexes({names[tag]: part for tag, part in parts.items()}, data)
    libraries: dict[str, Library] = {}
    for tag in parts:
        index = indexes[names[tag]]
        declared = NO_MEDIA if declaring is None else declaring.read(index.documents)
        found = problems if tag == languages.own else ()
        hidden = find_hidden_pages(index.documents, raw.below)
        libraries[tag] = Library(index, synonyms, (*found, *hidden), tag, declared, lines)
    _clear_away(data, libraries)
    return Editions(libraries)


def _detected(raw: RawContent, languages: Languages) -> Languages:
    """The languages with the one that the pages are in, where the owner has said nothing of it."""
    if languages != Languages() or find_language_versions(raw, languages).versions:
        return languages
    own = detect_language(payload for found, payload in raw.files if found.kind != "pdf")
    return languages if own is None else Languages(own)


def _name(tag: str) -> str:
    """What the index of a language that is not the site's own is called."""
    place = Path(FILE)
    return f"{place.stem}.{tag}{place.suffix}"


def _clear_away(data: Path, languages: Collection[str]) -> None:
    """Remove the indexes of languages that the content is not in any more."""
    for left in set(data.glob(_name("*"))) - {data / _name(tag) for tag in languages}:
        left.unlink(missing_ok=True)


def _part(raw: RawContent, languages: Languages) -> dict[str, RawContent]:
    """The files that each language's library is made from, the site's own language first."""
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
