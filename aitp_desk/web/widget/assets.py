"""Reads the component's files: modules, style sheets, texts.

The loader ``/widget.js`` keeps its address, and names the version of all others in theirs.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import ascii_letters
from typing import Final

import msgspec

from aitp_desk.config.rules.widget import LOGO_TYPES
from aitp_desk.model.web_address import web_address
from aitp_desk.protocols.base.protocol import make_etag
from aitp_desk.web.bundle import bundle_modules, put_constants, read_modules
from aitp_desk.web.cards.assets import CARDS, read_card_texts, read_cards
from aitp_desk.web.javascript.minifier import minify
from aitp_desk.web.widget.members import OWN_MEMBERS
from aitp_desk.web.widget.text_numbers import list_texts, number_texts

COMPONENT = Path(__file__).with_name("component")
TEXTS: Final = "texts.json"
TYPES: Final = {
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".html": "text/html; charset=utf-8",
    ".ts": "text/plain; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
}
LOADER: Final = "loader.js"
LOADER_STYLE: Final = "loader.css"
PAGE: Final = "page.html"
DECLARATION: Final = "widget.d.ts"
ENGLISH: Final = "en"
LAUNCHER_TEXTS: Final = ("open", "unreachable")
"""What the button says before the chat is loaded; every catalogue begins with it."""
_GZIP: Final = 16 + zlib.MAX_WBITS
_COMMENT = re.compile(rb"/\*.*?\*/", re.DOTALL)
_LAYOUT = re.compile(rb"\s*([{};,>])\s*|(?<=:) ")
_QUOTED = re.compile(rb'="([a-z]+)"')
_COMBINED = re.compile(rb" ([+~]) (?=[^{};]*\{)")
_COLOUR = re.compile(r"(?<=[{;])(--[a-z-]+):(#[0-9a-f]+);")
_PROPERTY = re.compile(r"(?<=[{;])--[a-z-]+(?=:)")


class ComponentFile(msgspec.Struct, frozen=True):
    """A file that the component loads.

    Parameters:
        zipped: the body as gzip, for browsers that take it; empty for a picture.
    """

    body: bytes
    content_type: str
    zipped: bytes = b""


def zip_file(body: bytes, content_type: str) -> ComponentFile:
    """Return a text file, with its body as gzip, too."""
    at = body.find(b"\n") + 1
    zipped = min(_zip(body), _zip(body[:at], body[at:]), key=len)
    return ComponentFile(body, content_type, zipped)


def _zip(*parts: bytes) -> bytes:
    """Return a body's parts as gzip, each in blocks of its kind of text."""
    packer = zlib.compressobj(level=9, wbits=_GZIP, memLevel=zlib.DEF_MEM_LEVEL)
    blocks = [packer.compress(part) + packer.flush(zlib.Z_BLOCK) for part in parts[:-1]]
    return b"".join(blocks) + packer.compress(parts[-1]) + packer.flush()


@cache
def read_texts() -> Mapping[str, Mapping[str, str]]:
    """Return the texts of each language by their names, with those of the cards."""
    own: dict[str, dict[str, str]] = msgspec.json.decode((COMPONENT / TEXTS).read_bytes())
    cards = read_card_texts()
    return {
        language: dict(sorted({**texts, **cards[language]}.items()))
        for language, texts in own.items()
    }


def squeeze_style(style: bytes) -> bytes:
    """Return a style sheet without its comments, layout and needless quotes."""
    bare = _COMBINED.sub(rb"\1", _LAYOUT.sub(rb"\1", _COMMENT.sub(b"", style)))
    return _QUOTED.sub(rb"=\1", bare).replace(b";}", b"}").strip()


def shorten_properties(style: str) -> str:
    """Return a style sheet with shorter names of its custom properties, or plain colours."""
    for name, colour in _COLOUR.findall(style):
        style = style.replace(f"{name}:{colour};", "", 1).replace(f"var({name})", colour)
    for number, name in enumerate(dict.fromkeys(_PROPERTY.findall(style))):
        style = re.sub(rf"{name}(?![\w-])", f"--{ascii_letters[number]}", style)
    return style


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

    ``chat.js`` has all modules but the loader, and the style sheet; ``texts/de.txt`` the texts of a
    language, a line each, by the numbers that the code has for them.
    """
    modules = {**read_modules(COMPONENT), **read_cards()}
    code = bundle_modules("chat", modules, exports=True).decode()
    code, names = number_texts(code, LAUNCHER_TEXTS)
    loader = (COMPONENT / LOADER).read_text("utf-8")
    sources = ((COMPONENT / "chat.css").read_bytes(), (CARDS / "cards.css").read_bytes())
    style = shorten_properties(b"".join(map(squeeze_style, sources)).decode())
    script = b"const STYLE = %s;\n%s" % (
        msgspec.json.encode(style),
        minify(put_constants(code), loader, OWN_MEMBERS).encode(),
    )
    found = {"chat.js": zip_file(script, TYPES[".js"])}
    for language, texts in read_texts().items():
        body = "\n".join(list_texts(texts, names)).encode()
        found[f"texts/{language}.txt"] = zip_file(body, TYPES[".txt"])
    everything = b"".join(name.encode() + file.body for name, file in found.items())
    return make_etag(everything).strip('"')[:16], found
