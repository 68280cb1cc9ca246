"""What a visitor may ask, taken from the content: nobody knows what to ask an empty box."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import islice, zip_longest

from aitp_desk.knowledge.documents.base import Document, Passage
from aitp_desk.knowledge.documents.titles import to_question
from aitp_desk.web.pages.blocks.texts import find_texts

MOST = 4
"""How many examples stand beside a box."""
MAX_CHARACTERS = 70
"""A longer heading is no example: it would not fit a button on a phone."""


def list_example_questions(
    documents: Sequence[Document], passages: Sequence[Passage], language: str
) -> tuple[str, ...]:
    """Questions for the home page: headings that are questions, and pages of different folders.

    Parameters:
        language: tag of the language that they are asked in.
    """
    about = partial(find_texts(language).say, "ask.about")
    asked = _questions(passages)[: MOST // 2]
    titles = islice(_titles(documents), MOST - len(asked))
    return (*asked, *(to_question(title) or about(title=title) for title in titles))


def list_page_topics(outline: Iterable[Passage]) -> tuple[str, ...]:
    """What a page says something about: its first headings.

    Parameters:
        outline: the first passages of the page's sections.
    """
    headings = dict.fromkeys(passage.heading for passage in outline if passage.anchor)
    return tuple(heading for heading in headings if 0 < len(heading) <= MAX_CHARACTERS)[:MOST]


def _questions(passages: Sequence[Passage]) -> list[str]:
    """Headings that are questions: the first of every page, then the second of every page."""
    pages: dict[str, list[str]] = {}
    for passage in passages:
        question = to_question(passage.heading)
        # "How do I…?" stands over other questions
        if question and len(question) <= MAX_CHARACTERS and not question.endswith(("…?", "...?")):
            pages.setdefault(passage.document, []).append(question)
    return _in_turn(pages)


def _titles(documents: Sequence[Document]) -> list[str]:
    """Titles: the first of every folder, then the second; pages without a folder come last."""
    folders: dict[str, list[str]] = {}
    for document in sorted(documents, key=lambda document: not document.folder):
        if len(document.title) <= MAX_CHARACTERS:
            folder = document.folder.partition("/")[0]
            folders.setdefault(folder, []).append(document.title)
    return _in_turn(folders)


def _in_turn(groups: Mapping[str, Sequence[str]]) -> list[str]:
    turns = zip_longest(*(dict.fromkeys(words) for words in groups.values()))
    return [word for turn in turns for word in turn if word]
