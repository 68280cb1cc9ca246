"""Finds pages whose address the desk itself uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from aitp_desk.knowledge.documents.base import Document, Problem

_THREADS = (
    r"v1/(?:thread|chat/completions|(?:threads|assistants|files|models|responses)(?:/.+)?"
    r"|sealed/[^/]+)"
)
_OF_AGENTS = re.compile(_THREADS)
_OF_THE_SITE = re.compile(
    rf"{_THREADS}|agent/converse|llms(?:-full)?\.txt|robots\.txt|sitemap\.xml|health|ready"
)
"""A test compares them with the served paths."""


def find_hidden_pages(documents: Iterable[Document], below: str = "") -> Iterator[Problem]:
    """Yield problems for pages that can only be read as Markdown.

    Parameters:
        below: the path prefix of the pages, for a further site agent.
    """
    taken = _OF_AGENTS if below else _OF_THE_SITE
    prefix = f"{below}/" if below else ""
    for document in documents:
        if taken.fullmatch(document.path.removeprefix(prefix)):
            yield Problem(
                document.source,
                f"/{document.path} is reserved for an address of the desk; rename the file.",
            )
