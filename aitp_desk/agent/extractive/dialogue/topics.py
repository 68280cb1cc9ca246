"""Lists the topics of a site, for a visitor without a specific question."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from aitp_desk.agent.base import Clarification, SiteFacts
from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.documents.titles import HOMES, make_name
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.search.tokenizer import fold_text

_MOST_TITLES = 8
_OPENING = 300
"""About how many characters of the home page introduce the site."""
_ASKS_WHAT = re.compile(
    r"(?:what|who)(?:['’]?s| is| are) (?:the )?(.+?)(?: (?:used |good )?for| about)?",
    re.IGNORECASE,
)
_ASKS_WHY = re.compile(
    r"(?:when|why) (?:should|would|do|does|can|could) (?:i|we|you|one|people|some(?:one|body)) "
    r"(?:use|choose|need|want|pick|try) (?:the )?(.+)",
    re.IGNORECASE,
)
_fold_name = lru_cache(maxsize=64)(fold_text)
_ASKS = re.compile(
    r"(?:who|what) are you|what(?:['’]?s| is) this(?: (?:site|website|web ?page|page))?(?: about)?|"
    r"what(?: else)? can i ask(?: you)?|what do you (?:do|know)|"
    r"what (?:can|could) you (?:do|tell me|help(?: me)? with|answer)|help(?: me)?|topics",
    re.IGNORECASE,
)
"""Questions for what may be asked."""
_ASKS_FOR_GOODS = re.compile(
    r"what (?:all )?(?:do you|can i|can we|could i) (?:sell|offer|make|buy|get|order)(?: here)?|"
    r"what (?:products|services|goods) (?:do you (?:sell|offer|have)|are there)",
    re.IGNORECASE,
)


def asks_for_topics(text: str) -> bool:
    """Return whether a visitor asks what the site is or what may be asked."""
    return _ASKS.fullmatch(text.strip(" ?!.")) is not None


def asks_for_goods(text: str) -> bool:
    """Return whether a visitor asks what the site sells or offers at all."""
    return _ASKS_FOR_GOODS.fullmatch(text.strip(" ?!.")) is not None


def asks_for_introduction(
    site: SiteFacts, text: str, headings: Iterable[str], library: Library
) -> bool:
    """Return whether the site's introduction answers what the site is or is for.

    Parameters:
        headings: of the sections that were found; one that has that name answers.
    """
    if not _asks_for_site(text, site.name) or not _about(site, library):
        return False
    if _ASKS_WHY.match(text):
        return True
    return all(make_name(heading) != make_name(site.name) for heading in headings)


def _asks_for_site(text: str, name: str) -> bool:
    said = text.strip(" ?!.")
    asked = _ASKS_WHAT.fullmatch(said) or _ASKS_WHY.fullmatch(said)
    return asked is not None and fold_text(asked[1]) == _fold_name(name)


def _about(site: SiteFacts, library: Library) -> str:
    return site.description or _read_opening(library)


def ask_openly(site: SiteFacts, text: str, library: Library) -> Clarification:
    """Ask what the visitor wants to know; introduce the site if they ask for that."""
    question = speech_of(library.language).says.open.format(site=site.name)
    if asks_for_topics(text) or asks_for_goods(text) or _asks_for_site(text, site.name):
        question = f"{write_introduction(site.name, _about(site, library), library)} {question}"
    return Clarification(question)


def write_introduction(name: str, description: str, library: Library) -> str:
    """Introduce a site by name, description, page count and first titles."""
    told = f"{name}: {description}" if description else f"{name}."
    every = dict.fromkeys(document.title for document in library.documents)
    titles = [title for title in every if title != name][:_MOST_TITLES]
    if not titles:
        return told
    count = len(every)
    says = speech_of(library.language).says
    listed = [*titles, says.more] if count > len(titles) else titles
    pages = says.one_page if count == 1 else says.pages
    return f"{told} {pages.format(count=count, titles=', '.join(listed))}"


def _read_opening(library: Library) -> str:
    """Return the first sentences of the home page; empty if it begins with something else."""
    paths = {document.path.lower(): document.path for document in library.documents}
    for home in HOMES:
        numbers = library.numbers(paths[home]) if home in paths else range(0)
        opening = ""
        for unit in library.passages[numbers.start].units if numbers else ():
            if unit.kind != "sentence" or (opening and len(opening) + len(unit.text) > _OPENING):
                break
            opening = f"{opening} {unit.text}".strip()
        if opening.endswith((".", "!")):
            return opening
    return ""
