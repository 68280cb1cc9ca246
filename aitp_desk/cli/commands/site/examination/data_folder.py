"""Checks from outside that a website does not publish the desk's data folder."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from aitp_desk.auth.keys.master_key import KEY_FILE
from aitp_desk.cli.commands.site.examination.connection import REDIRECTS, SECONDS
from aitp_desk.cli.commands.site.examination.findings import Findings
from aitp_desk.config import Config
from aitp_desk.config.settings import DATA_FOLDER, StoreSettings, sqlite_path
from aitp_desk.egress import Egress, EgressError

_NO_HEAD = frozenset({405, 501})
_CURE = (
    "let the web server refuse this folder now, move it out of the website's (store.data), and"
    " start over: all it holds has leaked (docs/run/security.md#the-master-key-has-leaked)"
)


class _Head(NamedTuple):
    """What the head of a response tells of an address."""

    status: int
    media_type: str

    @property
    def is_there(self) -> bool:
        """Whether the website has something at the address."""
        return 200 <= self.status < 300


async def check_data(
    egress: Egress, origin: str, config: Config | None, findings: Findings
) -> None:
    """Check that neither the data folder nor a file in it can be read.

    Only the heads of responses are requested: no secret is transferred.

    Parameters:
        config: of the desk, if its folder is known; then the names are those of its files.
    """
    published: list[str] = []
    for folder, names in _list_places(config).items():
        base = f"{origin}/{folder}"
        try:
            # a website may answer every address with a page
            missing = await _look(egress, f"{base}/{secrets.token_hex(8)}")
            found = {name: await _look(egress, f"{base}/{name}") for name in ("", *names)}
        except EgressError as error:
            findings.warn("data", f"/{folder}/ was not tried: {error}", "examine the desk again")
            return
        if missing.status in REDIRECTS:
            what = f"/{folder}/ was not tried: it is redirected"
            findings.warn("data", what, "examine the address that the website redirects to")
            return
        published += [
            f"/{folder}/{name}" for name, one in found.items() if one.is_there and one != missing
        ]
    if published:
        findings.fault("data", f"everybody can read {', '.join(published)}", _CURE)
    else:
        findings.approve("data", "the website does not publish the data folder")


async def _look(egress: Egress, url: str) -> _Head:
    """Request the head of a response; its first byte where HEAD is refused."""
    found = await egress.preview(url, seconds=SECONDS, method="HEAD")
    if found.status in _NO_HEAD:
        found = await egress.preview(url, seconds=SECONDS, headers={"Range": "bytes=0-0"})
    return _Head(found.status, found.headers.get("Content-Type", "").partition(";")[0])


def _list_places(config: Config | None) -> dict[str, list[str]]:
    """Return by folder, as in addresses, the names of the files to try."""
    usual = [KEY_FILE, str(sqlite_path(StoreSettings().url, Path()))]
    places = {DATA_FOLDER: usual}
    if config is not None:
        names = list(dict.fromkeys((*usual, *_list_files(config.data))))
        for root in (config.folder, config.content_folder):
            if config.data != root and config.data.is_relative_to(root):
                place = quote(config.data.relative_to(root).as_posix())
                places[place] = [quote(name) for name in names]
    return places


def _list_files(folder: Path) -> Iterator[str]:
    """Yield the names of the files in a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entry.name for entry in entries if entry.is_file())
    except OSError:
        return
