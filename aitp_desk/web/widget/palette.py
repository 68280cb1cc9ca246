"""Makes readable colours of the owner's accent colour.

Source: WCAG 2.2, relative luminance and contrast ratio.
"""

from __future__ import annotations

import msgspec

_READABLE = 4.5
"""The least contrast of text (WCAG 2.2, 1.4.3, level AA)."""
_LIGHT_PAPER = (244, 245, 243)
_DARK_PAPER = (42, 47, 45)
"""The surfaces with the least contrast to links, in the light style and the dark one."""
_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_STEPS = 20
_Rgb = tuple[int, int, int]


class Palette(msgspec.Struct, frozen=True):
    """Colours as CSS has them.

    Parameters:
        accent: of buttons.
        on_accent: of text on the accent.
        light: of links in the light style.
        dark: of links in the dark style.
    """

    accent: str
    on_accent: str
    light: str
    dark: str


def make_palette(accent: str) -> Palette:
    """Return the colours that go with an accent.

    Parameters:
        accent: such as ``#0b5f4c``.
    """
    colour = _parse(accent)
    on_accent = max(_BLACK, _WHITE, key=lambda text: _contrast(text, colour))
    return Palette(
        accent,
        _write(on_accent),
        _write(_mix_until_readable(colour, _BLACK, _LIGHT_PAPER)),
        _write(_mix_until_readable(colour, _WHITE, _DARK_PAPER)),
    )


def _parse(text: str) -> _Rgb:
    red, green, blue = bytes.fromhex(text.removeprefix("#"))
    return red, green, blue


def _write(colour: _Rgb) -> str:
    return f"#{bytes(colour).hex()}"


def _mix_until_readable(colour: _Rgb, end: _Rgb, paper: _Rgb) -> _Rgb:
    """Mix the colour with black or white until it is readable on paper."""
    for step in range(_STEPS):
        red, green, blue = (
            round(part + (to - part) * step / _STEPS) for part, to in zip(colour, end, strict=True)
        )
        if _contrast((red, green, blue), paper) >= _READABLE:
            return red, green, blue
    return end


def _contrast(one: _Rgb, other: _Rgb) -> float:
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: _Rgb) -> float:
    red, green, blue = (_linear(part / 255) for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
