"""Tests which values of CSS properties hide text, alone or in combination."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aitp_desk.knowledge.sources.html.css_values import (
    Tokens,
    drop_space,
    parse_keyword,
    parse_number,
)

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


def _share(number: tuple[float, str]) -> float:
    return number[0] / (100 if number[1] == "%" else 1)


def _is_faint(value: Tokens) -> bool:
    number = parse_number(value)
    return number is not None and _share(number) <= FAINT


def _is_filtered(value: Tokens) -> bool:
    return any(name == "opacity" and _is_faint(inside) for name, inside in _functions(value))


def _is_tiny_font(value: Tokens) -> bool:
    """Return whether a font size is too small to be read.

    In ``font`` the size is the first number with a unit, or a 0.
    """
    sizes = (size for size, unit in _numbers(value) if unit or not size)
    return next(sizes, TINY_FONT + 1) <= TINY_FONT


def _is_away(value: Tokens) -> bool:
    return any(
        (abs(number) > _SCREENS or number == -_SCREENS)
        if unit == "%"
        else (number <= -_AWAY or number >= _FAR)
        for number, unit in _numbers(value)
    )


def _is_margin_away(value: Tokens) -> bool:
    return any(number <= -(_SCREENS if unit == "%" else _AWAY) for number, unit in _numbers(value))


def _is_indented_away(value: Tokens) -> bool:
    return any(
        abs(number) >= (_SCREENS if unit == "%" else _AWAY) for number, unit in _numbers(value[:1])
    )


def _is_transformed(value: Tokens) -> bool:
    return any(_hides_by_transform(name, inside) for name, inside in _functions(value))


def _hides_by_transform(name: str, arguments: Tokens) -> bool:
    numbers = _numbers(arguments)
    said = [number for number, _ in numbers]
    if not said:
        return False
    if name in {"scale", "scalex", "scaley", "scale3d"}:
        return min(map(abs, said[:2])) <= FAINT
    if name in {"rotatex", "rotatey"}:
        return _is_on_edge(arguments)
    if name.startswith("translate"):
        return any(
            abs(number) > 2 * _SCREENS if unit == "%" else abs(number) >= _AWAY
            for number, unit in numbers
        )
    if name in {"matrix", "matrix3d"} and said[0] == 0 and [*said, 0][1] == 0:
        return True
    return name == "matrix" and max(map(abs, said[4:6]), default=0.0) >= _AWAY


def _is_scaled(value: Tokens) -> bool:
    return any(abs(_share(number)) <= FAINT for number in _numbers(value))


def _is_translated(value: Tokens) -> bool:
    return any(unit != "%" and abs(number) >= _AWAY for number, unit in _numbers(value))


def _is_rotated(value: Tokens) -> bool:
    return any(parse_keyword([token]) in {"x", "y"} for token in value) and _is_on_edge(value)


def _is_on_edge(value: Tokens) -> bool:
    turns = {"deg": 360.0, "turn": 1.0, "grad": 400.0, "rad": 6.2832}
    for number, unit in _numbers(value):
        if unit in turns:
            quarter = number / turns[unit] * 4
            return abs(quarter - round(quarter)) < FAINT and round(quarter) % 2 == 1
    return False


def _is_clip_of_nothing(value: Tokens) -> bool:
    """The legacy ``clip: rect()``: top, right, bottom, left."""
    arguments = next((inside for _, inside in _functions(value[:1])), ())
    edges = [parse_number([token]) for token in arguments]
    sides = [edge[0] if edge is not None else None for edge in edges]
    if len(sides) != 4:
        return False
    top, right, bottom, left = sides
    is_flat = top is not None and bottom is not None and bottom - top <= _TINY_BOX
    is_narrow = left is not None and right is not None and right - left <= _TINY_BOX
    return is_flat or is_narrow


def _is_path_of_nothing(value: Tokens) -> bool:
    return any(_encloses_nothing(name, _numbers(inside)) for name, inside in _functions(value))


def _encloses_nothing(shape: str, said: list[tuple[float, str]]) -> bool:
    if not said:
        return False
    if shape == "inset":
        return _is_inset_whole(said)
    if shape in {"circle", "ellipse"}:
        radii = said[: 1 if shape == "circle" else 2]
        return any(abs(radius) <= _TINY_BOX for radius, _ in radii)
    if shape == "polygon":
        return 1 in {len(set(said[0::2])), len(set(said[1::2]))}
    return shape in {"rect", "xywh"} and len(said) >= 4 and all(n <= _TINY_BOX for n, _ in said[2:])


def _is_inset_whole(said: list[tuple[float, str]]) -> bool:
    """Return whether clipping at opposite sides leaves nothing."""
    top, right, bottom, left = (said * 4)[:4] if len(said) in {1, 2, 4} else (*said[:3], said[1])
    return any(
        (one[1] == other[1] or not (one[0] and other[0]))
        and one[0] + other[0] >= (_SCREENS if one[1] == "%" else _AWAY)
        for one, other in ((top, bottom), (left, right))
    )


def _numbers(value: Tokens) -> list[tuple[float, str]]:
    numbers = (parse_number([token]) for token in value)
    return [number for number in numbers if number is not None]


def _functions(value: Tokens) -> Iterator[tuple[str, Tokens]]:
    """Yield the functions of a value with their arguments, without commas."""
    for token in value:
        if token.type == "function":
            yield token.lower_name, [part for part in drop_space(token.arguments) if part != ","]


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
