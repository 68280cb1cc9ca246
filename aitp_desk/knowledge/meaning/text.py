"""The text of a passage as models of meaning read it."""

from __future__ import annotations

from aitp_desk.knowledge.base import Passage

_MOST_CHARACTERS = 2000
"""So much of a passage can matter to a model that reads 128 tokens."""


def text_of(passage: Passage) -> str:
    """The page's title, the headings above, the text."""
    names = dict.fromkeys((passage.title, *passage.trail))
    return f"{' > '.join(names)}\n{passage.text}"[:_MOST_CHARACTERS]
