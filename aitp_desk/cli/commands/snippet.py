"""``aitp-desk snippet``: HTML and web server settings that lead agents to the desk."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import urlsplit

import click

from aitp_desk.cli.arguments import fail, mistakes_told, overrides

_MEBIBYTE = 1024 * 1024
_IN_HEAD = "<!-- before </head> of every page -->"
_IN_BODY = "<!-- before </body> of every page, of error pages and API documentation too -->"
_IN_PAGE = "<!-- before </body> of every page that has the chat -->"
# in comments, so that all of it may be pasted
_IN_SETTINGS = """\
<!-- first name the website in desk.toml, which may have [widget] already, and restart the desk
     (pages of {origin} need no name)
[widget]
origins = ["https://www.example.com"]
-->"""
_IN_POLICY = """\
<!-- only where pages have a Content-Security-Policy: add to its directives
     (one that it lacks begins with the sources of its default-src, such as 'self')
     (for the frame: frame-src with the same address)
{policy}
-->"""
_IN_FRAME = """\
<!-- or, where no script is allowed, this frame instead
{frame}
-->"""
Part = Literal[
    "html",
    "head",
    "body",
    "footer",
    "widget",
    "apache",
    "caddy",
    "cloudflare",
    "nginx",
    "traefik",
]
_SERVERS = frozenset({"apache", "caddy", "cloudflare", "nginx", "traefik"})
_BY_HOST = frozenset({"cloudflare", "traefik"})
"""Servers whose settings name the host of the website."""


@click.command()
@click.argument("part", type=click.Choice(get_args(Part)), metavar="PART")
@click.argument(
    "folder", type=click.Path(path_type=Path, exists=True, file_okay=False), default=Path()
)
@click.option("--static", is_flag=True, help="For a site that serves an export, without a desk.")
@overrides
def snippet(part: Part, folder: Path, static: bool, overrides: tuple[str, ...]) -> None:
    """Print HTML or web server settings that connect your site to a desk.

    The desk is that of FOLDER, by default the current one. PART is one of these:

    \b
    widget                 the tags and the policy of the chat on a page
    html                   the tags for <head> and the hidden notice for agents
    head, body             only one of these two
    footer                 the visible notice
    nginx, caddy, apache   a file that the settings of the web server include
    traefik                a file for Traefik's file provider
    cloudflare             the config.yml of a Cloudflare tunnel

    Addresses in the HTML begin with site.url. If that is not set they are paths, for pages on the
    desk's host.
    """  # noqa: D301 -- click keeps the lines after a backspace
    if static and part in {"widget", *_SERVERS}:
        raise click.UsageError("--static needs HTML; an exported site needs no desk.")
    with mistakes_told():
        if part == "widget":
            text = _write_widget(folder, overrides)
        elif part in _SERVERS:
            text = _write_settings(folder, overrides, part)
        else:
            text = _write_html(folder, overrides, part, asks=not static)
    click.echo(text)


def _write_html(folder: Path, overrides: tuple[str, ...], part: Part, *, asks: bool) -> str:
    from aitp_desk.config import load_config
    from aitp_desk.protocols.base.discovery_links import write_head_tags, write_notice

    # without a port the site has an address only if site.url is set
    url = load_config(folder, overrides, port=0).site.url
    tags, hidden = write_head_tags(url), write_notice(url, asks=asks, hidden=True)
    if part == "html":
        return f"{_IN_HEAD}\n{tags}\n\n{_IN_BODY}\n{hidden}"
    return {"head": tags, "body": hidden, "footer": write_notice(url, asks=asks)}[part]


def _write_widget(folder: Path, overrides: tuple[str, ...]) -> str:
    """Return the chat's tags, its frame, and what a page's policy has to allow."""
    from aitp_desk.config import default_url, load_config
    from aitp_desk.config.settings import UNNAMED
    from aitp_desk.web.widget.wire import write_frame, write_policy, write_tag

    config = load_config(folder, overrides)
    url = config.site.url or default_url(config.server)
    address = urlsplit(url)
    origin = f"{address.scheme}://{address.netloc}"
    policy = write_policy(origin, config.widget.logo)
    # the desk takes the name of a site without one from its pages, which are not read here
    name = "Chat" if config.site.name == UNNAMED else config.site.name
    title = config.widget.title or name
    parts = (
        *(() if config.widget.origins else (_IN_SETTINGS.format(origin=origin),)),
        f"{_IN_PAGE}\n{write_tag(url)}",
        _IN_POLICY.format(policy=policy),
        _IN_FRAME.format(frame=write_frame(url, title)),
    )
    return "\n\n".join(parts)


def _write_settings(folder: Path, overrides: tuple[str, ...], server: str) -> str:
    from aitp_desk.cli.routes import list_routes
    from aitp_desk.cli.web_servers.settings import WebServerSettings
    from aitp_desk.config import RESERVED, default_url, load_config

    config = load_config(folder, overrides)
    if not config.server.port:
        fail(["server.port is 0. Set a fixed port, which the web server needs."])
    # without a port the site has an address only if site.url is set
    host = urlsplit(load_config(folder, overrides, port=0).site.url).hostname
    if server in _BY_HOST and not host:
        fail(["site.url is not set. Set it to your site's address, whose host the settings name."])
    largest = max(config.threads.max_body, config.files.max_bytes)
    settings = WebServerSettings(
        upstream=urlsplit(default_url(config.server)).netloc,
        host=host or "",
        routes=asyncio.run(list_routes(config)),
        own=RESERVED.union(agent.name for agent in config.agents),
        mebibytes=largest // _MEBIBYTE + 1,
    )
    write = {
        "apache": settings.write_apache,
        "caddy": settings.write_caddy,
        "cloudflare": settings.write_cloudflare,
        "nginx": settings.write_nginx,
        "traefik": settings.write_traefik,
    }[server]
    return write().rstrip("\n")
