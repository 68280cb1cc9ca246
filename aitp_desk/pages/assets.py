"""The desk's own style sheet, script and icon.

Their names carry a hash of what is in them: a browser may keep them for ever, and a new version has
a new name.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files

import msgspec

ASSETS_PATH = "/assets/"


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


def _read(ending: str, content_type: str, *sources: str) -> Asset:
    """One asset from the package's files, one after the other."""
    body = b"\n".join(files(__package__).joinpath(source).read_bytes() for source in sources)
    return Asset(f"desk.{hashlib.sha256(body).hexdigest()[:12]}.{ending}", content_type, body)


STYLE = _read("css", "text/css; charset=utf-8", "ground.css", "asking.css", "reading.css")
SCRIPT = _read("js", "text/javascript; charset=utf-8", "desk.js")
ICON = _read("svg", "image/svg+xml", "desk.svg")
ASSETS = {asset.name: asset for asset in (STYLE, SCRIPT, ICON)}
