"""What the pages offer, by type and by the words under which people look for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from aitp_desk.knowledge.base import Document
from aitp_desk.knowledge.declare import Declared
from aitp_desk.knowledge.payloads import LocalFile, Resource
from aitp_desk.knowledge.words import Stemmer, words_of


class Shelved(msgspec.Struct, frozen=True):
    """A resource with the stems that it is found by.

    Parameters:
        named: of its title and its file's name.
        told: of what is said about it.
    """

    resource: Resource
    named: frozenset[str]
    told: frozenset[str]


class Shelf:
    """All resources of one snapshot of the content.

    Attributes:
        files: those that are served, by their addresses: what an export has to take along.
        types: the content types that there are, each once.
    """

    def __init__(
        self, declared: Declared, documents: Mapping[str, Document], stemmer: Stemmer
    ) -> None:
        self.files: Mapping[str, LocalFile] = declared.files
        self._by_type: dict[str, list[Shelved]] = {}
        self._by_page: dict[str, list[Resource]] = {}

        def stems(*texts: str) -> frozenset[str]:
            return frozenset(stemmer.stem(word) for text in texts for word in words_of(text))

        for resource in declared.resources:
            page = documents[resource.page]
            tags = page.front.get("tags")
            about = " ".join(map(str, tags)) if isinstance(tags, list) else ""
            shelved = Shelved(
                resource,
                stems(resource.title, resource.name),
                stems(resource.description, resource.told, page.title, about),
            )
            self._by_type.setdefault(resource.content_type, []).append(shelved)
            self._by_page.setdefault(resource.page, []).append(resource)
        self.types = tuple(self._by_type)

    def of_type(self, kind: str) -> Sequence[Shelved]:
        """The resources of a content type, in the order of their pages."""
        return self._by_type.get(kind, ())

    def of_page(self, path: str) -> Sequence[Resource]:
        """What a page offers, in the order in which the types are read."""
        return self._by_page.get(path, ())

    def thumbnail(self, path: str) -> str | None:
        """The address of a picture that stands for a page, as it is declared; or None."""
        resources = self.of_page(path)
        thumbnails = (resource.payload.get("thumbnail_url") for resource in resources)
        pictures = (_first_url(resource.payload.get("images")) for resource in resources)
        return next((url for url in (*thumbnails, *pictures) if isinstance(url, str)), None)


def _first_url(images: object) -> object:
    if isinstance(images, Iterable) and not isinstance(images, (str, dict)):
        first = next(iter(images), None)
        return first.get("url") if isinstance(first, dict) else None
    return None
