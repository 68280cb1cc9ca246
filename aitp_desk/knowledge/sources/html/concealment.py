"""Tests which values of CSS properties hide text, alone or in combination."""

from __future__ import annotations

from collections.abc import Callable

from aitp_desk.knowledge.sources.html.css_values import Tokens, parse_keyword, parse_number

_AWAY = 500.0
"""Text this many pixels to the left or above is invisible in any context."""
_FAR = 5000.0
"""The same to the right or below: long pages have less."""
_SCREENS = 100.0
TINY_FONT, _TINY_BOX = 2.0, 1.0
FAINT = 0.05

SIDES = ("left", "top", "right", "bottom", "inset", "inset-inline-start", "inset-block-start")
MARGINS = (
    *("margin", "margin-left", "margin-top", "margin-right", "margin-bottom"),
    *("margin-inline-start", "margin-block-start", "margin-inline", "margin-block"),
)
BOXES = (
    *("height", "max-height", "width", "max-width", "line-height"),
    *("block-size", "max-block-size", "inline-size", "max-inline-size"),
)
OVERFLOWS = ("overflow", "overflow-x", "overflow-y", "overflow-inline", "overflow-block")


def _is_word(*words: str) -> Callable[[Tokens], bool]:
    return lambda value: parse_keyword(value) in words


def _is_small(most: float) -> Callable[[Tokens], bool]:
    def is_small(value: Tokens) -> bool:
        number = parse_number(value)
        return number is not None and number[0] <= most

    return is_small


def _is_faint(value: Tokens) -> bool:
    number = parse_number(value)
    return number is not None and number[0] / (100 if number[1] == "%" else 1) <= FAINT


def _is_filtered(value: Tokens) -> bool:
    return any(
        token.type == "function" and token.lower_name == "opacity" and _is_faint(_inside(token))
        for token in value
    )


def _is_tiny_font(value: Tokens) -> bool:
    """Return whether a font size is too small to be read.

    In ``font`` the size is the first number with a unit, or a 0.
    """
    for token in value:
        number = parse_number([token])
        if number is not None and (number[1] or not number[0]):
            return number[0] <= TINY_FONT
    return False


def _is_away(value: Tokens) -> bool:
    return any(_leads_away(token) for token in value)


def _leads_away(token: object) -> bool:
    number = parse_number([token])
    if number is None:
        return False
    if number[1] == "%":
        return abs(number[0]) > _SCREENS or number[0] == -_SCREENS
    return number[0] <= -_AWAY or number[0] >= _FAR


def _is_margin_away(value: Tokens) -> bool:
    return any(
        number is not None and number[0] <= -(_SCREENS if number[1] == "%" else _AWAY)
        for number in map(parse_number, ([token] for token in value))
    )


def _is_indented_away(value: Tokens) -> bool:
    number = parse_number(value[:1])
    if number is None:
        return False
    return abs(number[0]) >= (_SCREENS if number[1] == "%" else _AWAY)


def _is_transformed(value: Tokens) -> bool:
    for token in value:
        if token.type != "function":
            continue
        numbers = [parse_number([argument]) for argument in _inside(token)]
        said = [number[0] for number in numbers if number is not None]
        name = token.lower_name
        if not said:
            continue
        if name in {"scale", "scalex", "scaley", "scale3d"} and min(map(abs, said[:2])) <= FAINT:
            return True
        if name in {"matrix", "matrix3d"} and said[0] == 0 and [*said, 0][1] == 0:
            return True
        if name == "matrix" and max(map(abs, said[4:6]), default=0.0) >= _AWAY:
            return True
        if name.startswith("translate") and any(
            number is not None and number[1] != "%" and abs(number[0]) >= _AWAY
            for number in numbers
        ):
            return True
        if name.startswith("translate") and any(
            number is not None and number[1] == "%" and abs(number[0]) > 2 * _SCREENS
            for number in numbers
        ):
            return True
        if name in {"rotatex", "rotatey"} and _is_on_edge(_inside(token)):
            return True
    return False


def _is_scaled(value: Tokens) -> bool:
    return any(
        abs(number[0]) / (100 if number[1] == "%" else 1) <= FAINT
        for token in value
        if (number := parse_number([token])) is not None
    )


def _is_translated(value: Tokens) -> bool:
    return any(
        number[1] != "%" and abs(number[0]) >= _AWAY
        for token in value
        if (number := parse_number([token])) is not None
    )


def _is_rotated(value: Tokens) -> bool:
    return any(parse_keyword([token]) in {"x", "y"} for token in value) and _is_on_edge(value)


def _is_on_edge(value: Tokens) -> bool:
    turns = {"deg": 360.0, "turn": 1.0, "grad": 400.0, "rad": 6.2832}
    for token in value:
        number = parse_number([token])
        if number is not None and number[1] in turns:
            quarter = number[0] / turns[number[1]] * 4
            return abs(quarter - round(quarter)) < FAINT and round(quarter) % 2 == 1
    return False


def _is_clip_of_nothing(value: Tokens) -> bool:
    """The legacy ``clip: rect()``: top, right, bottom, left."""
    if not value or value[0].type != "function":
        return False
    edges = [parse_number([token]) for token in _inside(value[0])]
    sides = [edge[0] if edge is not None else None for edge in edges]
    if len(sides) != 4:
        return False
    top, right, bottom, left = sides
    is_flat = top is not None and bottom is not None and bottom - top <= _TINY_BOX
    is_narrow = left is not None and right is not None and right - left <= _TINY_BOX
    return is_flat or is_narrow


def _is_path_of_nothing(value: Tokens) -> bool:
    for token in value:
        if token.type != "function":
            continue
        numbers = [parse_number([argument]) for argument in _inside(token)]
        said = [number for number in numbers if number is not None]
        name = token.lower_name
        if name == "inset" and said and _is_inset_whole(said):
            return True
        radii = said[: 1 if name == "circle" else 2]
        if name in {"circle", "ellipse"} and any(abs(radius[0]) <= _TINY_BOX for radius in radii):
            return True
        if name == "polygon" and said and 1 in {len(set(said[0::2])), len(set(said[1::2]))}:
            return True
        if name in {"rect", "xywh"} and len(said) >= 4 and all(n[0] <= _TINY_BOX for n in said[2:]):
            return True
    return False


def _is_inset_whole(said: list[tuple[float, str]]) -> bool:
    """Return whether clipping at opposite sides leaves nothing."""
    top, right, bottom, left = (said * 4)[:4] if len(said) in {1, 2, 4} else (*said[:3], said[1])
    return any(
        (one[1] == other[1] or not (one[0] and other[0]))
        and one[0] + other[0] >= (_SCREENS if one[1] == "%" else _AWAY)
        for one, other in ((top, bottom), (left, right))
    )


def _inside(function: Tokens | object) -> Tokens:
    arguments = getattr(function, "arguments", ())
    return [
        token
        for token in arguments
        if token.type not in {"whitespace", "comment"}
        and not (token.type == "literal" and token.value == ",")
    ]


HIDING: dict[str, Callable[[Tokens], bool]] = {
    "display": _is_word("none"),
    "visibility": _is_word("hidden", "collapse"),
    "content-visibility": _is_word("hidden"),
    "opacity": _is_faint,
    "filter": _is_filtered,
    "zoom": _is_faint,
    "font-size": _is_tiny_font,
    "font": _is_tiny_font,
    "text-indent": _is_indented_away,
    "transform": _is_transformed,
    "translate": _is_translated,
    "scale": _is_scaled,
    "rotate": _is_rotated,
    "clip": _is_clip_of_nothing,
    "clip-path": _is_path_of_nothing,
    **dict.fromkeys(SIDES, _is_away),
    **dict.fromkeys(MARGINS, _is_margin_away),
    **dict.fromkeys(BOXES, _is_small(_TINY_BOX)),
}
"""By property, whether a value hides. A side needs a ``position``, a box an ``overflow``."""

_EVERYWHERE = "inherit initial unset revert revert-layer"
_KNOWN_WORDS = {
    "display": (
        "none contents block inline flow flow-root table flex grid ruby list-item inline-block"
        " inline-table inline-flex inline-grid table-row-group table-header-group table-cell"
        " table-footer-group table-row table-column-group table-column table-caption math"
        " -webkit-box -webkit-flex -webkit-inline-flex -webkit-inline-box -ms-flexbox"
    ),
    "visibility": "visible hidden collapse",
    "position": "static relative absolute fixed sticky -webkit-sticky",
    "opacity": "",
    "font-size": (
        "xx-small x-small small medium large x-large xx-large xxx-large smaller larger math"
    ),
    "content-visibility": "visible auto hidden",
    "text-indent": "",
}
"""The keywords of a property; browsers ignore a declaration with another one."""
_WORDS = {name: frozenset(f"{words} {_EVERYWHERE}".split()) for name, words in _KNOWN_WORDS.items()}


def is_valid(name: str, value: Tokens) -> bool:
    """Return whether a declaration is valid, judging by its keywords."""
    if not value:
        return False
    words = _WORDS.get(name)
    return words is None or all(
        token.type != "ident" or token.lower_value in words for token in value
    )
