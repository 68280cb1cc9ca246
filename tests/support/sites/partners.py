"""Sites that are partners of each other, each with one page, and desks that serve them."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from aitp_desk.actions.base import OfferedAction
from aitp_desk.app.server import NO_ENVIRONMENT, open_server
from aitp_desk.config import load_config
from aitp_desk.visitor.base import EndpointKind
from aitp_desk.visitor.clients.catalogue import CLIENTS
from tests.support.clients.threads import Talker
from tests.support.desk.first_start import begin_desk
from tests.support.desk.server import UNLIMITED

LIBRARY = "# Opening hours\n\nThe library opens at nine in the morning and closes at six.\n"
BOOKSHOP = (
    "# E-readers\n\nWe lend e-readers for three weeks. An e-reader holds two thousand books.\n\n"
    "# Gift cards\n\nGift cards are valid for four years.\n"
)
FORWARDING = '[[agents]]\nname = "desk2"\n[agents.content]\nfolder = "desk2"\n'
"""A further site agent with a page of its own in the folder ``desk2``."""
KINDS: tuple[EndpointKind, ...] = ("ahp", "aitp", "a2a", "mcp")
PROTOCOLS = tuple(kind for kind in KINDS if kind in CLIENTS)
"""The protocols that partners speak here."""
RESUMED = tuple(kind for kind in PROTOCOLS if hasattr(CLIENTS[kind], "resume"))
"""Those whose conversations another visit goes on with."""
FAR = "# Meteorites\n\nThe heaviest meteorite in the museum weighs 412 kilograms.\n"


def write_site(folder: Path, page: str, toml: str = "", **agents: str) -> Path:
    """Write a site with one page, and one for each further agent; return its folder."""
    for name, text in {"content": page, **agents}.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "page.md").write_text(text, encoding="utf-8")
    content = '[content]\nfolder = "content"\n'
    (folder / "desk.toml").write_text(f"{content}{toml}", encoding="utf-8")
    return folder


def peer(url: str, name: str = "books", **settings: Any) -> str:
    """Write a table of a partner."""
    lines = [f'name = "{name}"', f'url = "{url}"']
    for key, value in settings.items():
        given = str(value).lower() if isinstance(value, bool) else repr(value)
        lines.append(f"{key} = {given}")
    return "\n".join(["[[peers]]", *lines, ""]) + "\n"


@asynccontextmanager
async def serving_site(
    folder: Path,
    *settings: str,
    port: int = 0,
    actions: Sequence[OfferedAction] = (),
    environment: Mapping[str, str] = NO_ENVIRONMENT,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Talker]:
    """Serve a site that :func:`write_site` has written, to a caller without a credential."""
    data = folder / "data"
    config = load_config(folder, (*UNLIMITED, *settings), port=port, data=data)
    begin_desk(config)
    async with (
        open_server(config, actions=actions, environment=environment, clock=clock) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield Talker(desk, data, http)
