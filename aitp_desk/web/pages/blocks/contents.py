"""Renders a page's table of contents, from its headings.

A page has it twice: next to the text where there is room, and above it, folded, where there is
not. The style sheet shows one of the two, so no script is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.knowledge.documents.anchors import fragment
from aitp_desk.web.pages.blocks.article import Heading
from aitp_desk.web.pages.blocks.template import Markup, fill_template, join_markup
from aitp_desk.web.pages.blocks.texts import Texts

FEWEST = 3
"""A page with fewer headings has no table of contents."""
MOST = 60
"""With more headings, only those of the second level are listed, and no more than this."""


class Contents:
    """The table of contents of a page.

    Attributes:
        adjacent: as an element next to the text; empty where the page has too few headings.
        folded: as an element above it.
    """

    def __init__(self, headings: Sequence[Heading], texts: Texts) -> None:
        listed = _choose(headings)
        if len(listed) < FEWEST:
            self.adjacent = self.folded = Markup()
            return
        entries = fill_template("<ol>\n$entries\n</ol>", entries=_nest(listed))
        self.adjacent = fill_template(
            texts.template(
                '<nav class="contents" aria-labelledby="desk.contents" data-contents>\n'
                '<h2 id="desk.contents">{{page.contents}}</h2>\n$entries\n</nav>'
            ),
            entries=entries,
        )
        self.folded = fill_template(
            texts.template(
                '<details class="contents-folded">\n<summary>{{page.contents}}</summary>\n'
                '<nav aria-label="{{page.contents}}">\n$entries\n</nav>\n</details>'
            ),
            entries=entries,
        )


def _choose(headings: Sequence[Heading]) -> list[Heading]:
    """Return the headings to list: the second and third level, of a very long page fewer."""
    listed = [one for one in headings if one.level in {2, 3}]
    if len(listed) > MOST:
        listed = [one for one in listed if one.level == 2][:MOST]
    return listed


def _nest(listed: Sequence[Heading]) -> Markup:
    """Render the entries, those of the third level within the one above them."""
    groups: list[list[Heading]] = []
    for heading in listed:
        if heading.level == 2 or not groups:
            groups.append([heading])
        else:
            groups[-1].append(heading)
    return join_markup(_entry(*group) for group in groups)


def _entry(first: Heading, *below: Heading) -> Markup:
    inner = Markup()
    if below:
        inner = fill_template("\n<ol>\n$entries\n</ol>", entries=join_markup(map(_entry, below)))
    return fill_template(
        '<li><a href="#$anchor">$text</a>$inner</li>',
        anchor=fragment(first.anchor),
        text=first.text,
        inner=inner,
    )
