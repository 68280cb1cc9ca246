"""Indexes the media of pages by type and by words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.media.declarations import DeclaredMedia
from aitp_desk.knowledge.media.payloads import ContentTypeText, LocalFile, Resource
from aitp_desk.knowledge.search.tokenizer import Stemmer, fold_text, split_words


class IndexedResource(msgspec.Struct, frozen=True):
    """A resource with its stems.

    Parameters:
        label: unique among its type: its title, if that is enough.
        named: of its title and its file's name.
        told: of its description.
    """

    resource: Resource
    label: str
    named: frozenset[str]
    told: frozenset[str]


class ResourceIndex:
    """All resources of one snapshot of the content.

    Attributes:
        files: the served ones, by their addresses: an export has to include them.
        types: the available content types, each once.
        described: site-specific types by name, if a page documents them.
    """

    def __init__(
        self, declared: DeclaredMedia, documents: Mapping[str, Document], stemmer: Stemmer
    ) -> None:
        self.files: Mapping[str, LocalFile] = declared.files
        self._by_type: dict[str, list[IndexedResource]] = {}
        self._by_page: dict[str, list[Resource]] = {}
        self._called: tuple[dict[tuple[str, str], list[Resource]], ...] = ({}, {}, {}, {})
        labels = _labels(declared.resources, documents)

        def stems(*texts: str) -> frozenset[str]:
            return frozenset(stemmer.stem(word) for text in texts for word in split_words(text))

        for resource, label in zip(declared.resources, labels, strict=True):
            page = documents[resource.page]
            tags = page.front.get("tags")
            about = " ".join(map(str, tags)) if isinstance(tags, list) else ""
            shelved = IndexedResource(
                resource,
                label,
                stems(resource.title, resource.name),
                stems(resource.description, resource.told, page.title, about),
            )
            self._by_type.setdefault(resource.content_type, []).append(shelved)
            self._by_page.setdefault(resource.page, []).append(resource)
            names = (label, resource.title, resource.name, resource.page)
            for called, name in zip(self._called, names, strict=True):
                called.setdefault((resource.content_type, normalize_name(name)), []).append(
                    resource
                )
        self.types = tuple(self._by_type)
        self.described: Mapping[str, ContentTypeText] = declared.described

    def list_by_type(self, kind: str) -> Sequence[IndexedResource]:
        """Return the resources of a content type, in the order of their pages."""
        return self._by_type.get(kind, ())

    def find_by_name(self, kind: str, name: str) -> Resource | None:
        """Return the only resource of a type with this label, title, file or page.

        None if there is none, or if there are several.
        """
        key = (kind, normalize_name(name))
        if not key[1]:
            return None
        found = next((called[key] for called in self._called if key in called), [])
        return found[0] if len(found) == 1 else None

    def list_by_page(self, path: str) -> Sequence[Resource]:
        """Return the resources of a page, in the reading order of their types."""
        return self._by_page.get(path, ())

    def thumbnail(self, path: str) -> str | None:
        """Return the address of a picture that represents a page, as declared; or None."""
        resources = self.list_by_page(path)
        thumbnails = (resource.payload.get("thumbnail_url") for resource in resources)
        pictures = (_first_url(resource.payload.get("images")) for resource in resources)
        return next((url for url in (*thumbnails, *pictures) if isinstance(url, str)), None)


def normalize_name(name: str) -> str:
    """Return a name as its words, without case and signs."""
    return " ".join(split_words(fold_text(name)))


def _labels(resources: Sequence[Resource], documents: Mapping[str, Document]) -> list[str]:
    """Return a unique label for each resource of its type, no longer than needed."""
    labels = [resource.title for resource in resources]
    details = (
        [resource.name or documents[resource.page].title for resource in resources],
        [f"/{resource.page}" for resource in resources],
    )
    for detail in details:
        keys = [
            (one.content_type, normalize_name(label))
            for one, label in zip(resources, labels, strict=True)
        ]
        count = Counter(keys)
        labels = [
            f"{label} ({more})" if count[key] > 1 else label
            for key, label, more in zip(keys, labels, detail, strict=True)
        ]
    return labels


def _first_url(images: object) -> object:
    if isinstance(images, Iterable) and not isinstance(images, (str, dict)):
        first = next(iter(images), None)
        return first.get("url") if isinstance(first, dict) else None
    return None
