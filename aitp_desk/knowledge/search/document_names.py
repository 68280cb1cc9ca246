"""Finds documents by name: by title, by file name, or by a word only its title has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.search.synonyms import plain_stems
from aitp_desk.knowledge.search.tokenizer import STOP_WORDS, Stemmer, split_words

_ACRONYM = re.compile(r"\(([A-Z][A-Za-z0-9-]+)\)")
_GENERAL = frozenset(
    "spec specification guide manual page doc docs documentation readme index overview draft "
    "introduction version v policy".split()
)


class DocumentNames:
    """The names of all documents, in stems.

    Parameters:
        documents: in any order.
        stemmer: makes the stems.

    Attributes:
        title_words: for each path, how many words of its title are significant.
    """

    def __init__(self, documents: Sequence[Document], stemmer: Stemmer) -> None:
        self._stem = stemmer.stem
        self._holders: dict[str, set[str]] = {}
        self.title_words = {
            document.path: len(self._telling(document.title)) for document in documents
        }
        self._names: dict[str, set[frozenset[str]]] = {}
        for document in documents:
            for word in self._words(f"{document.title} {document.name}"):
                self._holders.setdefault(self._stem(word), set()).add(document.path)
        self._everyday = plain_stems()
        for document in documents:
            variants = [document.title, document.name, *_ACRONYM.findall(document.title)]
            names = {frozenset(map(self._stem, self._telling(variant))) for variant in variants}
            # a word that is no plain English and is in one title only is a name by itself
            names |= {
                frozenset({stem})
                for stem in map(self._stem, self._telling(document.title))
                if len(stem) > 3 and stem not in self._everyday and len(self._holders[stem]) == 1
            }
            for name in names:
                if name:  # all of a name must be asked for, so its rarest word finds it
                    rarest = min(name, key=lambda stem: (len(self._holders.get(stem, ())), stem))
                    self._names.setdefault(rarest, set()).add(name)

    def find_documents(self, stems: Iterable[str]) -> set[str]:
        """Return paths of documents with one of these stems in title or file name."""
        return set().union(*(self._holders.get(stem, ()) for stem in stems))

    def find_named(self, stems: frozenset[str]) -> dict[str, bool]:
        """Return the documents of which a whole name is among these stems, by path.

        Documents that share the name, such as two papers on one protocol, are all included. The
        value says whether the name is unambiguous: it has several words or is no English.
        """
        named: dict[str, bool] = {}
        if self._names.keys().isdisjoint(stems):
            return named
        known = stems & self._names.keys()
        for name in {name for stem in known for name in self._names[stem] if name <= stems}:
            proper = len(name) > 1 or self._everyday.isdisjoint(name)
            for path in set.intersection(*(self._holders[stem] for stem in name)):
                named[path] = named.get(path, False) or proper
        return named

    def _words(self, text: str) -> list[str]:
        return [word for word in split_words(text) if word not in STOP_WORDS]

    def _telling(self, text: str) -> list[str]:
        return [word for word in self._words(text) if word not in _GENERAL and not word.isdigit()]
