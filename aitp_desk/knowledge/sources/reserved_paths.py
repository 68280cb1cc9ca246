"""Pages whose address is the desk's own: there the desk answers, and not the page."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from aitp_desk.knowledge.documents.base import Document, Problem

_THREADS = r"v1/(?:thread|(?:threads|assistants|files|models)(?:/.+)?|sealed/[^/]+)"
_OF_AGENTS = re.compile(_THREADS)
_OF_THE_SITE = re.compile(rf"{_THREADS}|agent/converse|llms(?:-full)?\.txt|health|ready")
"""A test holds them to what is served."""


def find_hidden_pages(documents: Iterable[Document], below: str = "") -> Iterator[Problem]:
    """What is wrong with pages that only their Markdown can be read of.

    Parameters:
        below: the path below which the pages stand, for a further site agent.
    """
    taken = _OF_AGENTS if below else _OF_THE_SITE
    prefix = f"{below}/" if below else ""
    for document in documents:
        if taken.fullmatch(document.path.removeprefix(prefix)):
            yield Problem(
                document.source,
                f"/{document.path} is an address of the desk's own, which gives no page;"
                " rename the file.",
            )
