"""Serves the console's markup, styles and scripts; there is no build step."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from yarl import URL

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import RouteNotFound
from aitp_desk.protocols.base.protocol import FOREVER, Call, Reply, Route, make_etag, matches_etag
from aitp_desk.web.widget.assets import COMPONENT

CONSOLE_PATH: Final = "/console"
_INDEX: Final = "index.html"
_MARKDOWN: Final = "markdown"
"""The folder of the chat's modules that the console shows agents' words with."""
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def _on_page(site_url: str) -> tuple[tuple[str, str], ...]:
    """Return the security headers of the page.

    Only pictures of the site load from elsewhere, nothing inline runs, no element is made from
    text, no site frames the page, and no search engine lists it.
    """
    origin = URL(site_url).origin()
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
        f" img-src 'self' data: {origin}; base-uri 'none'; form-action 'none';"
        " frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return (
        ("Content-Security-Policy", policy),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("X-Robots-Tag", "noindex"),
    )


class _File(msgspec.Struct, frozen=True):
    body: bytes
    content_type: str


@cache
def _read_all() -> tuple[str, Mapping[str, _File]]:
    """Return all files by name, and the version: a hash of them all."""
    found = {}
    folder = Path(__file__).with_name("pages")
    for file in sorted(folder.rglob("*.*")):
        if file.suffix in _TYPES:
            name = file.relative_to(folder).as_posix()
            found[name] = _File(file.read_bytes(), _TYPES[file.suffix])
    for file in sorted((COMPONENT / _MARKDOWN).glob("*.js")):
        found[f"{_MARKDOWN}/{file.name}"] = _File(file.read_bytes(), _TYPES[".js"])
    everything = b"".join(name.encode() + file.body for name, file in found.items())
    return make_etag(everything).strip('"'), found


class ConsoleFiles:
    """Serves the console's files, read once per process.

    Parameters:
        site_url: the site whose pictures the pages show.
    """

    def __init__(self, site_url: str) -> None:
        self._version, self._files = _read_all()
        assets = f"{CONSOLE_PATH}/assets/"
        page = self._files[_INDEX].body.decode()
        self._page = page.replace(assets, f"{assets}{self._version}/").encode()
        self._headers = (
            ("Cache-Control", "no-cache"),
            ("ETag", make_etag(self._page)),
            *_on_page(site_url),
        )

    async def get_page(self, _desk: Desk, call: Call) -> Reply:
        """``GET /console``: the page; its script fetches everything else."""
        if matches_etag(call.headers, make_etag(self._page)):
            return Reply(304, content_type=_TYPES[".html"], headers=self._headers)
        return Reply(200, self._page, _TYPES[".html"], self._headers)

    async def get_asset(self, _desk: Desk, call: Call) -> Reply:
        """``GET /console/assets/{version}/{name}``: a style sheet or script of the page.

        They are many and small, so they count against no limit. With the version in the address a
        browser fetches each once.

        Raises:
            RouteNotFound: no file has this name, or the version is outdated.
        """
        name = call.params["name"]
        file = None if name == _INDEX else self._files.get(name)
        if file is None or call.params["version"] != self._version:
            raise RouteNotFound("The console has no file of this name and version.")
        return Reply(200, file.body, file.content_type, (FOREVER,))

    def routes(self) -> tuple[Route, ...]:
        """Return the routes; the files are public."""
        css, js = (_TYPES[ending].partition(";")[0] for ending in (".css", ".js"))
        return (
            *(
                Route("GET", path, self.get_page, None, is_own=True, gives=("text/html",))
                for path in (CONSOLE_PATH, f"{CONSOLE_PATH}/")
            ),
            Route(
                "GET",
                f"{CONSOLE_PATH}/assets/{{version}}/{{name:.*}}",
                self.get_asset,
                None,
                is_own=True,
                gives=(css, js, _TYPES[".svg"]),
            ),
        )
