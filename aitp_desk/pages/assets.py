"""The desk's own style sheet, scripts and icon.

Their names carry a hash of what is in them: a browser may keep them for ever, and a new version has
a new name. A script names those that it imports by these names too.
"""

from __future__ import annotations

import hashlib
import re
from importlib.resources import files

import msgspec

ASSETS_PATH = "/assets/"
_JAVASCRIPT = "text/javascript; charset=utf-8"
_IMPORTED = re.compile(rb' from "\./([a-z]+)\.js";')


class Asset(msgspec.Struct, frozen=True):
    """A file that pages are shown with.

    Parameters:
        name: with the hash, as it is asked for: ``desk.1f0c3a5e9b27.css``.
    """

    name: str
    content_type: str
    body: bytes

    @property
    def url(self) -> str:
        """Its address on the site."""
        return ASSETS_PATH + self.name


def _read(*sources: str) -> bytes:
    """Files of the package, one after the other."""
    return b"\n".join(files(__package__).joinpath(source).read_bytes() for source in sources)


def _asset(name: str, ending: str, content_type: str, body: bytes) -> Asset:
    return Asset(f"{name}.{hashlib.sha256(body).hexdigest()[:12]}.{ending}", content_type, body)


def _scripts(name: str, made: dict[str, Asset]) -> dict[str, Asset]:
    """A script and all that it imports, those that are imported before those that do it.

    Parameters:
        made: those that are there already, by their own names; the others are added.
    """

    def named(found: re.Match[bytes]) -> bytes:
        imported = found[1].decode()
        return b' from "./%s";' % _scripts(imported, made)[imported].name.encode()

    if name not in made:
        body = _IMPORTED.sub(named, _read(f"scripts/{name}.js"))
        made[name] = _asset(name, "js", _JAVASCRIPT, body)
    return made


_STYLES = ("ground.css", "asking.css", "cards.css", "reading.css")
STYLE = _asset("desk", "css", "text/css; charset=utf-8", _read(*_STYLES))
*_FIRST, SCRIPT = _scripts("desk", {}).values()
IMPORTED = tuple(_FIRST)
ICON = _asset("desk", "svg", "image/svg+xml", _read("desk.svg"))
ASSETS = {asset.name: asset for asset in (STYLE, *IMPORTED, SCRIPT, ICON)}
