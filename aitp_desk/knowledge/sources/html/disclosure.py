"""Reads the parts of an HTML page that a button opens.

The text of the button is the heading of its part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.sources.html.tree import is_within, make_element
from aitp_desk.model.text import one_line

_BUTTONS = (
    'button[aria-expanded], button[aria-controls], button[data-bs-toggle="collapse"], '
    'button[data-toggle="collapse"]'
)
_SIGNS = re.compile(r"^[^\w¿¡(\[\"'“„«]+|[^\w?!.…)\]\"'”“»%]+$")
"""The sign that shows whether a part is open, such as a plus."""
_NAME = re.compile(r".{3,160}(?<![:.,;])")
_AROUND = frozenset({"nav", "header", "footer", "form", "aside", "dialog"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"})
_HIDES = frozenset({"hidden", "aria-hidden"})
"""What a page removes from the part that a button names when it is pressed."""
_HIGHEST = 3
"""The part follows the button, or what the button is in: a heading in a header."""
_A_MENU = 0.6
"""A part with this share of links and buttons is a menu."""


def raise_buttons(tree: LexborHTMLParser) -> None:
    """Convert the buttons that open a part of the text to headings.

    A part that is ``hidden`` is read if the button names it: visitors can open it.

    A text of several buttons, such as "Read more", names nothing; nor does a single button, unless
    it is a question or in a heading.
    """
    buttons = tree.css(_BUTTONS)
    if not buttons:
        return
    named: dict[str, LexborNode] = {}
    for node in tree.css("[id]"):
        named.setdefault(node.attributes.get("id") or "", node)
    found: list[tuple[LexborNode, str, LexborNode]] = []
    for button in buttons:
        name, part = _name_of(button), _part_of(button, named)
        if name and part is not None:
            found.append((button, name, part))
    times = Counter(name for _, name, _ in found)
    for button, name, part in found:
        in_heading = is_within(button, _HEADINGS)
        if times[name] > 1 or not (len(found) > 1 or in_heading or name.endswith("?")):
            continue
        if part.attributes.get("id") == (button.attributes.get("aria-controls") or ""):
            for hides in _HIDES & part.attributes.keys():
                del part.attrs[hides]
        tag = "span" if in_heading else "h6"
        button.replace_with(make_element(tag, escape(name)))


def _name_of(button: LexborNode) -> str:
    """Return the text of a button without signs; empty if it names no part."""
    attributes = button.attributes
    if "aria-haspopup" in attributes or attributes.get("role") == "tab":
        return ""
    name = _SIGNS.sub("", one_line(button.text(separator=" ")))
    return name if _NAME.fullmatch(name) and not is_within(button, _AROUND) else ""


def _part_of(button: LexborNode, named: Mapping[str, LexborNode]) -> LexborNode | None:
    """Return what a button opens: the element after it, or one it names."""
    attributes = button.attributes
    id = attributes.get("aria-controls") or (attributes.get("data-bs-target") or "").lstrip("#")
    part = _following(button)
    if id and (part is None or part.attributes.get("id") != id):
        part = named.get(id, part)
    if part is None or is_within(part, _AROUND):
        return None
    said = len(part.text().strip())
    linked = sum(len(link.text().strip()) for link in part.css("a[href], button"))
    return part if said and linked < _A_MENU * said else None


def _following(button: LexborNode) -> LexborNode | None:
    """Return the element after a button, or after what it is in."""
    node: LexborNode | None = button
    for _ in range(_HIGHEST):
        if node is None:
            return None
        after = node.next
        while after is not None and not after.text().strip():
            after = after.next
        if after is not None:
            return None if (after.tag or "").startswith("-") else after
        node = node.parent
    return None
