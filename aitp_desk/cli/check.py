"""``aitp-desk check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, overrides, site_folder

if TYPE_CHECKING:
    from aitp_desk.config import Config


@click.command()
@site_folder
@data_folder
@overrides
def check(folder: Path, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Tell everything that is wrong with the settings and the content in FOLDER.

    Each line names the setting or file, what is wrong and what would be right. Exit code 1 when
    there is any.
    """
    from aitp_desk.config import ConfigError, check_public, load_config

    config: Config | None
    wrong: list[str] = []
    try:
        config = load_config(folder, overrides, data=data)
    except ConfigError as error:
        wrong += map(str, error.problems)
        config = error.config
    else:
        wrong += map(str, check_public(config))
    pages, faults = _check_content(config)
    wrong += faults
    if config is not None:
        for agent in config.agents:
            further, faults = _check_content(config.of_agent(agent), agent.name)
            pages += further
            wrong += [f"agents, {agent.name!r}: {fault}" for fault in faults]
    if wrong:
        fail(wrong)
    click.echo(f"{folder} is ready to serve: {pages} {'page' if pages == 1 else 'pages'}.")


def _check_content(config: Config | None, below: str = "") -> tuple[int, list[str]]:
    """Return the number of pages and the faults; a folder that is not there was told before.

    Parameters:
        below: the name of a further site agent, below which its pages stand.
    """
    from aitp_desk.knowledge.admit import ContentUnreadable
    from aitp_desk.knowledge.load import load_content

    if config is None or not config.content_folder.is_dir():
        return 0, []
    try:
        content = load_content(config.content_folder, data=config.data, below=below)
    except ContentUnreadable as error:
        return 0, [str(error)]
    faults = [str(problem) for problem in content.problems]
    if not content.documents and not faults and not config.content.web.lists:
        faults.append(
            f"{config.content_folder}: holds no content; it takes Markdown (.md), text (.txt),"
            " HTML (.html) and PDF (.pdf) files."
        )
    return len(content.documents), faults
