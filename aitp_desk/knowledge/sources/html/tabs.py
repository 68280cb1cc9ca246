"""Puts the name of each tab of an HTML page into its panel."""

from __future__ import annotations

from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from aitp_desk.knowledge.sources.html.tree import make_element, remove_node
from aitp_desk.model.text import one_line

_TAB = '[role="tab"], .tabbed-labels > label, .sd-tab-label, .tab-label, .sphinx-tabs-tab'
_PANEL = '[role="tabpanel"], .tabbed-block, .sd-tab-content, .tab-content-item'
_HAS_TABS = f"{_PANEL}, .tabs > .blocks, .vp-code-group"
_MAX_NAME = 80


def name_panels(tree: LexborHTMLParser) -> None:
    """Put each tab's name at the beginning of its panel and remove the tabs.

    Tabs and panels are matched by ids if they have them, else by their order. A panel that is
    ``hidden`` is shown when its tab is chosen, so it is read.
    """
    if tree.css_first(_HAS_TABS) is None:
        return
    for group in tree.css(".vp-code-group"):
        _pair(group.css(".tabs label"), group.css('.blocks > div[class*="language-"]'))
    tabs, panels = tree.css(_TAB), tree.css(_PANEL)
    by_id = {panel.attributes.get("id"): panel for panel in panels if panel.attributes.get("id")}
    ids = [(tab.attributes.get("aria-controls") or "") for tab in tabs]
    named = [(tab, by_id[id]) for tab, id in zip(tabs, ids, strict=True) if id in by_id]
    if named:
        _pair([tab for tab, _ in named], [panel for _, panel in named])
    else:
        _pair(tabs, panels)


def _pair(tabs: list[LexborNode], panels: list[LexborNode]) -> None:
    if len(tabs) != len(panels):
        return
    for tab, panel in zip(tabs, panels, strict=True):
        name = one_line(tab.text())
        if not 0 < len(name) <= _MAX_NAME or _is_hidden(tab):
            continue
        if panel.attributes.get("role") == "tabpanel" and "hidden" in panel.attributes:
            del panel.attrs["hidden"]
        if (first := panel.first_child) is not None:
            first.insert_before(make_element("p", f"<strong>{escape(name)}:</strong>"))
    for tab in tabs:
        remove_node(tab)


def _is_hidden(tab: LexborNode) -> bool:
    node: LexborNode | None = tab
    while node is not None and node.tag != "body":
        if "hidden" in node.attributes or node.attributes.get("aria-hidden") == "true":
            return True
        node = node.parent
    return False
