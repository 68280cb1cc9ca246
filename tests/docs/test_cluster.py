"""`examples/cluster` gives what docs/run/scaling.md says: units, a proxy, containers."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

import aiohttp
import pytest
import yaml

from aitp_desk.config import load_config
from aitp_desk.store.engine.engines import find_engine
from tests.docs.snippets import ROOT, blocks
from tests.docs.test_operation import output
from tests.support.clients.threads import THREADS
from tests.support.desk.command import COMMAND
from tests.support.desk.processes import Server, free_port, serving_process
from tests.support.desk.server import SITE
from tests.support.store.postgres import PostgresServer
from tests.support.store.valkey_process import valkey_process

FOLDER = ROOT / "examples" / "cluster"
UNIT = ROOT / "examples" / "systemd" / "aitp-desk.service"
PAGE = ROOT / "docs" / "run" / "scaling.md"
ASKED = {"ahp": "0.1", "capability": "content_search", "query": "What does gift wrapping cost?"}
MANUAL = {"OpenAI-Beta": "assistants=v2"}
UNITS = {"workers.conf": "aitp-desk.service", "instance.conf": "aitp-desk@.service"}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="comes with systemd")
def test_the_units_are_understood(tmp_path: Path) -> None:
    for addition, name in UNITS.items():
        unit = tmp_path / name
        more = unit.with_name(f"{name}.d")
        more.mkdir()
        for path, source in ((unit, UNIT), (more / addition, FOLDER / addition)):
            text = source.read_text("utf-8")
            path.write_text(text.replace("/opt/aitp-desk/bin/aitp-desk", str(COMMAND)))
        started = tmp_path / name.replace("@.", "@8081.")
        assert output(["systemd-analyze", "verify", "--man=no", started]) == ""


def test_the_containers_start_desks_on_one_database(tmp_path: Path) -> None:
    composed = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    services = composed["services"]
    assert services["desk1"] == services["desk2"]
    words = shlex.split(services["desk1"]["command"].replace('"', '\\"'))
    assert words[:2] == ["serve", "/site"]
    given = [word for before, word in pairwise(words) if before == "--set"]
    shutil.copy(FOLDER / "desk.toml", tmp_path)
    config = load_config(tmp_path, given, host="0.0.0.0")
    assert find_engine(config.store.url).is_shared
    assert config.valkey.url == "redis://valkey:6379/0"
    assert "valkey" in services
    assert config.server.trusted_proxies
    used = {name for service in services.values() for name in service.get("secrets", ())}
    assert used == composed["secrets"].keys()
    hosts = [one.partition(":")[0] for one in services["proxy"]["environment"]["DESKS"].split()]
    assert hosts == ["desk1", "desk2"]


class Plain:
    """The plain form as the page starts it, on free ports and in folders of a test.

    Attributes:
        site: the address of the proxy.
        desks: those of the processes.
    """

    def __init__(self, folder: Path, database: str) -> None:
        self._folder = folder
        ports = [free_port() for _ in range(4)]
        self._valkey, *self._ports, self._proxy = ports
        self.site = f"http://127.0.0.1:{self._proxy}"
        self.desks = [f"http://127.0.0.1:{port}" for port in self._ports]
        self._places = {
            "6379": str(self._valkey),
            "8081": str(self._ports[0]),
            "8082": str(self._ports[1]),
            "desk.example.com": self.site,
            "/srv/site": str(folder / "site"),
            "/var/lib/aitp-desk": str(folder / "data"),
            "Caddyfile": str(FOLDER / "Caddyfile"),
            "aitp-desk serve": f"{COMMAND} serve",
        }
        shutil.copytree(SITE, folder / "site")
        settings = self._moved((FOLDER / "desk.toml").read_text("utf-8"))
        settings = settings.replace("https://http://", "http://")
        settings = settings.replace("postgresql://aitp_desk@localhost/aitp_desk", database)
        more = "[content.meaning]\nenabled = false\n[limits]\nenabled = false\n"
        (folder / "site" / "desk.toml").write_text(f"{settings}\n{more}")

    @contextmanager
    def running(self) -> Iterator[list[Server]]:
        """Run what the page names, in its order; the desks are given."""
        (block,) = blocks(PAGE, "Plain processes")
        valkey, *others = (shlex.split(self._moved(line)) for line in block.code.splitlines())
        with ExitStack() as stack:
            stack.enter_context(valkey_process(self._folder, *valkey[1:]))
            ready = (*((port, "/ready") for port in self._ports), (self._proxy, "/health"))
            started = [
                stack.enter_context(
                    serving_process(
                        ["env", f"XDG_CONFIG_HOME={self._folder}", *words],
                        port,
                        log=self._folder / f"{port}.log",
                        ready=path,
                    )
                )
                for words, (port, path) in zip(others, ready, strict=True)
            ]
            yield started[:2]

    def read_log(self, desk: str) -> str:
        """Return what a process has written."""
        return (self._folder / f"{desk.rpartition(':')[2]}.log").read_text()

    def _moved(self, text: str) -> str:
        for before, after in self._places.items():
            text = text.replace(before, after)
        return text


@pytest.mark.servers
@pytest.mark.skipif(not shutil.which("caddy"), reason="needs Caddy")
async def test_behind_the_proxy_one_of_two_plain_processes_is_enough(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    plain = Plain(tmp_path, await postgres.begin("proxied"))
    with plain.running() as (first, _):
        for desk in plain.desks:
            assert "through valkey.url" in plain.read_log(desk)
        async with aiohttp.ClientSession(plain.site) as http:

            async def say(number: int) -> int:
                body = {"role": "user", "content": f"Number {number}."}
                headers = {"Idempotency-Key": f"proxied-{number:016}", **MANUAL}
                async with http.post(messages, json=body, headers=headers) as response:
                    return response.status

            async def is_cached(desk: str) -> bool:
                async with http.post(f"{desk}/agent/converse", json=ASKED) as response:
                    return bool((await response.json())["meta"]["cached"])

            assert not await is_cached(plain.desks[0])
            async with asyncio.timeout(30):  # the other one has the answer by Valkey
                while not await is_cached(plain.desks[1]):
                    pass
            async with http.post(THREADS, json={}) as response:
                messages = f"{THREADS}/{(await response.json())['id']}/messages"
            assert [await say(number) for number in range(10)] == [200] * 10
            first.kill()
            for number in range(10, 20):
                # what was sent over a connection to the killed one is sent again
                assert await say(number) == 200 or await say(number) == 200
            async with http.get(f"{messages}?limit=100&order=asc", headers=MANUAL) as response:
                listed = (await response.json())["data"]
            said = [one["content"][0]["text"]["value"] for one in listed]
            assert said == [f"Number {number}." for number in range(20)]


def test_the_proxys_file_is_understood() -> None:
    if shutil.which("caddy"):
        subprocess.run(
            ["caddy", "adapt", "--config", FOLDER / "Caddyfile"], check=True, capture_output=True
        )
