"""A real Matrix homeserver of its own: Synapse, with SQLite, which federates with nobody."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import multiprocessing
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.util import find_spec
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import aiohttp

from tests.support.desk.processes import free_port
from tests.support.servers.parent_watch import ended_with_parent

SERVER_NAME = "matrix.test"
SECRET = "only the tests register people"
PASSWORD = "a password of the tests"
START_SECONDS = 120
_FAST = {"per_second": 10_000, "burst_count": 10_000}
_LIMITS: dict[str, object] = {
    **dict.fromkeys(
        (
            *("rc_message", "rc_registration", "rc_admin_redaction", "rc_joins_per_room"),
            *("rc_key_requests", "rc_reports", "rc_room_creation", "rc_presence"),
        ),
        _FAST,
    ),
    "rc_login": dict.fromkeys(("address", "account", "failed_attempts"), _FAST),
    "rc_joins": dict.fromkeys(("local", "remote"), _FAST),
    "rc_invites": dict.fromkeys(("per_room", "per_user", "per_issuer"), _FAST),
    "rc_presence": {"per_user": _FAST},
}
_QUIET = {
    "version": 1,
    "formatters": {"line": {"format": "%(levelname)s %(name)s %(message)s"}},
    "handlers": {"err": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"level": "WARNING", "handlers": ["err"]},
}
# one process for all tests of this one has Synapse imported, and each homeserver is its copy
_programs = multiprocessing.get_context("forkserver")
_programs.set_forkserver_preload(["tests.support.servers.homeserver", __name__])


class Synapse:
    """A running homeserver.

    Attributes:
        url: of its client-server API.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self._process: ForkServerProcess | None = None
        self.url = f"http://127.0.0.1:{self._port}"

    @property
    def pid_file(self) -> Path:
        return self._folder / "synapse.pid"

    def ended_with_parent(self) -> AbstractContextManager[None]:
        """End it if this process is killed before the context ends."""
        return ended_with_parent("sh", "-c", 'kill -9 "$(cat "$1")"', "sh", self.pid_file)

    def start(self, registration: Mapping[str, object] | None = None) -> None:
        """Return once it takes requests.

        Parameters:
            registration: of an application service.
        """
        config = self._configure(registration)
        address = self._folder / "notify"
        address.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(address))
            ready.settimeout(START_SECONDS)
            self._process = _programs.Process(target=_run, args=(config, address), daemon=True)
            self._process.start()
            self.pid_file.write_text(str(self._process.pid))
            try:
                while b"READY=1" not in ready.recv(1024):
                    pass
            except TimeoutError:
                self.kill()
                raise AssertionError((self._folder / "log").read_text()[-4000:]) from None

    def kill(self) -> None:
        """End it as a crash does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def _configure(self, registration: Mapping[str, object] | None) -> Path:
        """Write its files; JSON is YAML too."""
        key = base64.b64encode(hashlib.sha256(b"signing").digest()).decode().rstrip("=")
        (self._folder / "signing.key").write_text(f"ed25519 a_test {key}\n")
        (self._folder / "log.yaml").write_text(json.dumps(_QUIET))
        services = []
        if registration is not None:
            (self._folder / "service.yaml").write_text(json.dumps(registration))
            services = [str(self._folder / "service.yaml")]
        config = {
            "server_name": SERVER_NAME,
            "public_baseurl": f"{self.url}/",
            "listeners": [
                {
                    "port": self._port,
                    "type": "http",
                    "tls": False,
                    "bind_addresses": ["127.0.0.1"],
                    "resources": [{"names": ["client"]}],
                }
            ],
            "database": {"name": "sqlite3", "args": {"database": str(self._folder / "db")}},
            "log_config": str(self._folder / "log.yaml"),
            "media_store_path": str(self._folder / "media"),
            "signing_key_path": str(self._folder / "signing.key"),
            "registration_shared_secret": SECRET,
            "macaroon_secret_key": "of the tests",
            "form_secret": "of the tests",
            "trusted_key_servers": [],
            "federation_domain_whitelist": [],
            "report_stats": False,
            "bcrypt_rounds": 4,
            "app_service_config_files": services,
            "max_upload_size": "10M",
            **_LIMITS,
        }
        path = self._folder / "homeserver.yaml"
        path.write_text(json.dumps(config))
        return path

    async def register(self, name: str, *, is_admin: bool = False) -> Account:
        """Make an account and sign in."""
        async with aiohttp.ClientSession() as session:
            address = f"{self.url}/_synapse/admin/v1/register"
            async with session.get(address) as response:
                nonce = (await response.json())["nonce"]
            role = "admin" if is_admin else "notadmin"
            parts = "\0".join((nonce, name, PASSWORD, role))
            proof = hmac.new(SECRET.encode(), parts.encode(), hashlib.sha1).hexdigest()
            body = {
                "nonce": nonce,
                "username": name,
                "displayname": name.title(),
                "password": PASSWORD,
                "admin": is_admin,
                "mac": proof,
            }
            async with session.post(address, json=body) as response:
                found = await response.json()
                assert response.status == 200, found
        return Account(self.url, found["user_id"], found["access_token"])


def _run(config: Path, address: Path) -> None:
    """Be a homeserver, in a process for it."""
    from tests.support.servers import homeserver

    homeserver.run(config, address)


class Account:
    """A person on the homeserver, who acts through plain HTTP."""

    def __init__(self, url: str, user: str, token: str) -> None:
        self._url = url
        self.user = user
        self.token = token

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        data: bytes | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request, and return the JSON of its response.

        Parameters:
            path: below ``/_matrix/``, as it is sent.
        """
        async with (
            aiohttp.ClientSession() as session,
            session.request(
                method,
                f"{self._url}/_matrix/{path}",
                json=body if data is None else None,
                data=data,
                params=query,
                headers={"Authorization": f"Bearer {self.token}"},
            ) as response,
        ):
            if response.content_type != "application/json":
                return await response.read()
            found = await response.json()
            assert response.status == 200, (method, path, response.status, found)
            return found


def is_installed() -> bool:
    """Whether Synapse can be started here."""
    return find_spec("synapse") is not None
