"""Removes the text of an HTML page that its styles hide. It is neither indexed nor used in answers.

What a visitor can bring into view stays: a tab panel, or what a rule of the page's style sheet
shows in another state (:func:`_is_opened`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode
from tinycss2.color5 import parse_color

from aitp_desk.knowledge.sources.html.concealment import (
    BOXES,
    FAINT,
    HIDING,
    MARGINS,
    OVERFLOWS,
    SIDES,
    TINY_FONT,
    is_valid,
)
from aitp_desk.knowledge.sources.html.css_values import Tokens, parse_keyword, parse_number
from aitp_desk.knowledge.sources.html.stylesheet import Declaration, Rule, Style, Styles
from aitp_desk.knowledge.sources.html.tree import remove_node

Colour = tuple[float, float, float]
"""Red, green and blue from 0 to 1."""


def has_image(value: Tokens) -> bool:
    """Return whether a background is an image or a gradient."""
    return any(
        token.type == "url" or (token.type == "function" and parse_colour([token]) is None)
        for token in value
    )


def parse_colour(value: Tokens) -> tuple[Colour, float] | None:
    """Return red, green, blue and alpha from 0 to 1; None for an unknown colour."""
    return _parsed(value[0].serialize()) if len(value) == 1 else None


@lru_cache(maxsize=1024)
def _parsed(said: str) -> tuple[Colour, float] | None:
    parsed = parse_color(said)
    if parsed is None or isinstance(parsed, str):
        return None
    try:
        red, green, blue = parsed.to("srgb").coordinates
    except (NotImplementedError, TypeError, ValueError):
        return None
    return (red or 0.0, green or 0.0, blue or 0.0), float(parsed.alpha)


def contrast_ratio(one: Colour, other: Colour) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Colour) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


_LEAST_CONTRAST = 1.15
"""Text of less contrast is indistinguishable from its background."""
_CLIPPED = {"hidden", "clip", "scroll", "auto"}

_FILL = "text-fill-color"
_BACKGROUNDS = ("background", "background-color")
_COLOURS = frozenset({"color", _FILL, "background", "background-color"})
_WANTED = frozenset(
    (
        *("display", "visibility", "content-visibility", "opacity", "filter", "zoom", "position"),
        *("font-size", "font", "text-indent", "transform", "translate", "scale", "rotate"),
        *("clip", "clip-path", "animation", "animation-name"),
        *("background-image", "background-clip", "white-space"),
        *(*SIDES, *MARGINS, *BOXES, *OVERFLOWS, *_COLOURS),
    )
)
_PANEL = re.compile(
    r"(?:^|[\s_-])(?:tabs?|tabpanel|accordion|collaps\w*|panel|expand\w*|spoiler|toggle\w*|slides?|"
    r"carousel|faq|show-?hide)(?:$|[\s_-])",
    re.IGNORECASE,
)
"""Classes and ids of parts of a page that visitors can open."""
_OPENED_BY = frozenset({"display", "visibility", "content-visibility", "opacity", *BOXES})
"""The properties by which pages open and close such a part."""
_CONTROLS = frozenset({"button", "input", "label"})
_CONTROLLING = frozenset({"onclick", "aria-controls", "aria-expanded"})
_MOST_BEFORE = 3
_NEVER_TAKEN = frozenset({"html", "body", "main"})
"""These may be hidden until a script has run."""
_MOST_OF_A_PAGE = 0.5

Shows = Callable[[Style], bool]
"""Whether an element within a hidden one is visible all the same."""


def remove_hidden(tree: LexborHTMLParser) -> int:
    """Remove the hidden text of a page; return how many characters that were."""
    styles = Styles(tree, _WANTED, is_valid)
    is_whole = tree.css_first('link[rel~="stylesheet"]') is None and not styles.imports
    canvas = _Canvas() if is_whole else None
    taken = 0
    for id, style in styles.of.items():
        node = styles.nodes[id]
        if node.tag in _NEVER_TAKEN or node.parent is None:
            continue
        may_hide = any(name in HIDING and HIDING[name](said.value) for name, said in style.items())
        if not may_hide and _COLOURS.isdisjoint(style):
            continue
        if _is_hidden_whole(node, style, styles):
            taken += len(node.text().strip())
            remove_node(node)
            continue
        for shows in _hides_own_text(node, style, styles, canvas):
            taken += _erase(node, styles, shows)
    return taken


class _Canvas:
    """The colours of a page without other style sheets: black on white."""

    ink, paper = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


def _erase(node: LexborNode, styles: Styles, shows: Shows) -> int:
    """Remove the text of an element, except what is shown within it."""
    erased = 0
    waiting = [node]
    while waiting:
        for child in list(waiting.pop().iter(include_text=True)):
            if child.is_text_node:
                text = child.text() or ""
                if text.strip():
                    erased += len(text.strip())
                    child.replace_with(" ")
            elif not shows(styles.of.get(child.mem_id, {})):
                waiting.append(child)
    return erased


def _is_hidden_whole(node: LexborNode, style: Style, styles: Styles) -> bool:
    """Return whether everything within an element is hidden."""

    def hides(*names: str) -> bool:
        return any(_hides(node, style, name, styles) for name in names)

    is_clipped = any(parse_keyword(_value(style, name)[:1]) in _CLIPPED for name in OVERFLOWS)
    position = parse_keyword(_value(style, "position"))
    return (
        hides("display", "content-visibility", "opacity", "filter", "zoom", "transform", "scale")
        or hides("translate", "rotate", "clip-path", *MARGINS)
        or (is_clipped and hides(*BOXES))
        or (position in {"absolute", "fixed"} and hides("clip", *SIDES))
        or (position in {"relative", "sticky"} and hides(*SIDES) and not _has_shares(style))
    )


def _has_shares(style: Style) -> bool:
    """Return whether a position is relative to the container: slides are moved so."""
    return any(token.type == "percentage" for name in SIDES for token in _value(style, name))


def _hides_own_text(
    node: LexborNode, style: Style, styles: Styles, canvas: _Canvas | None
) -> list[Shows]:
    """Return how an element hides its text. Elements within it may show theirs."""
    found: list[Shows] = []
    if _hides(node, style, "visibility", styles):
        found.append(lambda inner: parse_keyword(_value(inner, "visibility")) == "visible")
    if _hides(node, style, "text-indent", styles):
        found.append(lambda inner: "text-indent" in inner)
    if any(HIDING[name](_value(style, name)) for name in ("font-size", "font")):
        found.append(_has_a_size)
    if not _COLOURS.isdisjoint(style) and _is_invisible(node, style, styles, canvas):
        found.append(lambda inner: not _COLOURS.isdisjoint(inner))
    return found


def _has_a_size(style: Style) -> bool:
    """Return whether a font size is absolute, and not relative to zero."""
    size = parse_number(_value(style, "font-size"))
    if size is None:
        return "font-size" in style or "font" in style
    unit = next((getattr(token, "lower_unit", "") for token in _value(style, "font-size")), "")
    return size[1] != "%" and unit not in {"em", "ex", "ch"} and size[0] > TINY_FONT


def _hides(node: LexborNode, style: Style, name: str, styles: Styles) -> bool:
    declared = style.get(name)
    if declared is None or not HIDING[name](declared.value):
        return False
    return not (_is_animated(style, name, styles) or _is_opened(node, name, declared, styles))


def _is_animated(style: Style, name: str, styles: Styles) -> bool:
    """Return whether an animation of the page brings an element into view."""
    said = [token for key in ("animation", "animation-name") for token in _value(style, key)]
    return any(
        name in styles.animated.get(token.lower_value, ())
        for token in said
        if token.type == "ident"
    )


def _is_opened(node: LexborNode, name: str, declared: Declaration, styles: Styles) -> bool:
    """Return whether a hidden part of a page can be opened by visitors.

    Its name says so, or another rule for the same class or id shows it: ``.tab.active``.
    """
    rule = declared.rule
    if (rule is not None or name != "display") and _holds_the_page(node):
        return True
    if rule is None or name not in _OPENED_BY:
        return False
    if _is_panel(node) or (node.parent is not None and _is_panel(node.parent)):
        return True
    return _follows_a_control(node) or any(
        _shows_again(other, rule, name) for other in styles.rules
    )


def _is_panel(node: LexborNode) -> bool:
    own = node.attributes
    if own.get("role") == "tabpanel":
        return True
    return any(_PANEL.search(own.get(key) or "") for key in ("class", "id"))


def _follows_a_control(node: LexborNode) -> bool:
    """Return whether a control is right before an element."""
    before = node.prev
    for _ in range(_MOST_BEFORE):
        if before is None:
            return False
        if before.tag in _CONTROLS or not _CONTROLLING.isdisjoint(before.attributes):
            return True
        before = before.prev
    return False


def _holds_the_page(node: LexborNode) -> bool:
    """Return whether an element has the page's heading and most of its text: a script shows it."""
    if node.css_first("h1, main, article") is None:
        return False
    root = node
    while root.parent is not None:
        root = root.parent
    return len(node.text()) > _MOST_OF_A_PAGE * len(root.text())


def _shows_again(other: Rule, rule: Rule, name: str) -> bool:
    if other is rule or other.names.isdisjoint(rule.names):
        return False
    is_state = other.specificity > rule.specificity or not other.is_general
    return is_state and any(
        key == name and not HIDING[name](value) for key, value, _ in other.declarations
    )


def _value(style: Style, name: str) -> Tokens:
    declared = style.get(name)
    return declared.value if declared is not None else ()


def _is_invisible(node: LexborNode, style: Style, styles: Styles, canvas: _Canvas | None) -> bool:
    """Return whether an element's text has the colour of its background, if known."""
    if parse_keyword(_value(style, "background-clip")) == "text":
        return False
    if any(parse_keyword(_value(style, name)) == "currentcolor" for name in _BACKGROUNDS):
        return True
    ink_name = _FILL if _FILL in style else "color"
    if ink_name in style:
        seen = parse_colour(_value(style, ink_name))
        if seen is None:
            return False
        ink, alpha = seen
        if alpha <= FAINT:
            return True
    else:
        found = _inherited(node, styles, "color", canvas.ink if canvas else None)
        if found is None or node.tag == "a":
            return False
        ink = found
    paper = _inherited(node, styles, "background-color", canvas.paper if canvas else None)
    return paper is not None and contrast_ratio(ink, paper) < _LEAST_CONTRAST


def _inherited(
    node: LexborNode, styles: Styles, name: str, default: Colour | None
) -> Colour | None:
    """Return the declared colour of an element or its nearest ancestor; None if unknown."""
    around: LexborNode | None = node
    while around is not None:
        style = styles.of.get(around.mem_id, {})
        if name == "background-color":
            if "background-image" in style or (
                "background" in style and has_image(_value(style, "background"))
            ):
                return None
            declared = [style[key] for key in ("background", name) if key in style]
            value = max(declared, key=lambda one: one.weight).value if declared else ()
        else:
            value = _value(style, name)
        if value:
            seen = next((found for token in value if (found := parse_colour([token]))), None)
            if seen is None:
                return None
            if seen[1] > 1 - FAINT:
                return seen[0]
            if seen[1] > FAINT:
                return None  # a transparent colour's background is not known
        around = around.parent
    return default
