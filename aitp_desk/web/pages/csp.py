"""Security headers of pages: what they load, who frames them, which features they use.

Source: Content Security Policy Level 3 and Trusted Types (W3C), Permissions Policy (W3C), the HTML
standard on Cross-Origin-Opener-Policy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

_LOADED = {
    "default-src": "'none'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "media-src": "'self'",
    "base-uri": "'none'",
}
_NEVER_FRAMED = {"frame-ancestors": "'none'"}
_FORMS = {"form-action": "'self'"}
"""The search, for browsers without JavaScript."""
_NO_FORMS = {"form-action": "'none'"}
_SCRIPT = {
    "script-src": "'self'",
    "connect-src": "'self'",
    "require-trusted-types-for": "'script'",
    "trusted-types": "'none'",
}
"""The desk's own script, which never makes elements from text."""
_ASKED_FOR = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer"),
    *("microphone", "midi", "payment", "usb"),
)


def _policy(*parts: Mapping[str, str]) -> str:
    return "; ".join(f"{name} {value}" for part in parts for name, value in part.items())


@cache
def make_page_headers(pictures: str = "") -> tuple[tuple[str, str], ...]:
    """Return the headers of a page.

    Nothing loads from other sites, nothing inline runs, no site may frame the page.

    Parameters:
        pictures: the only other origin that pictures are loaded from; empty for none.
    """
    images = {"img-src": f"{_LOADED['img-src']} {pictures}".rstrip()}
    return (
        ("Content-Security-Policy", _policy(_LOADED | images, _FORMS, _SCRIPT, _NEVER_FRAMED)),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Permissions-Policy", ", ".join(f"{feature}=()" for feature in _ASKED_FOR)),
    )


ON_PAGES = make_page_headers()
"""The headers of pages without the chat."""
IN_PAGES = _policy(_LOADED, _NO_FORMS)
"""The policy inside a page without a script, where no server sends it; it cannot cover frames."""
