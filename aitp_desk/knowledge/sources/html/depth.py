"""Bounds how deep the elements of an HTML page nest.

Traversing a tree takes time by the depth of each node: a page that opens elements by the hundred
thousand and closes none would take hours. Browsers have such a bound too.
"""

from __future__ import annotations

import re

MAX_DEPTH = 256
"""Real pages nest to a tenth of it."""

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<whole>script|style|textarea|svg|math)\b.*?(?:</(?P=whole)|\Z)"
    r"|<(?P<end>/?)(?P<name>[a-z][^\s/>]*)[^>]*>?",
    re.DOTALL | re.IGNORECASE,
)
_NOT_COUNTED = frozenset(
    "area base br col embed frame hr img input link meta param source track wbr "
    "html head body p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rp rt "
    "a".split()
)
"""Void elements, and those that the next one of their kind closes."""


def flatten(text: str) -> tuple[str, int | None]:
    """Remove the elements that nest too deep; their text is kept.

    The time is proportional to the page.

    Parameters:
        text: the page, as it was written.

    Returns:
        The page, and the line, from 1, of the first removed element; None for an unchanged
        page.
    """
    open_by_name: dict[str, int] = {}
    left_out: dict[str, int] = {}
    depth, kept_to = 0, 0
    kept: list[str] = []
    first: int | None = None
    for tag in _TAG.finditer(text):
        name = (tag["name"] or "").lower()
        if not name or name in _NOT_COUNTED:
            continue
        if tag["end"]:
            if left_out.get(name):
                left_out[name] -= 1
            elif open_by_name.get(name):
                open_by_name[name] -= 1
                depth -= 1
                continue
            else:
                continue
        elif depth < MAX_DEPTH:
            open_by_name[name] = open_by_name.get(name, 0) + 1
            depth += 1
            continue
        else:
            left_out[name] = left_out.get(name, 0) + 1
            first = tag.start() if first is None else first
        kept.append(text[kept_to : tag.start()])
        kept_to = tag.end()
    if first is None:
        return text, None
    kept.append(text[kept_to:])
    return "".join(kept), text.count("\n", 0, first) + 1
