"""``aitp-desk check``."""

from __future__ import annotations

import os
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
    """Tell everything that is wrong with the settings, the content and the actions in FOLDER.

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
    actions, faults = _check_actions(config)
    wrong += faults
    if config is not None:
        for agent in config.agents:
            own = config.of_agent(agent)
            further, faults = _check_content(own, agent.name)
            pages += further
            more, wrong_actions = _check_actions(own)
            actions += more
            wrong += [f"agents, {agent.name!r}: {fault}" for fault in (*faults, *wrong_actions)]
    if wrong:
        fail(wrong)
    found = f"{pages} {'page' if pages == 1 else 'pages'}"
    if actions:
        found += f", {actions} {'action' if actions == 1 else 'actions'}"
    click.echo(f"{folder} is ready to serve: {found}.")


def _check_actions(config: Config | None) -> tuple[int, list[str]]:
    """Return the number of actions and the faults."""
    from aitp_desk.actions.faults import ActionsError
    from aitp_desk.actions.sources import load_sources
    from aitp_desk.desk.registry import OWN_NAMES

    if config is None:
        return 0, []
    try:
        sources = load_sources(config, environment=os.environ, taken=OWN_NAMES)
        return len(sources.actions.offered), []
    except ActionsError as error:
        return 0, list(map(str, error.problems))


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
