"""The desk's own style sheet, script and icon.

Their names carry a hash of their content: browsers may cache them for ever, and a new version has a
new name. The script's modules are bundled into one file, so that a page needs few requests.
"""

from __future__ import annotations

import gzip
import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from aitp_desk.web.bundle import bundle_modules, read_modules
from aitp_desk.web.pages.blocks.texts import LANGUAGES, find_texts

ASSETS_PATH = "/assets/desk/"
_JAVASCRIPT = "text/javascript; charset=utf-8"
SCRIPT_FOLDER = Path(__file__).with_name("scripts")


class Asset(msgspec.Struct, frozen=True):
    """A file that pages load.

    Parameters:
        name: with the hash, as in its address: ``desk.1f0c3a5e9b27.css``.
    """

    name: str
    content_type: str
    body: bytes

    @property
    def url(self) -> str:
        """Its address on the site."""
        return ASSETS_PATH + self.name


@cache
def zip_asset(asset: Asset) -> bytes:
    """Return a file's body as gzip."""
    return gzip.compress(asset.body, mtime=0)


def _read(*sources: str) -> bytes:
    """Return files of the package, joined by newlines."""
    return b"\n".join(files(__package__).joinpath(source).read_bytes() for source in sources)


def _asset(name: str, suffix: str, content_type: str, body: bytes) -> Asset:
    return Asset(f"{name}.{hashlib.sha256(body).hexdigest()[:12]}.{suffix}", content_type, body)


def make_style(name: str, text: str) -> Asset:
    """Make a style sheet."""
    return _asset(name, "css", "text/css; charset=utf-8", text.encode())


def make_script(name: str, code: bytes) -> Asset:
    """Make a script."""
    return _asset(name, "js", _JAVASCRIPT, code)


_STYLES = tuple(
    f"styles/{name}.css" for name in ("ground", "asking", "reading", "contents", "search")
)
STYLE = _asset("desk", "css", "text/css; charset=utf-8", _read(*_STYLES))
_CODE = bundle_modules("desk", read_modules(SCRIPT_FOLDER))
SCRIPTS = {
    language: make_script(
        "desk",
        b"const TEXTS = %s;\n%s" % (msgspec.json.encode(find_texts(language).script), _CODE),
    )
    for language in LANGUAGES
}
"""By language: one file has the code and the texts."""
API_STYLE = _asset("api", "css", "text/css; charset=utf-8", _read("styles/api.css"))
API_SCRIPT = make_script("api", bundle_modules("api", read_modules(SCRIPT_FOLDER)))
"""Of the page about the API alone."""
ICON = _asset("desk", "svg", "image/svg+xml", _read("styles/desk.svg"))
ASSETS = {asset.name: asset for asset in (STYLE, *SCRIPTS.values(), API_STYLE, API_SCRIPT, ICON)}
