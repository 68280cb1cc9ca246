"""Writes settings of web servers in front of a desk and its website."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from importlib.resources import files
from string import Template

from aitp_desk.config.settings import DATA_FOLDER
from aitp_desk.protocols.base.discovery_links import (
    MANIFEST_TYPE,
    link_header,
    write_head_tags,
    write_notice,
)

_MARKDOWN = "**.md"
_DOCS = "/docs"
"""The one address where a file of the website takes precedence over the desk's page."""
_OF_WEBSITE = frozenset(
    {"/robots.txt", "/sitemap.xml", "/.well-known/", "/.well-known/security.txt"}
)
"""Addresses of the whole site, which its website has itself."""
_PARAMETER = re.compile(r"\{\w+(?::\.\*)?\}")


_LAST = r"(?:,|$)"
_WANTS_MANIFEST = (
    rf"{re.escape(MANIFEST_TYPE)}\s*(?:;\s*(?:q=1(?:\.0*)?\s*|[^q,;\s][^,;]*))*{_LAST}"
)
"""The rest of an Accept header that names the manifest's type, and prefers nothing else.

Servers compare no weights: one below 1 counts as a lower preference, and the page is served. No
text matches it in two ways: a server would try them all.
"""
_WANTS_PAGE = rf"text/html\s*(?:;\s*(?:q=1|[^q\s])|{_LAST})"
"""The same for a header that names HTML and prefers nothing else."""


class _Template(Template):
    """A template of this package with ``%{name}``, since ``$`` belongs to the servers."""

    delimiter = "%"


@dataclass(frozen=True, kw_only=True)
class WebServerSettings:
    """What the settings of every web server say of a desk.

    Attributes:
        upstream: host and port of the desk.
        host: the host name of the website; empty if it is not known.
        routes: the path of each of the desk's routes, templates included.
        own: first path segments below which everything is the desk's.
        mebibytes: the largest body that the desk accepts.
    """

    upstream: str
    host: str
    routes: tuple[str, ...]
    own: frozenset[str]
    mebibytes: int

    def write_apache(self) -> str:
        """Write the settings that a virtual host of Apache includes."""
        return self._fill(
            "apache.conf",
            # a directive is one line, and the text stands between | and |
            tags=_quoted(write_head_tags().replace("\n", "")),
            notice=_quoted(write_notice(hidden=True).replace("\n", " ")),
        )

    def write_caddy(self) -> str:
        """Write the settings that a Caddy site block imports.

        Caddy cannot insert anything into pages: tags and notice are pasted into them.
        """
        # Caddy's star crosses slashes only at the beginning and the end of a path
        paths = (path.replace("**", "*") for path in list_desk_paths(self.routes, self.own))
        return self._fill("caddyfile", paths=" ".join(paths), mebibytes=str(self.mebibytes))

    def write_cloudflare(self) -> str:
        """Write the settings of a Cloudflare tunnel, which changes no headers or pages."""
        return self._fill("cloudflared.yml")

    def write_nginx(self) -> str:
        """Write the settings that an nginx server block includes."""
        proxy = self._fill("nginx_proxy.conf", mebibytes=str(self.mebibytes))
        return self._fill(
            "nginx.conf",
            tags=_quoted(write_head_tags()),
            notice=_quoted(write_notice(hidden=True)),
            proxy=proxy.rstrip("\n"),
        )

    def write_traefik(self) -> str:
        """Write a file for Traefik's file provider, which changes no pages."""
        return self._fill("traefik.yml")

    def _fill(self, name: str, **values: str) -> str:
        common = {
            "upstream": self.upstream,
            "host": self.host,
            "link": link_header(),
            "manifest": _WANTS_MANIFEST,
            "page": _WANTS_PAGE,
            "docs": _DOCS,
            "data": re.escape(DATA_FOLDER),
            "paths": write_pattern(list_desk_paths(self.routes, self.own)),
        }
        text = files(__package__).joinpath(name).read_text(encoding="utf-8")
        return _Template(text).substitute(common | values)


def write_pattern(paths: Iterable[str]) -> str:
    """Write paths with stars as the alternatives of a regular expression."""
    return "|".join(
        re.escape(path).replace(r"\*\*", ".*").replace(r"\*", "[^/]+") for path in paths
    )


def list_desk_paths(routes: Iterable[str], own: Container[str]) -> tuple[str, ...]:
    """Return the paths that a web server passes to the desk, in few patterns.

    The home page and the pages of the content stay the website's.

    Parameters:
        routes, own: as for :class:`WebServerSettings`.

    Returns:
        Paths in which ``*`` matches one segment and ``**`` anything.
    """
    found: dict[str, None] = {}
    for route in routes:
        first = route[1:].partition("/")[0]
        if not first or first.startswith("{") or route in {_DOCS, *_OF_WEBSITE}:
            continue
        if first in own:
            # a website may have a folder with this name too
            folder = "/assets/desk" if first == "assets" else f"/{first}"
            found[f"{folder}/**" if "/" in route[1:] else route] = None
        else:
            found[_PARAMETER.sub("*", route)] = None
    return (*found, _MARKDOWN)


def _quoted(text: str) -> str:
    """Escape a text for nginx's single quotes."""
    return text.replace("\\", r"\\").replace("'", r"\'")
