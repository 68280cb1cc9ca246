"""Any accent gives colours in which text can be read."""

from __future__ import annotations

import pytest

from aitp_desk.web.widget.palette import make_palette


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours (WCAG 2.2)."""

    def luminance(colour: str) -> float:
        parts = [part / 255 for part in bytes.fromhex(colour.removeprefix("#"))]
        lit = [
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        ]
        return 0.2126 * lit[0] + 0.7152 * lit[1] + 0.0722 * lit[2]

    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(
    "accent", ["#000000", "#ffffff", "#ffcc00", "#0b5f4c", "#777777", "#ff0000", "#1a1aff"]
)
def test_text_on_the_accent_and_in_it_can_be_read(accent: str) -> None:
    palette = make_palette(accent)
    assert palette.accent == accent
    assert contrast(palette.on_accent, accent) >= 4.5
    assert contrast(palette.light, "#f4f5f3") >= 4.5
    assert contrast(palette.dark, "#232927") >= 4.5


def test_a_readable_accent_stays() -> None:
    assert make_palette("#0b5f4c").light == "#0b5f4c"
