"""Settings of web servers that stand before a desk and a site beside it: nginx and Caddy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from string import Template

from aitp_desk.announcing.tags import MANIFEST_PATH, MANIFEST_TYPE, head_tags, link_header, notice

_MARKDOWN = "*.md"
"""Without a slash before it: Caddy's star stands for no slash unless it begins or ends a path."""

_PATHS = (
    *(MANIFEST_PATH, "/llms.txt", "/llms-full.txt", "/agent/*", "/v1/*", "/assets/desk.*"),
    *("/console", "/console/*"),
)
"""What the desk answers; ``*`` stands for anything. Its health is nobody's business outside."""


_LAST = r"(?:,|$)"
_WANTS_MANIFEST = (
    rf"{re.escape(MANIFEST_TYPE)}\s*(?:;\s*(?:q=1(?:\.0*)?\s*|[^q,;\s][^,;]*))*{_LAST}"
)
"""The rest of an Accept header that names the manifest's type, and nothing that is wanted more.

Servers compare no weights: one below 1 is taken for a lesser wish, and the page is served. No text
fits it in two ways: a server would try them all.
"""
_WANTS_PAGE = rf"text/html\s*(?:;\s*(?:q=1|[^q\s])|{_LAST})"
"""The same of one that names HTML and wants nothing more."""


class _Settings(Template):
    """A file of this package with ``%{name}`` where a value goes: ``$`` is the servers' own."""

    delimiter = "%"


def write_nginx(upstream: str, *, mebibytes: int, agents: Iterable[str] = ()) -> str:
    """What an nginx server block includes.

    Parameters:
        upstream: where the desk listens: host and port.
        mebibytes: the largest body that the desk takes.
        agents: names of further site agents.
    """
    proxy = _read("nginx_proxy.conf").substitute(upstream=upstream, mebibytes=mebibytes)
    paths = (re.escape(path).replace(r"\*", ".*") for path in _paths(agents))
    return _read("nginx.conf").substitute(
        link=link_header(),
        tags=_quoted(head_tags()),
        notice=_quoted(notice(hidden=True)),
        manifest=_WANTS_MANIFEST,
        page=_WANTS_PAGE,
        paths="|".join(paths),
        proxy=proxy.rstrip("\n"),
    )


def write_caddy(upstream: str, *, mebibytes: int, agents: Iterable[str] = ()) -> str:
    """What a Caddy site block imports; parameters as :func:`write_nginx`.

    Caddy cannot put anything into pages: tags and notice are pasted into them.
    """
    return _read("caddyfile").substitute(
        link=link_header(),
        manifest=_WANTS_MANIFEST,
        page=_WANTS_PAGE,
        paths=" ".join(_paths(agents)),
        upstream=upstream,
        mebibytes=mebibytes,
    )


def _paths(agents: Iterable[str]) -> tuple[str, ...]:
    return (*_PATHS, *(f"/{name}/*" for name in agents), _MARKDOWN)


def _quoted(text: str) -> str:
    """A text within nginx's single quotes."""
    return text.replace("\\", r"\\").replace("'", r"\'")


def _read(name: str) -> _Settings:
    return _Settings(files(__package__).joinpath(name).read_text(encoding="utf-8"))
