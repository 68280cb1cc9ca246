"""The files of the operators' pages, as they are sent: markup, style, scripts; no build step."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Final

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import RouteNotFound
from aitp_desk.protocols.reply import Call, Reply, Route, has_version, version_of

CONSOLE_PATH: Final = "/console"
_INDEX: Final = "index.html"
_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';"
    " img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)
_ON_PAGE: Final = (
    ("Content-Security-Policy", _POLICY),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Robots-Tag", "noindex"),
)
"""Nothing is loaded from elsewhere, nothing inline runs, no element is made from text, nobody
frames the page, and no search engine lists it."""


class _File(msgspec.Struct, frozen=True):
    body: bytes
    content_type: str
    tag: str


def _read_all() -> Mapping[str, _File]:
    found = {}
    for file in files(__package__).joinpath("pages").iterdir():
        ending = file.name[file.name.rfind(".") :]
        if ending in _TYPES:
            body = file.read_bytes()
            tag = version_of(body)
            found[file.name] = _File(body, _TYPES[ending], tag)
    return found


class ConsoleFiles:
    """Sends the files. They are read when it is made."""

    def __init__(self) -> None:
        self._files = _read_all()

    async def get_page(self, _desk: Desk, call: Call) -> Reply:
        """``GET /console``: the page; it asks for all else itself."""
        return _reply(self._files[_INDEX], call, _ON_PAGE)

    async def get_asset(self, _desk: Desk, call: Call) -> Reply:
        """``GET /console/assets/{name}``: a style sheet, script or picture of the page.

        Raises:
            RouteNotFound: there is none of this name.
        """
        name = call.params["name"]
        file = None if name == _INDEX else self._files.get(name)
        if file is None:
            raise RouteNotFound("The console has no file of this name.")
        return _reply(file, call)

    def routes(self) -> tuple[Route, ...]:
        """Where they stand; there is nothing in them that is not for everybody."""
        css, js = (_TYPES[ending].partition(";")[0] for ending in (".css", ".js"))
        return (
            *(
                Route("GET", path, self.get_page, "static", is_own=True, gives=("text/html",))
                for path in (CONSOLE_PATH, f"{CONSOLE_PATH}/")
            ),
            Route(
                "GET",
                f"{CONSOLE_PATH}/assets/{{name}}",
                self.get_asset,
                "static",
                is_own=True,
                gives=(css, js, _TYPES[".svg"]),
            ),
        )


def _reply(file: _File, call: Call, headers: tuple[tuple[str, str], ...] = ()) -> Reply:
    """A file, unless the caller has it as it is; it is asked for again each time."""
    kept = (("ETag", file.tag), ("Cache-Control", "no-cache"), *headers)
    if has_version(call.headers, file.tag):
        return Reply(304, content_type=file.content_type, headers=kept)
    return Reply(200, file.body, file.content_type, kept)
