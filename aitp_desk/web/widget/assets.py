"""Reads the component's files: modules, style sheets, texts.

The loader ``/widget.js`` keeps its address, and names the version of all others in theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from aitp_desk.config.rules.web_address import web_address
from aitp_desk.config.rules.widget import LOGO_TYPES
from aitp_desk.protocols.base.protocol import make_etag
from aitp_desk.web.bundle import bundle_modules, drop_comments, read_modules

COMPONENT = Path(__file__).with_name("component")
TEXTS: Final = "texts.json"
TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".ts": "text/plain; charset=utf-8",
}
LOADER: Final = "loader.js"
PAGE: Final = "page.html"
DECLARATION: Final = "widget.d.ts"
ENGLISH: Final = "en"
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_BREAKS = re.compile(rb"\s*([{};,])\s*")
_QUOTED = re.compile(r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`)")
_CLOSING = frozenset("}])")
_GOES_ON = frozenset("{};,([")
_SPACED = re.compile(r" *([=(){}\[\],:;<>?!&|]) *")


class ComponentFile(msgspec.Struct, frozen=True):
    """A file that the component loads."""

    body: bytes
    content_type: str


@cache
def read_texts() -> Mapping[str, Mapping[str, str]]:
    """Return the catalogue: the texts of each language by their names."""
    catalogue: dict[str, dict[str, str]] = msgspec.json.decode((COMPONENT / TEXTS).read_bytes())
    return catalogue


def _squeeze_style(style: bytes) -> bytes:
    """Return a style sheet without its comments and layout."""
    return _BREAKS.sub(rb"\1", _COMMENT.sub(b"", style)).replace(b": ", b":")


def squeeze_code(code: bytes) -> bytes:
    """Return modules without the spaces and line breaks that mean nothing.

    Each statement ends with a semicolon, and names stay: a browser's reports can be understood.
    """
    squeezed: list[str] = []
    before = ""
    for line in map(_squeeze_line, filter(str.strip, code.decode().splitlines())):
        closes = line[1:2] in _CLOSING
        is_within = line.startswith(" ") and before.startswith(" ") and "//" not in before
        if is_within and (closes or before[-1:] in _GOES_ON):
            joined = squeezed[-1].rstrip(",;") if closes else squeezed[-1]
            squeezed[-1] = joined + line[1:]
        else:
            squeezed.append(line)
        before = line
    return "\n".join(squeezed).encode() + b"\n"


def _squeeze_line(line: str) -> str:
    if not line.startswith(" "):
        return line
    text = line.strip()
    if "/" in text or text.count("`") > 2:  # perhaps a pattern, or a template within another
        return f" {text}"
    parts = _QUOTED.split(text)
    parts[::2] = [_SPACED.sub(r"\1", part) for part in parts[::2]]
    return " " + "".join(parts)


def read_logo(logo: str, folder: Path) -> ComponentFile | None:
    """Read the owner's logo; None if it is on another site, or there is none.

    Parameters:
        logo: the setting, which has been checked.
        folder: the site's.
    """
    if not logo or web_address(logo) is not None:
        return None
    file = folder / logo
    return ComponentFile(file.read_bytes(), LOGO_TYPES[file.suffix.lower()])


@cache
def read_component() -> tuple[str, Mapping[str, ComponentFile]]:
    """Return the version, a hash of all files, and the files by name.

    ``chat.js`` has all modules but the loader; ``texts/de.json`` the texts of a language.
    """
    code = drop_comments(bundle_modules("chat", read_modules(COMPONENT), exports=True))
    found = {"chat.js": ComponentFile(squeeze_code(code), TYPES[".js"])}
    for style in ("chat.css", "page.css"):
        found[style] = ComponentFile(
            _squeeze_style((COMPONENT / style).read_bytes()), TYPES[".css"]
        )
    for language, texts in read_texts().items():
        found[f"texts/{language}.json"] = ComponentFile(msgspec.json.encode(texts), TYPES[".json"])
    everything = b"".join(name.encode() + file.body for name, file in found.items())
    return make_etag(everything).strip('"')[:16], found
