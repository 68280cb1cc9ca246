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
from aitp_desk.web.bundle import bundle_modules, read_modules
from aitp_desk.web.cards.assets import CARDS, read_card_texts, read_cards
from aitp_desk.web.minifier import minify
from aitp_desk.web.widget.text_names import rename_texts, shorten_text_names

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
LAUNCHER_TEXTS: Final = ("open", "unread", "unavailable")
"""What the button says, without the forms of plurals."""
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_BREAKS = re.compile(rb"\s*([{};,])\s*")


class ComponentFile(msgspec.Struct, frozen=True):
    """A file that the component loads."""

    body: bytes
    content_type: str


@cache
def read_texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each language by their names, with those of the cards."""
    own: dict[str, dict[str, str]] = msgspec.json.decode((COMPONENT / TEXTS).read_bytes())
    cards = read_card_texts()
    return {
        language: dict(sorted({**texts, **cards[language]}.items()))
        for language, texts in own.items()
    }


def _squeeze_style(style: bytes) -> bytes:
    """Return a style sheet without its comments and layout."""
    return _BREAKS.sub(rb"\1", _COMMENT.sub(b"", style)).replace(b": ", b":")


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
    modules = {**read_modules(COMPONENT), **read_cards()}
    names = {name.partition(".")[0] for name in read_texts()[ENGLISH]} - set(LAUNCHER_TEXTS)
    code = bundle_modules("chat", modules, exports=True).decode()
    code, given = shorten_text_names(code, names)
    found = {"chat.js": ComponentFile(minify(code).encode(), TYPES[".js"])}
    styles = {
        "chat.css": (COMPONENT / "chat.css", CARDS / "cards.css"),
        "page.css": (COMPONENT / "page.css",),
    }
    for style, sources in styles.items():
        body = b"".join(_squeeze_style(source.read_bytes()) for source in sources)
        found[style] = ComponentFile(body, TYPES[".css"])
    for language, texts in read_texts().items():
        body = msgspec.json.encode(rename_texts(texts, given))
        found[f"texts/{language}.json"] = ComponentFile(body, TYPES[".json"])
    everything = b"".join(name.encode() + file.body for name, file in found.items())
    return make_etag(everything).strip('"')[:16], found
