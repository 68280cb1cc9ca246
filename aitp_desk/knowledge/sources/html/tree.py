"""Makes, finds and removes elements of an HTML page."""

from __future__ import annotations

from collections.abc import Collection
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode


def make_element(tag: str, content: str, *, id: str = "") -> LexborNode:
    """Return a new element, to be put into a tree.

    Parameters:
        content: HTML.
    """
    named = f' id="{escape(id)}"' if id else ""
    return LexborHTMLParser(f"<{tag}{named}>{content}</{tag}>").css(tag)[0]


def remove_node(node: LexborNode) -> None:
    """Remove a node from its tree; nodes within it may still be held and removed as well."""
    # decompose() would free the nodes within, which a list of nodes may hold too
    node.replace_with("")


def is_within(node: LexborNode, tags: Collection[str]) -> bool:
    """Return whether a node is one of these elements, or in one."""
    above: LexborNode | None = node
    while above is not None and above.tag not in tags:
        above = above.parent
    return above is not None
