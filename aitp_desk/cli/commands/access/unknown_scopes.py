"""Finds scopes and settings that name actions which the site lacks."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from aitp_desk.config import Config

_SCOPE = "actions:"


def note_unknown_actions(data: Path, scopes: Iterable[str]) -> None:
    """Print a note on each scope of an action that the site lacks.

    The credential is made all the same: the action may follow. Nothing is noted where the data
    folder is in no site's folder, or its actions cannot be read.

    Parameters:
        data: the desk's data folder.
    """
    wanted = [scope.removeprefix(_SCOPE) for scope in scopes if scope.startswith(_SCOPE)]
    for said in describe_unknown_actions(data.resolve().parent, wanted, _SCOPE):
        click.echo(f"Note: {said}", err=True)


def describe_unknown_actions(folder: Path, wanted: Iterable[str], prefix: str = "") -> list[str]:
    """Return a sentence on each wanted action that the site lacks; none if nothing can be read.

    Parameters:
        folder: the site's folder.
        prefix: of the name that was meant.
    """
    wanted = [*wanted]
    known = _list_actions(folder) if wanted else None
    if known is None:
        return []
    names, prefixes = known
    found = []
    for name in wanted:
        if name in names or name.startswith(prefixes):
            continue
        near = difflib.get_close_matches(name, names, n=1)
        meant = f"; did you mean {prefix}{near[0]}?" if near else "."
        found.append(f"the site has no action named {name!r}{meant}")
    return found


def _list_actions(folder: Path) -> tuple[set[str], tuple[str, ...]] | None:
    """Return the names of a site's actions, and the prefixes of its servers."""
    from aitp_desk.actions.faults import ActionsError
    from aitp_desk.config import ConfigError, load_config
    from aitp_desk.config.settings import DESK_FILE
    from aitp_desk.desk.calls.registry import OWN_NAMES

    if not (folder / DESK_FILE).is_file():
        return None
    names, prefixes = set(OWN_NAMES), list[str]()
    try:
        config = load_config(folder)
        for one in (config, *map(config.of_agent, config.agents)):
            names |= _load_names(one)
            prefixes += [server.prefix for server in one.mcp]
    except (ActionsError, ConfigError):
        return None
    return names, tuple(prefixes)


def _load_names(config: Config) -> set[str]:
    from aitp_desk.actions.registry import load_sources
    from aitp_desk.desk.calls.registry import OWN_NAMES

    found = load_sources(config, environment=os.environ, taken=OWN_NAMES).actions
    return {one.action.name for one in found.offered} | {one.type.name for one in found.resources}
