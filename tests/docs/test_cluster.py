"""`examples/cluster` gives what docs/run/scaling.md says: units, a proxy, containers."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import aiohttp
import pytest
import yaml

from aitp_desk.config import load_config
from tests.docs.snippets import ROOT
from tests.docs.test_operation import output
from tests.support.clients.threads import THREADS
from tests.support.desk.command import COMMAND, serving_command
from tests.support.desk.processes import free_port, serving_process
from tests.support.desk.server import SITE
from tests.support.store.postgres import PostgresServer

FOLDER = ROOT / "examples" / "cluster"
UNIT = ROOT / "examples" / "systemd" / "aitp-desk.service"
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
    assert config.store.is_shared
    assert config.valkey.url == "redis://valkey:6379/0"
    assert "valkey" in services
    assert config.server.trusted_proxies
    used = {name for service in services.values() for name in service.get("secrets", ())}
    assert used == composed["secrets"].keys()
    hosts = [one.partition(":")[0] for one in services["proxy"]["environment"]["DESKS"].split()]
    assert hosts == ["desk1", "desk2"]


@contextmanager
def proxy(port: int, desks: list[str], folder: Path) -> Iterator[None]:
    given = {
        "DESK_HOST": f"http://127.0.0.1:{port}",
        "DESKS": " ".join(one.removeprefix("http://") for one in desks),
        "XDG_CONFIG_HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
    }
    before = dict(os.environ)
    os.environ.update(given)
    try:
        command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(FOLDER / "Caddyfile")]
        with serving_process(command, port, log=folder / "caddy.log", ready="/health"):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@pytest.mark.servers
@pytest.mark.skipif(not shutil.which("caddy"), reason="needs Caddy")
async def test_behind_the_proxy_one_of_two_plain_processes_is_enough(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    url = await postgres.begin("proxied")
    port = free_port()
    site = f"http://127.0.0.1:{port}"
    given = (f"store.url={url}", f"site.url={site}", "content.meaning.enabled=false")
    options = [part for one in (*given, "limits.enabled=false") for part in ("--set", one)]
    data = tmp_path / "data"
    async with (
        serving_command(SITE, data, *options) as first,
        serving_command(SITE, data, *options) as second,
    ):
        assert any("unshared" in line for line in second.report)
        with proxy(port, [first.url, second.url], tmp_path):
            async with aiohttp.ClientSession(site) as http:

                async def say(number: int) -> int:
                    body = {"role": "user", "content": f"Number {number}."}
                    headers = {"Idempotency-Key": f"proxied-{number:016}", **MANUAL}
                    async with http.post(messages, json=body, headers=headers) as response:
                        return response.status

                async with http.post(THREADS, json={}) as response:
                    messages = f"{THREADS}/{(await response.json())['id']}/messages"
                assert [await say(number) for number in range(10)] == [200] * 10
                first.process.kill()
                await first.process.wait()
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
