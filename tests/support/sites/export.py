"""Exported sites for tests: small ones, in temporary folders, on a static host."""

from __future__ import annotations

import functools
import hashlib
import http.server
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from aitp_desk.config import Config, load_config
from aitp_desk.web.export.site import ExportResult, export_site
from tests.support.desk.server import SITE


def settings(folder: Path, data: Path, *overrides: str) -> Config:
    return load_config(folder, overrides, port=0, data=data)


def export(out: Path, *overrides: str, folder: Path = SITE) -> ExportResult:
    """Export a site; its data folder is next to `out`."""
    return export_site(settings(folder, out.with_name("data"), *overrides), out)


def site(folder: Path, **pages: str) -> Path:
    """A site's folder with content: `a__b` is the page `a/b.md`."""
    for name, text in pages.items():
        file = folder / "content" / f"{name.replace('__', '/')}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (folder / "desk.toml").write_text('[content]\nfolder = "content"\n', encoding="utf-8")
    return folder


def files(folder: Path) -> dict[str, str]:
    """The digest of each file by its path."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in folder.rglob("*")
        if file.is_file()
    }


class Quiet(http.server.SimpleHTTPRequestHandler):
    """What `python -m http.server` serves with, but its log."""

    def log_message(self, format: str, *args: Any) -> None: ...


@contextmanager
def static_host(folder: Path) -> Iterator[str]:
    """A plain static server; its address."""
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


@asynccontextmanager
async def hosted(
    out: Path, *overrides: str, folder: Path = SITE
) -> AsyncIterator[aiohttp.ClientSession]:
    """An exported site on a static host, and a client whose addresses are its own."""
    export(out, *overrides, folder=folder)
    with static_host(out) as url:
        async with aiohttp.ClientSession(url) as client:
            yield client


async def read(client: aiohttp.ClientSession, path: str) -> str:
    async with client.get(path) as response:
        assert response.status == 200, path
        return await response.text()
