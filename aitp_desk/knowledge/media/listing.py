"""Lists pages: newest first, by folder and by tag."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.documents.dates import find_publication_date
from aitp_desk.knowledge.search.tokenizer import split_words


class PageLists:
    """All lists of one snapshot of the content, built once.

    Parameters:
        documents: in any order.
        stem: the stem of a word.

    Attributes:
        newest: all pages, those without a date last; of one moment by title.
        folders: by name, each with the pages in it and below it.
    """

    def __init__(self, documents: Sequence[Document], stem: Callable[[str], str]) -> None:
        newest = sorted(documents, key=_by_title)
        newest.sort(key=_by_moment, reverse=True)
        self.newest: Sequence[Document] = newest
        self.folders = _folders(newest)
        self._said = [
            (folder, frozenset(map(stem, split_words(folder.rpartition("/")[2]))))
            for folder in self.folders
        ]
        tags: dict[str, list[Document]] = {}
        for document in newest:
            listed = document.front.get("tags")
            for tag in dict.fromkeys(map(str, listed)) if isinstance(listed, list) else ():
                tags.setdefault(tag, []).append(document)
        self._tags = [
            (tag, frozenset(map(stem, split_words(tag))), found) for tag, found in tags.items()
        ]

    def find_folder(self, said: str, stems: frozenset[str]) -> str | None:
        """Return the named folder: by its path, or else by its last name among these words.

        Parameters:
            said: a path without slashes at its ends.
            stems: of all words of the question.
        """
        folded = said.casefold()
        named = [
            name
            for name, own in self._said
            if name.casefold() == folded or (own and own <= stems)  # signs alone are no words
        ]
        return max(
            named,
            key=lambda name: (name.casefold() == folded, name.count("/"), name),
            default=None,
        )

    def find_tag(self, stems: frozenset[str]) -> tuple[str, Sequence[Document]] | None:
        """Return the tag with exactly these words, with its pages."""
        return next(((tag, found) for tag, own, found in self._tags if own == stems), None)


def _folders(documents: Sequence[Document]) -> dict[str, list[Document]]:
    folders: dict[str, list[Document]] = {}
    for document in documents:
        if document.is_elsewhere:
            folders.setdefault(document.folder, []).append(document)
            continue
        parts = document.folder.split("/") if document.folder else []
        for depth in range(1, len(parts) + 1):
            folders.setdefault("/".join(parts[:depth]), []).append(document)
    return dict(sorted(folders.items()))


def _by_title(document: Document) -> str:
    return document.title.casefold()


def _by_moment(document: Document) -> str:
    return find_publication_date(document) or ""
