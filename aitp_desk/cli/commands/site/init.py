"""``aitp-desk init``: the first files of a site."""

from __future__ import annotations

import os
import shlex
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from aitp_desk.cli.arguments import fail
from aitp_desk.cli.commands.site.answers import ask_owner, check_setting, check_sitemap

if TYPE_CHECKING:
    from aitp_desk.cli.commands.site.generators import Generated

_CONTENT = "content"
WELCOME_FILE = "welcome.md"
WELCOME = """\
---
title: Welcome
description: What this site is about, in one sentence.
---

# Welcome

Replace this page with answers to your visitors' questions. Each Markdown, text or HTML file in
this folder becomes a page, and the desk answers from these pages.

## Opening hours

We are open Monday to Friday from 9 am to 5 pm.
"""
_OWN = "Before others use the desk, set site.url to its own public address."
_HEAD = (
    '# Settings of this site\'s desk. A line such as "#port = 8080" shows a setting and its'
    ' default:\n# remove the "#" to change it. `aitp-desk check` lists all errors in this file.'
    " Never write\n# secrets in this file.\n"
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--from",
    "sitemap",
    metavar="URL",
    callback=check_sitemap,
    help="Address of a sitemap, whose pages are the content; of a home page, its sitemap.xml.",
)
@click.option("--name", callback=check_setting("site.name"), help="The site's name.")
@click.option(
    "--url",
    callback=check_setting("site.url"),
    help="The site's public address, such as https://www.example.com.",
)
@click.option(
    "--contact",
    metavar="EMAIL",
    callback=check_setting("site.contact.email"),
    help='Email address for visitors; "" for none: then no question becomes a ticket.',
)
@click.option("--yes", is_flag=True, help="Ask nothing: take what was detected.")
@click.option(
    "--with-actions", is_flag=True, help="Also write an actions.py with a query and an action."
)
def init(
    folder: Path,
    sitemap: str | None,
    name: str | None,
    url: str | None,
    contact: str | None,
    *,
    yes: bool,
    with_actions: bool,
) -> None:
    """Create a site in FOLDER: a commented desk.toml and, in an empty folder, a first page.

    It detects Sphinx, MkDocs, Zensical, Docusaurus, Hugo, Jekyll, Astro and Next.js, and takes
    their pages for the content; otherwise those in FOLDER. On a terminal it asks for the name, the
    public address and an email address for visitors, unless they are given. Existing files are
    kept.
    """
    from aitp_desk.cli.commands.site.published_folder import choose_data
    from aitp_desk.config.settings import DESK_FILE
    from aitp_desk.knowledge.sources.admission import has_content

    made = _detect(folder, sitemap)
    pages = folder / _CONTENT
    has_pages = made is not None or sitemap is not None
    has_pages = has_pages or (not pages.exists() and has_content(folder))
    own = {} if has_pages else {"site.name": _title(folder), "content.folder": _CONTENT}
    given = {"site.name": name, "site.url": url, "site.contact.email": contact}
    may_ask = not yes and sys.stdin.isatty() and not (folder / DESK_FILE).exists()
    data = choose_data(folder)
    chosen = {**own, **_describe(made, sitemap), "store.data": data}
    chosen |= {key: value for key, value in given.items() if value is not None}
    if may_ask:
        chosen |= ask_owner(chosen, [key for key, value in given.items() if value is None])
    people = "off" if chosen.get("site.contact.email") == "" else "offered"
    try:
        _write(folder / DESK_FILE, _settings({**chosen, "tickets.people": people}))
        if made is None and sitemap is None and has_pages:
            click.echo(f"kept   {folder} (it already has pages)")
        elif not has_pages and pages.is_dir() and any(pages.iterdir()):
            click.echo(f"kept   {pages} (it already has files)")
        elif not has_pages:
            _write(pages / WELCOME_FILE, WELCOME)
        if with_actions:
            _write(folder / "actions.py", _first_actions(data))
    except OSError as error:
        fail([f"{error.filename} cannot be written: {error.strerror}."])
    _tell_data(folder)
    click.echo(f"Next: aitp-desk serve {shlex.quote(str(folder))}")


def _detect(folder: Path, sitemap: str | None) -> Generated | None:
    """Return what generator made the folder, and say so; exit if its pages are not built."""
    if sitemap is not None:
        click.echo(f"will read  the pages of the sitemap {sitemap}, every hour")
        return None
    from aitp_desk.cli.commands.site.generators import NotBuilt, detect

    try:
        made = detect(folder)
    except NotBuilt as error:
        fail([str(error)])
    if made is not None:
        click.echo(f"found  {made.generator} ({made.mark})")
        click.echo(f"reads  {folder / made.folder}, {made.reason}.")
    return made


def _describe(made: Generated | None, sitemap: str | None) -> dict[str, Any]:
    """Return the settings that follow from what was found."""
    from aitp_desk.model.web_address import origin_of, web_address

    if sitemap is not None:
        place = urlsplit(sitemap)
        below = place.path.rpartition("/")[0]
        name = f"{(place.hostname or '').removeprefix('www.')}{below}"[:200]
        read: dict[str, Any] = {"content.web.sitemaps": [sitemap], "site.name": name}
        if below:
            click.echo(f"note   {_OWN}")
            return read
        return {**read, "site.url": origin_of(place)}
    if made is None:
        return {}
    found: dict[str, Any] = {"site.name": made.name, "content.folder": made.folder}
    address = web_address(made.url)
    if address is not None and address.scheme == "https":
        if address.path in {"", "/"}:
            found["site.url"] = origin_of(address)
        elif made.has_addresses:
            found["content.published_at"] = made.url
            click.echo(
                f"note   Answers link to your pages at {made.url} (content.published_at). {_OWN}"
            )
        else:
            click.echo(
                f"note   Answers link to the desk's own pages, since those at {made.url} may have"
                " other addresses. To link there, build them, delete desk.toml, and run this"
                f" command again. {_OWN}"
            )
    return {key: value for key, value in found.items() if value}


def _title(folder: Path) -> str:
    name = folder.resolve().name.replace("-", " ").replace("_", " ").strip().capitalize()
    return name or "My site"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        click.echo(f"kept   {path} (it already exists)")
    else:
        click.echo(f"wrote  {path}")


def _tell_data(folder: Path) -> None:
    """Say where the desk's state goes; nothing if the settings that were kept are wrong."""
    from aitp_desk.cli.commands.site.published_folder import find_published
    from aitp_desk.config import ConfigError, load_config

    try:
        data = load_config(folder).data
    except ConfigError:
        return  # `check` and `serve` report it
    shown = data if folder.is_absolute() else os.path.relpath(data)
    click.echo(f"state  {shown}: the master key and the database (store.data)")
    if (published := find_published(data)) is not None:
        click.echo(
            f"note   {published} is a folder of pages. A web server that publishes it publishes the"
            " state too: move that next to it, and set store.data."
        )


def _first_actions(data: str) -> str:
    from importlib.resources import files

    text = files("aitp_desk.cli").joinpath("first_actions.txt").read_text("utf-8")
    return text.replace("FOLDER/.desk", f"FOLDER/{data}")


def _settings(chosen: Mapping[str, Any]) -> str:
    """Return the text of desk.toml; what is empty or not chosen is a comment."""
    from aitp_desk.config.catalogue import as_toml, sections

    lines = [_HEAD]
    for section in sections():
        # a repeatable table is a comment, because none exists yet
        off = "# " if section.repeats else ""
        lines += [_comment(section.sentence), f"{off}{section.heading}"]
        for setting in section.settings:
            lines.append(_comment(f"{setting.sentence} Takes {setting.takes}."))
            value = chosen.get(setting.key)
            key = setting.key.rpartition(".")[2]
            is_default = not value or as_toml(value) == setting.default
            mark, shown = (off or "#", setting.default) if is_default else ("", as_toml(value))
            lines.append(f"{mark}{key} = {shown}")
        lines.append("")
    return "\n".join(lines)


def _comment(text: str) -> str:
    return textwrap.fill(text, width=100, initial_indent="# ", subsequent_indent="# ")
