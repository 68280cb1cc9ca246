"""Lists the topics of a site, for a visitor without a specific question."""

from __future__ import annotations

import re

from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.library import Library

_MOST_TITLES = 8
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
