"""``aitp-desk init``: the first files of a site."""

from __future__ import annotations

import shlex
import textwrap
from pathlib import Path

import click

from aitp_desk.cli.arguments import fail

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
_HEAD = (
    '# Settings of this site\'s desk. A line such as "#port = 8080" shows a setting and its'
    ' default:\n# remove the "#" to change it. `aitp-desk check` lists all errors in this file.'
    " Never write\n# secrets in this file.\n"
)


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--with-actions", is_flag=True, help="Also write an actions.py with a query and an action."
)
def init(folder: Path, with_actions: bool) -> None:
    """Create a site in FOLDER: a commented desk.toml and a first page.

    Existing files are kept. If FOLDER has pages, they are the content.
    """
    from aitp_desk.config.settings import DESK_FILE
    from aitp_desk.knowledge.sources.admission import has_content

    pages = folder / _CONTENT
    has_pages = not pages.exists() and has_content(folder)
    try:
        _write(folder / DESK_FILE, _settings(folder, has_pages=has_pages))
        if has_pages:
            click.echo(f"kept   {folder} (it already has pages)")
        elif pages.is_dir() and any(pages.iterdir()):
            click.echo(f"kept   {pages} (it already has files)")
        else:
            _write(pages / WELCOME_FILE, WELCOME)
        if with_actions:
            _write(folder / "actions.py", _first_actions())
    except OSError as error:
        fail([f"{error.filename} cannot be written: {error.strerror}."])
    click.echo(f"Next: aitp-desk serve {shlex.quote(str(folder))}")


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        click.echo(f"kept   {path} (it already exists)")
    else:
        click.echo(f"wrote  {path}")


def _first_actions() -> str:
    from importlib.resources import files

    return files("aitp_desk.cli").joinpath("first_actions.txt").read_text("utf-8")


def _settings(folder: Path, *, has_pages: bool) -> str:
    from aitp_desk.config.catalogue import as_toml, sections

    name = folder.resolve().name.replace("-", " ").replace("_", " ").strip().capitalize()
    chosen = {"tickets.people": as_toml("offered")}
    if not has_pages:
        # pages name their site, and are found in its folder by default
        chosen |= {
            "site.name": as_toml(name or "My site"),
            "content.folder": as_toml(_CONTENT),
        }
    lines = [_HEAD]
    for section in sections():
        # a repeatable table is a comment, because none exists yet
        off = "# " if section.repeats else ""
        lines += [_comment(section.sentence), f"{off}{section.heading}"]
        for setting in section.settings:
            lines.append(_comment(f"{setting.sentence} Takes {setting.takes}."))
            value = chosen.get(setting.key)
            key = setting.key.rpartition(".")[2]
            lines.append(f"{key} = {value}" if value else f"{off or '#'}{key} = {setting.default}")
        lines.append("")
    return "\n".join(lines)


def _comment(text: str) -> str:
    return textwrap.fill(text, width=100, initial_indent="# ", subsequent_indent="# ")
