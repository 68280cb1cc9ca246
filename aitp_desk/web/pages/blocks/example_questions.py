"""Example questions taken from the content: an empty box gives visitors no idea."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, zip_longest

from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.titles import to_question

MOST = 4
"""How many examples a box has."""
MAX_CHARACTERS = 70
"""Longer headings are no examples: they do not fit a button on a phone."""


def list_example_questions(
    documents: Sequence[Document], passages: Sequence[Passage], site: str = ""
) -> tuple[str, ...]:
    """Return questions for the home page: headings that ask, and titles by folder.

    Parameters:
        site: its name; pages with this title alone suggest nothing to ask.
    """
    asked = _questions(passages)[: MOST // 2]
    own = site.casefold()
    others = [one for one in documents if one.title.casefold() != own]
    titles = islice(_titles(others), MOST - len(asked))
    return (*asked, *(to_question(title) or title for title in titles))


def list_page_topics(outline: Iterable[Passage]) -> tuple[str, ...]:
    """Return the topics of a page: its first headings.

    Parameters:
        outline: the first passages of the page's sections.
    """
    headings = dict.fromkeys(passage.heading for passage in outline if passage.anchor)
    return tuple(heading for heading in headings if 0 < len(heading) <= MAX_CHARACTERS)[:MOST]


def fits_path(wanted: str, path: str) -> bool:
    """Return whether a path of the settings is a page's; a ``*`` at its end is any rest."""
    return path.startswith(wanted[:-1]) if wanted.endswith("*") else path == wanted


def _questions(passages: Sequence[Passage]) -> list[str]:
    """Return headings that are questions: the first of every page, then the second."""
    pages: dict[str, list[str]] = {}
    for passage in passages:
        question = to_question(passage.heading)
        # "How do I…?" is the title of other questions
        if question and len(question) <= MAX_CHARACTERS and not question.endswith(("…?", "...?")):
            pages.setdefault(passage.document, []).append(question)
    return _in_turn(pages)


def _titles(documents: Sequence[Document]) -> list[str]:
    """Return titles: the first of every folder, then the second; folderless ones last."""
    folders: dict[str, list[str]] = {}
    for document in sorted(documents, key=lambda document: not document.folder):
        if len(document.title) <= MAX_CHARACTERS:
            folder = document.folder.partition("/")[0]
            folders.setdefault(folder, []).append(document.title)
    return _in_turn(folders)


def _in_turn(groups: Mapping[str, Sequence[str]]) -> list[str]:
    turns = zip_longest(*(dict.fromkeys(words) for words in groups.values()))
    return [word for turn in turns for word in turn if word]
