"""``aitp-desk snippet``: what the owner's own pages need so that agents find the desk."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from aitp_desk.cli.arguments import mistakes_told, overrides, site_folder

Part = Literal["head", "body", "footer"]


@click.command()
@site_folder
@click.option("--head", "part", flag_value="head", help="Only the tags for <head>.")
@click.option("--body", "part", flag_value="body", help="Only the notice to agents, out of sight.")
@click.option("--footer", "part", flag_value="footer", help="Only the notice, for all to see.")
@click.option(
    "--static", is_flag=True, help="For a site that serves an export and answers no questions."
)
@overrides
def snippet(folder: Path, part: Part | None, static: bool, overrides: tuple[str, ...]) -> None:
    """Print the HTML by which the pages of your own site lead agents to the desk of FOLDER.

    Its addresses begin with site.url; where that is not set they are paths, for pages on the same
    host as the desk.
    """
    with mistakes_told():
        from aitp_desk.announcing.tags import head_tags, notice
        from aitp_desk.config import load_config

        # with no port to listen on there is an address only where the owner has set one
        url = load_config(folder, overrides, port=0).site.url
        tags, hidden = head_tags(url), notice(url, asks=not static, hidden=True)
        whole = f"<!-- before </head> -->\n{tags}\n\n<!-- before </body> -->\n{hidden}"
        parts = {None: whole, "head": tags, "body": hidden, "footer": notice(url, asks=not static)}
    click.echo(parts[part])
