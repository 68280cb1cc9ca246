"""``aitp-desk check``: validates a site's folder, or a file for agents."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aitp_desk.cli.arguments import data_folder, fail, list_first_faults, overrides
from aitp_desk.cli.commands.lint import lint_target
from aitp_desk.model.text import write_count

if TYPE_CHECKING:
    from aitp_desk.config import Config
    from aitp_desk.desk.plugins.registry import PluginRegistry

OWN_BYTES = 32
"""How many bytes a capability's derived secret has."""


@click.command()
@click.argument("target", metavar="FOLDER|FILE|URL")
@data_folder
@overrides
def check(target: str, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Report all errors in a site's folder, or in a file for agents.

    For a FOLDER it checks the settings, the content, the actions and the bucket for files. Each
    line names the setting or file, the error and the correction. For a FILE or a URL (agents.txt,
    agents.json, an AHP manifest, a HAC answer, an A2A card) it checks the format and the
    declarations, as `lint` does; each line names the line or the member. Prints at most 50 errors.
    Exit code 1 if there are any.
    """
    path = Path(target)
    if path.is_dir():
        _check_folder(path, data, overrides)
        return
    if data is not None or overrides:
        raise click.UsageError("--data and --set need a site's folder.")
    if not lint_target(target):
        raise click.UsageError(f"There is no folder or file {target!r}.")


def _check_folder(folder: Path, data: Path | None, overrides: tuple[str, ...]) -> None:
    """Report all errors in a site's folder."""
    from aitp_desk.config import ConfigError, check_public, load_config
    from aitp_desk.store.engine.engines import list_missing_extras

    config: Config | None
    wrong: list[str] = []
    tried: list[str] = []
    try:
        config = load_config(folder, overrides, data=data)
    except ConfigError as error:
        wrong += map(str, error.problems)
        config = error.config
    else:
        wrong += map(str, check_public(config))
        wrong += list_missing_extras(config.store.url, config.valkey.url)
        tried, faults = _check_bucket(config)
        wrong += faults
        opened, faults = _check_transports(config)
        tried += opened
        wrong += faults
        wrong += _check_peers(config)
    capabilities, faults = _check_capabilities(config)
    wrong += faults
    pages, faults, notes = _check_content(config)
    wrong += faults
    actions, faults = _check_actions(config, capabilities)
    wrong += faults
    notes += _find_unread_actions(folder)
    notes += tried
    model_notes, faults = _check_model(config)
    notes += model_notes
    wrong += faults
    if config is not None and pages > 1:
        notes += _find_sample_page(config.content_folder)
    if config is not None:
        for agent in config.agents:
            own = config.of_agent(agent)
            further, faults, more_notes = _check_content(own, agent.name)
            pages += further
            notes += [f"agents, {agent.name!r}: {note}" for note in more_notes]
            more, wrong_actions = _check_actions(own, capabilities)
            actions += more
            wrong += [f"agents, {agent.name!r}: {fault}" for fault in (*faults, *wrong_actions)]
    for note in notes:
        click.echo(note)
    if wrong:
        fail(list_first_faults(wrong))
    found = write_count(pages, "page")
    if actions:
        found += f", {write_count(actions, 'action')}"
    click.echo(f"{folder} is ready to serve: {found}.")


def _check_model(config: Config | None) -> tuple[list[str], list[str]]:
    """Return notes and faults of the models that answer."""
    if config is None:
        return [], []
    from aitp_desk.agent.generative.providers.chain import describe_obstacle

    notes, faults = [*config.notes], []
    for number, choice in enumerate(config.model.chain):
        name = f"model.fallbacks, table {number}" if number else "model"
        if not choice.name:  # a fault of the settings, reported with them
            continue
        obstacle = describe_obstacle(choice, os.environ)
        if obstacle and not choice.is_default:
            faults.append(f"{name}: {obstacle} {choice.name} is not used.")
        if choice.has_foreign_prices:
            notes.append(f"{name}: the prices are the default ones; set those of {choice.name}.")
    return notes, faults


def _check_transports(config: Config) -> tuple[list[str], list[str]]:
    """Return notes and faults of the transports that a site has enabled."""
    if not config.transports:
        return [], []
    from aitp_desk.app.transports import load_for_check
    from aitp_desk.cli.commands.access.unknown_scopes import describe_unknown_actions
    from aitp_desk.config import ConfigError

    try:
        enabled = load_for_check(config, os.environ)
    except ConfigError as error:
        return [], [str(problem) for problem in error.problems]
    notes = [
        f"transports.{one.name}, actions: {said}"
        for one in enabled
        for said in describe_unknown_actions(config.folder, one.common.actions)
    ]
    return notes, []


def _check_peers(config: Config) -> list[str]:
    """Return the faults in the settings of partner sites."""
    if not config.peers:
        return []
    from aitp_desk.transports.peers.rules import check_peers

    return [str(problem) for problem in check_peers(config, os.environ)]


def _check_bucket(config: Config) -> tuple[list[str], list[str]]:
    """Return notes and faults of the bucket for files, after trying each request."""
    import asyncio

    from aitp_desk.store.base import StoreError
    from aitp_desk.store.contents.faults import BucketFault
    from aitp_desk.store.contents.kinds import open_bucket

    try:
        bucket = open_bucket(config.files, folder=config.folder, environment=os.environ)
        if bucket is None:
            return [], []
        asyncio.run(bucket.try_requests())
    except StoreError as error:
        return [], [str(error)]
    except BucketFault as fault:
        return [], [f"files.store: {fault}"]
    return [f"{bucket.name}: an object was written, read and deleted."], []


def _find_unread_actions(folder: Path) -> list[str]:
    """Return a note on actions that are not run for lack of settings."""
    from aitp_desk.actions.loader.modules import OPTIONAL, is_in_folder
    from aitp_desk.config.settings import DESK_FILE

    if (folder / DESK_FILE).exists() or not is_in_folder(folder, OPTIONAL):
        return []
    return [f"{OPTIONAL}.py is not read without a {DESK_FILE}; 'aitp-desk init' writes one."]


def _find_sample_page(content: Path) -> list[str]:
    """Return a note on the unchanged page of ``init`` among the site's own."""
    from aitp_desk.cli.commands.site.init import WELCOME, WELCOME_FILE

    page = content / WELCOME_FILE
    if not page.is_file() or page.read_bytes() != WELCOME.encode():
        return []
    return [f"{page}: is still the sample page, and visitors get answers from it; delete it."]


def _check_actions(
    config: Config | None, capabilities: PluginRegistry | None
) -> tuple[int, list[str]]:
    """Return the number of actions and the faults.

    Parameters:
        capabilities: those that are enabled; None where they cannot be used.
    """
    from aitp_desk.actions.faults import ActionsError
    from aitp_desk.actions.registry import load_sources
    from aitp_desk.desk.calls.registry import OWN_NAMES
    from aitp_desk.desk.plugins.payment_check import check_prepaid
    from aitp_desk.protocols.agents_txt.wire import check_ids

    if config is None:
        return 0, []
    try:
        sources = load_sources(config, environment=os.environ, taken=OWN_NAMES)
    except ActionsError as error:
        return 0, list(map(str, error.problems))
    actions = [one.action for one in sources.actions.offered]
    names = [one.name for one in actions]
    told = config.agents_txt
    further = [agent.name for agent in config.agents]
    ids = check_ids(told, (*OWN_NAMES, *names), further) if told.enabled else ()
    unpayable = () if capabilities is None else check_prepaid(actions, capabilities)
    return len(names), [*map(str, ids), *map(str, unpayable)]


def _check_capabilities(config: Config | None) -> tuple[PluginRegistry | None, list[str]]:
    """Return the capabilities that a site has enabled, and their faults."""
    if config is None:
        return None, []
    from aitp_desk.config import ConfigError
    from aitp_desk.desk.plugins.discovery import load_plugins
    from aitp_desk.desk.plugins.outside.ownership import assign_secrets

    try:
        capabilities = load_plugins(config)
        # nothing derived from this secret is served
        assign_secrets(config, capabilities, lambda _purpose: bytes(OWN_BYTES))
    except ConfigError as error:
        return None, [str(problem) for problem in error.problems]
    return capabilities, []


def _check_content(config: Config | None, below: str = "") -> tuple[int, list[str], list[str]]:
    """Return the number of pages, the faults and the notes.

    A missing folder was reported before.

    Parameters:
        below: the name of a further site agent, below which its pages are.
    """
    from aitp_desk.knowledge.semantics.models import describe_missing_extra
    from aitp_desk.knowledge.sources.admission import (
        NO_CONTENT,
        ContentUnreadable,
        describe_unread,
    )
    from aitp_desk.knowledge.sources.loader import load_content

    if config is None or not config.content_folder.is_dir():
        return 0, [], []
    try:
        content = load_content(
            config.content_folder,
            data=config.data,
            below=below,
            published_at=config.content.published_at,
        )
    except ContentUnreadable as error:
        return 0, [str(error)], []
    faults = [str(problem) for problem in content.problems]
    if not content.documents and not faults and not config.content.web.lists:
        faults.append(f"{config.content_folder}: {NO_CONTENT}")
    if missing := describe_missing_extra(config.content.meaning):
        faults.append(missing)
    unread = describe_unread(config.content_folder, data=config.data)
    notes = [*([f"{unread}."] if unread else []), *list_first_faults([*map(str, content.notes)])]
    if not content.documents and not faults:
        notes.append(
            "warning: no page is here. 'serve' reads those of content.web, and its log names what"
            " it cannot read."
        )
    return len(content.documents), faults, notes
