"""The ids of a page's headings: what a source's fragment names."""

from __future__ import annotations

import unicodedata
from urllib.parse import quote

_IN_FRAGMENT = "-._~!$&'()*+,;=:@/?%"
"""What stands in a fragment as it is (RFC 3986, section 3.5)."""

RESERVED = "desk."
"""The parts of the desk's own pages are called so, and nothing else."""


def slug(text: str) -> str:
    """A heading's id as GitHub makes it: lower case, spaces to hyphens, other signs dropped."""
    kept = (sign for sign in text.strip().lower() if _is_kept(sign))
    return "".join(kept).replace(" ", "-")


def _is_kept(sign: str) -> bool:
    # the vowels of Thai and Hindi are marks, which are no letters for Python
    return sign.isalnum() or sign in "_- " or unicodedata.category(sign).startswith("M")


def fragment(id: str) -> str:
    """An id as it stands in an address, without the ``#``."""
    return quote(id, safe=_IN_FRAGMENT)


class AnchorIds:
    """Hands out the ids of one page's headings, each once: ``notes``, ``notes-1``, ``notes-2``.

    Whoever renders the page calls it for every heading in order, so that sources point to them.
    """

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}

    def make_id(self, heading: str, id: str = "") -> str:
        """The id of the next heading of the page.

        Parameters:
            id: the one that it has already; it is kept where no heading before has it.
        """
        own = id if id not in self._taken and not id.startswith(RESERVED) else ""
        first = own or slug(heading) or "section"
        anchor = first
        while anchor in self._taken:
            self._taken[first] += 1
            anchor = f"{first}-{self._taken[first]}"
        self._taken[anchor] = 0
        return anchor
