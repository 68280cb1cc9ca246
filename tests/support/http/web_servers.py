"""Web servers, as the documentation sets them up, before a desk and a static site.

The server blocks are those of the pages in docs/, and what they include is what the command prints;
only addresses, ports and folders are the test's own.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Literal

import aiohttp
import pytest

from tests.docs.snippets import ROOT, blocks
from tests.support.desk.command import run
from tests.support.desk.processes import free_port, serving_process
from tests.support.desk.server import SITE, serving

HOST = "www.example.com"
OWN = (
    "<!doctype html>\n<html>\n<head>\n<title>Own</title>\n{head}</head>\n"
    "<body>\n<p>Own</p>\n{body}</body>\n</html>\n"
)

Kind = Literal["nginx", "caddy", "apache"]
_PATH = f"{os.environ['PATH']}:/usr/sbin"
APACHE = shutil.which("apache2", path=_PATH)
every_server = pytest.mark.parametrize(
    "kind",
    [
        "nginx",
        "caddy",
        pytest.param(
            "apache", marks=pytest.mark.skipif(APACHE is None, reason="apt install apache2")
        ),
    ],
)


def site_block(page: str, kind: Kind) -> str:
    """The only server block of its kind on a page of the documentation."""
    (block,) = (
        block.code
        for block in blocks(ROOT / "docs" / page)
        if block.language == kind and HOST in block.code
    )
    return block


def nginx(program: str, folder: Path, block: str, port: int) -> list[str]:
    """The command that runs an nginx whose only server is this one, all its files in a folder."""
    places = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"daemon off;\nmaster_process off;\npid {folder}/nginx.pid;\nevents {{ }}\nhttp {{\n"
        f"include /etc/nginx/mime.types;\naccess_log off;\ngzip on;\n{places}"
        f"{block.replace('listen 80;', f'listen 127.0.0.1:{port};')}}}\n"
    )
    return [program, "-p", str(folder), "-e", str(folder / "errors"), "-c", "nginx.conf"]


def caddy(program: str, folder: Path, block: str, port: int) -> list[str]:
    """The same for Caddy."""
    (folder / "Caddyfile").write_text(
        "{\nadmin off\nauto_https off\n}\n"
        + block.replace(f"{HOST} {{", f"http://{HOST}:{port} {{\nbind 127.0.0.1", 1)
    )
    kept = [f"XDG_{kind}_HOME={folder}" for kind in ("CONFIG", "DATA")]
    settings = ["--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    return ["env", *kept, program, "run", *settings]


def apache(program: str, folder: Path, block: str, port: int) -> list[str]:
    """The same for Apache, with the modules that the settings name and those of any site."""
    named = (ROOT / "aitp_desk/cli/web_servers/apache.conf").read_text().partition("a2enmod ")[2]
    modules = ("mpm_event", "authz_core", "dir", "mime", *named.partition("\n")[0].split())
    loaded = "".join(
        f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n" for name in modules
    )
    (folder / "apache.conf").write_text(
        f"{loaded}ServerName {HOST}\nListen 127.0.0.1:{port}\nPidFile {folder}/pid\n"
        f"ErrorLog {folder}/errors\nDefaultRuntimeDir {folder}\nTypesConfig /etc/mime.types\n"
        f"{block.replace('*:80', f'127.0.0.1:{port}')}"
    )
    return [program, "-D", "FOREGROUND", "-d", str(folder), "-f", str(folder / "apache.conf")]


@contextmanager
def web_server(kind: Kind, folder: Path, block: str, port: int) -> Iterator[str]:
    """Run a web server until the context ends; its address."""
    program = APACHE if kind == "apache" else shutil.which(kind, path=_PATH)
    if program is None:
        pytest.fail(f"{kind} is not installed: on Debian and Ubuntu, apt install nginx-light caddy")
    write = {"apache": apache, "caddy": caddy, "nginx": nginx}[kind]
    command = write(program, folder, block, port)
    with serving_process(command, port, log=folder / "log", ready="/ready.txt") as server:
        try:
            yield server.url
        finally:
            server.stop()  # a killed Apache would leave its processes


def own_page(kind: Kind) -> str:
    """A page of the site; it says to Caddy where tags and notice go."""
    if kind != "caddy":
        return OWN.format(head="", body="")
    head, body = ('{{include "/agents-' + part + '.html"}}' for part in ("head", "body"))
    return OWN.format(head=head, body=body)


@asynccontextmanager
async def beside(
    kind: Kind,
    folder: Path,
    *settings: str,
    keeps: bool = False,
    desk_folder: Path = SITE,
    only_own_pages: bool = False,
) -> AsyncIterator[aiohttp.ClientSession]:
    """A static site and a desk behind a web server, and a client who asks by their name.

    Parameters:
        desk_folder: the folder of the desk's site.
        only_own_pages: have nginx answer 404 where the site has no file, as Caddy does.
        keeps: have nginx keep its connections to the desk for the next request, as Caddy does.
    """
    root, run_in = folder / "root", folder / "run"
    (root / "policies").mkdir(parents=True)
    run_in.mkdir()
    (root / "ready.txt").write_text("yes")
    (root / "policies" / "returns.html").write_text(own_page(kind))
    (root / "photo.txt").write_text("x" * 2000)
    own = ("--set", f"site.url=http://{HOST}")
    if kind == "caddy":
        for part in ("head", "body"):
            _, lines, _ = await run("snippet", part, desk_folder)
            (root / f"agents-{part}.html").write_text("\n".join(lines) + "\n")
    trusted = 'server.trusted_proxies=["127.0.0.1/32"]'
    async with serving(folder / "data", own[1], trusted, *settings, folder=desk_folder) as desk:
        port = desk.url.rpartition(":")[2]
        code, lines, _ = await run(
            "snippet", kind, desk_folder, *own, "--set", f"server.port={port}"
        )
        assert code == 0
        included = run_in / "aitp-desk.included"
        included.write_text("\n".join(lines) + "\n")
        if keeps and kind == "nginx":
            text = included.read_text().replace(f"http://127.0.0.1:{port};", "http://aitp_desk;")
            included.write_text(text)
        block = (
            site_block("run/existing-site.md", kind)
            .replace("/var/www/example", str(root))
            .replace("/etc/nginx/aitp-desk.conf", str(included))
            .replace("/etc/caddy/aitp-desk.caddy", str(included))
            .replace("/etc/apache2/aitp-desk.conf", str(included))
        )
        if only_own_pages:
            block = block.replace("$uri/ @aitp_desk;", "$uri/ =404;")
        if keeps and kind == "nginx":
            block = f"upstream aitp_desk {{ server 127.0.0.1:{port}; keepalive 4; }}\n{block}"
        with web_server(kind, run_in, block, free_port()) as url:
            async with aiohttp.ClientSession(url, headers={"Host": HOST}) as client:
                yield client
