"""Removes what all pages of a site add to their titles: ``Returns | The Shop`` is ``Returns``.

So is ``The Shop: Returns``, and ``git-add(1) Manual Page`` becomes ``git-add(1)`` if nearly every
page has that ending.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from aitp_desk.knowledge.documents.base import Document
from aitp_desk.knowledge.search.tokenizer import NAME_SIGN, STOP_WORDS, split_words

_PARTING = re.compile(r"\s+[-–—|·•»:]+\s+")
_LEADING = re.compile(r":\s+|\s+[-–—|·•»:]+\s+")
"""What stands between the site's name and the page's, if it comes first."""
_SHARE = 0.5
"""A beginning or an ending is the site's if at least half of the pages have it."""
_MIN_PAGES = 3
_MOST_WORDS = 3
_SHARE_OF_WORDS, _MIN_PAGES_OF_WORDS = 0.6, 20
"""The same for words without a separating sign: products may have similar names."""

HOMES = ("index", "readme", "home")
"""The names of the page that names the site; in this order."""
_NO_NAME = frozenset(
    "home homepage index readme welcome start overview contents documentation docs main untitled"
    " startseite accueil inicio".split()
)
_LONGEST_NAME = 80
_AUXILIARY = r"(?:is|are|was|do|does|did|can|could|may|must|will|would|shall|should|has|have)"
_QUESTION = re.compile(
    rf"{_AUXILIARY} (?:i|you|we|they|it|the|my|your|a|an|there)\b.*"
    rf"|(?:what|which|when|where|who|why|how)(?: (?!you|we|i|they|to)\w+){{0,3}} {_AUXILIARY}\b.*"
    r"|how to .+",
    re.IGNORECASE,
)
_NUMBERING = re.compile(
    r"(?:(?:Chapter|Section|Part|Kapitel|Abschnitt)\s+(?:\d+|[A-Z](?=\.))(?:\.\d+)*[.:)]?|"
    r"(?:\d+|[A-Z](?=\.))(?:\.\d+)+[.:)]?|\d+[.:)]|[A-Z]\.)\s+(?=\S)"
)
"""The number of a chapter or section; that of ``24 hour delivery`` is part of the name."""
_AROUND = re.compile(
    r"^welcome to (?:the )?|(?:['’]s)? home ?page$|(?<=\w)\(\d\w*\)$", re.IGNORECASE
)
"""What surrounds the name in such a title."""


def site_name(documents: Iterable[Document]) -> str:
    """Return a site's name from its home page, else its README; empty if that is unclear.

    Parameters:
        documents: all pages; external ones do not count.
    """
    titles = {
        document.path.lower(): document.title
        for document in documents
        if not (document.is_elsewhere or document.version_of)
    }
    for home in HOMES:
        for part in _PARTING.split(titles.get(home, "")):
            name = _AROUND.sub("", part.strip(" .!"))
            plain = name.replace(" ", "").replace("-", "").lower()
            if 0 < len(name) <= _LONGEST_NAME and plain not in _NO_NAME:
                return name
    return ""


def folder_name(folder: str) -> str:
    """Return a folder's name as a heading: ``size-charts`` → ``Size charts``."""
    words = " ".join(re.split(r"[\s_-]+", folder)).strip() or folder
    return words[:1].upper() + words[1:]


def make_name(title: str) -> str:
    """Return the name by which a page or section is asked for: short, folded, singular.

    ``asyncio — Asynchronous I/O`` becomes ``asyncio``, ``git-stash(1)`` ``git stash``; a title like
    an option or its value has no such name.
    """
    if title.startswith(("-", "<")):
        return ""
    first = _PARTING.split(title, maxsplit=1)[0].partition("(")[0]
    return make_joined_name(split_words(first)) if len(first) <= _LONGEST_NAME else ""


def make_joined_name(words: Iterable[str]) -> str:
    """Join words to a name as of :func:`make_name`; empty if they are too many."""
    telling = [
        word.removesuffix("s") if len(word) > _MOST_WORDS else word
        for word in words
        if not (word in STOP_WORDS or word.startswith(NAME_SIGN) or word.isdigit())
    ]
    return " ".join(telling) if len(telling) <= _MOST_WORDS else ""


def find_title_additions(titles: Iterable[str]) -> frozenset[str]:
    """Return the parts of HTML titles that name the site and not the page.

    A beginning has the sign after it, an ending the one before.

    Parameters:
        titles: of the HTML pages of one site.
    """
    found: Counter[str] = Counter()
    words: Counter[str] = Counter()
    count = 0
    for title in titles:
        count += 1
        found.update({title[match.start() :] for match in _PARTING.finditer(title)})
        found.update({title[: match.end()] for match in _LEADING.finditer(title)})
        words.update(_last_words(title))
    least = max(_MIN_PAGES, _SHARE * count)
    of_words = max(_MIN_PAGES_OF_WORDS, _SHARE_OF_WORDS * count)
    return frozenset(
        addition
        for additions, enough in ((found, least), (words, of_words))
        for addition, uses in additions.items()
        if uses >= enough
    )


def drop_additions(title: str, additions: frozenset[str]) -> str:
    """Remove the longest of these beginnings and of these endings from a title.

    A title like ``Home``, of which only the additions tell the site, stays as it is.
    """
    rest = _drop_ending(title, additions)
    starts = [match.end() for match in _LEADING.finditer(rest)]
    rest = rest[next((end for end in reversed(starts) if rest[:end] in additions), 0) :]
    return title if rest.lower() in {"", *_NO_NAME} else rest


def _drop_ending(title: str, endings: frozenset[str]) -> str:
    for match in _PARTING.finditer(title):
        if title[match.start() :] in endings and match.start():
            return title[: match.start()]
    for ending in _last_words(title):
        if ending in endings:
            return title.removesuffix(ending)
    return title


def _last_words(title: str) -> list[str]:
    """Return a longer title's last three and last two words. Each has the space before it."""
    words = title.split(" ")
    return [
        " " + " ".join(words[-count:])
        for count in range(min(_MOST_WORDS, len(words) - 1), 1, -1)
        if all(map(str.isalpha, words[-count:]))
    ]


def drop_number(heading: str) -> str:
    """Remove a heading's number: ``8.5. Printing`` → ``Printing``."""
    numbering = _NUMBERING.match(heading)
    return heading[numbering.end() :] if numbering else heading


def to_question(heading: str) -> str | None:
    """Return a heading that is a question with its mark: ``Can I pay later?``; else None."""
    if heading.endswith(("?", "？")):
        return heading
    return f"{heading}?" if _QUESTION.fullmatch(heading) else None
