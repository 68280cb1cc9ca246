"""Makes the ids of a page's headings, which the fragments of sources name."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote

_IN_FRAGMENT = "-._~!$&'()*+,;=:@/?%"
"""Characters that are allowed in a fragment (RFC 3986, section 3.5)."""

RESERVED = "desk."
"""The prefix of the ids in the desk's own pages, used by nothing else."""


def slug(text: str) -> str:
    """Return a heading's id as GitHub makes it: lower case, spaces to hyphens, no other signs."""
    kept = (sign for sign in text.strip().lower() if _is_kept(sign))
    return "".join(kept).replace(" ", "-")


def _is_kept(sign: str) -> bool:
    # the vowels of Thai and Hindi are marks, which are no letters for Python
    return sign.isalnum() or sign in "_- " or unicodedata.category(sign).startswith("M")


def fragment(id: str) -> str:
    """Return an id as an address has it, without the ``#``."""
    return quote(id, safe=_IN_FRAGMENT)


class AnchorIds:
    """Assigns unique ids to one page's headings: ``notes``, ``notes-1``, ``notes-2``.

    A renderer calls it for every heading in order, so that sources point to them.
    """

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def make_id(self, heading: str, id: str = "") -> str:
        """Return the id of the next heading of the page.

        Parameters:
            id: its present id; it is kept if no heading before has it.
        """
        own = id if id not in self._taken and not id.startswith(RESERVED) else ""
        first = own or slug(heading) or "section"
        anchor = first
        while anchor in self._taken:
            self._taken[first] += 1
            anchor = f"{first}-{self._taken[first]}"
        self._taken[anchor] = 0
        return anchor
