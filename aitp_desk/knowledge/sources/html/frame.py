"""Separates the content of an HTML page from its surroundings.

A page marks its content itself (``main``, ``article``, ARIA landmarks), or its generator does by
class names. Otherwise the body is the content.
"""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.sources.html.disclosure import raise_buttons
from aitp_desk.knowledge.sources.html.tabs import name_panels
from aitp_desk.knowledge.sources.html.tree import remove_node

NOISE = (
    "script, style, noscript, template, svg, iframe, object, dialog, nav, button, select, "
    "audio, video, canvas, datalist, noembed, noframes, progress, meter, "
    '[hidden], [popover], [aria-hidden="true"], [role="navigation"], [role="search"], .ahp-notice, '
    ".longdesc-link, .invalid-feedback, .valid-feedback, .invalid-tooltip, .valid-tooltip, "
    "form .d-none, .w-form-done, .w-form-fail, .wpcf7-response-output"
)
"""Elements that are never content: programs, invisible elements, navigation, outcomes of forms."""
_STYLED = "style, [style], [bgcolor], font[color], body[text]"
"""Elements that may hide text of a page."""

_MAIN = ("main", '[role="main"]', "article")
_FRAME = (
    'header, footer, aside, [role="banner"], [role="contentinfo"], [role="complementary"], '
    "div#footer"
)
_BARS = re.compile(
    r"(?:nav(?:bar|header|footer|igation)?|menu|sub-?menu|main-?menu|side-?bar|sphinxsidebar|"
    r"breadcrumbs?|masthead|banner|page-?(?:header|footer)|skip-?link|pag(?:er|ination)|prev-?next|"
    r"related|rel-?bar|social|share|cookies?|logo|tagline|linenos?|gutter|viewcode-(?:link|back)|"
    r"no-?(?:search|index|print)|(?:previous|next|toc)[-_]?page|toc|table-?of-?contents)",
    re.IGNORECASE,
)
"""Usual names of navigation, as a whole class or id."""
_MOST_OF_A_PAGE = 0.3
"""An element with such a name and this share of the text is content all the same: a form around the
page.
"""
_MAX_BARS = 500
_TURNS_PAGES = 'a[rel~="next"], a[rel~="prev"], a[rel~="up"], a[accesskey="n"], a[accesskey="p"]'
_AROUND_LINKS = frozenset(
    "p span b strong i em small font li ul ol td th tr tbody thead table".split()
)
_TEXT_BLOCKS = "h1, h2, h3, h4, h5, h6, pre, dl"
_LONGEST_ROW = 200
_PERMALINK = frozenset({"", "¶", "#", "§", "🔗", "\uf0c1", "anchor", "link", "permalink"})


def find_main(tree: LexborHTMLParser, *, has_bars: bool = True) -> LexborNode | None:
    """Return the element with the content of a page; removes what is no content from the tree.

    Parameters:
        has_bars: whether names may identify navigation; a section of a manual may have such a name.
    """
    if tree.css_first(_STYLED) is not None:
        from aitp_desk.knowledge.sources.html.visibility import remove_hidden  # not at the start

        remove_hidden(tree)
    name_panels(tree)
    raise_buttons(tree)
    for node in tree.css(NOISE):
        remove_node(node)
    named = (tree.css_first(name) for name in _MAIN)
    main = next((node for node in named if node is not None), None)
    if main is None:
        for node in tree.css(_FRAME):
            remove_node(node)
        main = tree.body
    if main is not None:
        if has_bars:
            _drop_bars(main)
        _drop_permalinks(main)
        _drop_page_turners(main)
    return main


def _drop_bars(main: LexborNode) -> None:
    """Remove menus, breadcrumbs and the like that only their class or id identifies."""
    bars = [node for node in main.css("[class], [id], form") if _is_bar(node)]
    most = _MOST_OF_A_PAGE * len(main.text()) if bars else 0
    for node in bars[:_MAX_BARS]:
        if node.css_first("h1") is None and len(node.text()) <= most:
            remove_node(node)


def _is_bar(node: LexborNode) -> bool:
    attributes = node.attributes
    names = (attributes.get("class"), attributes.get("id"))
    return node.tag == "form" or any(_names_a_bar(name) for name in names if name)


@lru_cache(maxsize=1024)
def _names_a_bar(names: str) -> bool:
    """Return whether a class or id names navigation; a page repeats few names many times."""
    return any(_BARS.fullmatch(name) for name in names.split())


def _drop_permalinks(main: LexborNode) -> None:
    """Remove the signs next to headings that link to the heading itself."""
    for link in main.css('a[href^="#"]'):
        own = link.attributes
        if "id" not in own and "name" not in own and link.text().strip().lower() in _PERMALINK:
            remove_node(link)


def _drop_page_turners(main: LexborNode) -> None:
    """Remove the rows that only lead to the page before and after: ``Next: Types, Up: Index``."""
    for link in main.css(_TURNS_PAGES):
        row = link
        while row.parent is not None and row.parent.tag in _AROUND_LINKS:
            if len(row.parent.text()) > _LONGEST_ROW or row.parent.css_first(_TEXT_BLOCKS):
                break
            row = row.parent
        remove_node(row)
