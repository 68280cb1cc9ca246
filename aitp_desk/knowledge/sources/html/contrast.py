"""Parses the colours of a page, and computes their contrast."""

from __future__ import annotations

from functools import lru_cache

from tinycss2.color5 import parse_color

from aitp_desk.knowledge.sources.html.css_values import Tokens

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
