"""Lists the topics of a site, for a visitor without a specific question."""

from __future__ import annotations

import re

from aitp_desk.agent.speech import speech_of
from aitp_desk.knowledge.library import Library

_MOST_TITLES = 8
_ASKS = re.compile(
    r"(?:who|what) are you|what is this|what(?: else)? can i ask(?: you)?|what do you (?:do|know)|"
    r"what (?:can|could) you (?:do|tell me|help(?: me)? with|answer)|help(?: me)?|topics",
    re.IGNORECASE,
)
"""Questions for what may be asked."""


def asks_for_topics(text: str) -> bool:
    """Return whether a visitor asks what the site is or what may be asked."""
    return _ASKS.fullmatch(text.strip(" ?!.")) is not None


def write_introduction(name: str, description: str, library: Library) -> str:
    """Introduce a site by name, description, page count and first titles."""
    told = f"{name}: {description}" if description else f"{name}."
    titles = [document.title for document in library.documents[:_MOST_TITLES]]
    if not titles:
        return told
    count = len(library.documents)
    says = speech_of(library.language).says
    listed = [*titles, says.more] if count > len(titles) else titles
    pages = says.one_page if count == 1 else says.pages
    return f"{told} {pages.format(count=count, titles=', '.join(listed))}"
