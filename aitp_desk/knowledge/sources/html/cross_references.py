"""Finds what only refers to other pages: "See also" with its links, "Next: Routing"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aitp_desk.knowledge.documents.blocks import Block, Item, Paragraph

A_LINK = 0.85
"""A block with this share of link text is a link."""
_LEAD = re.compile(
    r"(?:see also|siehe auch|further reading|related(?: \w+)?|next|previous|prev)(?!\w)[ :.–—-]*",
    re.IGNORECASE,
)


def mark_references(blocks: Sequence[Block], shares: Sequence[float]) -> list[bool]:
    """Return for each block whether it only refers to other pages.

    Parameters:
        shares: the share of link text of each block.
    """
    marks: list[bool] = []
    lead = -1
    for at, (block, share) in enumerate(zip(blocks, shares, strict=True)):
        text = block.text if isinstance(block, Paragraph) else ""
        found = _LEAD.match(text)
        left = len(text) - found.end() if found else 0
        is_led = left > 0 and share * len(text) >= A_LINK * left
        if found and not left:
            lead = at
        elif lead >= 0 and share >= A_LINK and isinstance(block, Paragraph | Item):
            marks[lead] = is_led = True
        else:
            lead = -1
        marks.append(is_led)
    return marks
