"""A desk whose PostgreSQL server proves its name by a certificate, or cannot."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from aitp_desk.store.base import StoreError
from aitp_desk.store.engine.postgres.store import PostgresStore
from tests.support.desk.command import run_here
from tests.support.desk.processes import free_port
from tests.support.desk.server import SITE
from tests.support.servers.certificates import Authority
from tests.support.store.postgres import PostgresCluster, postgres_cluster

pytestmark = pytest.mark.servers

NAME = "db.example"
"""Resolves to the server where a test asks for it."""
OPEN = b"local all all trust\nhost all all 127.0.0.1/32 trust\n"
TLS_ONLY = b"local all all trust\nhostssl all all 127.0.0.1/32 trust\n"
CLIENT_CERTIFICATE = b"local all all trust\nhostssl all all 127.0.0.1/32 cert\n"


class TlsServer:
    """A server whose certificate can be replaced.

    Attributes:
        authority: signs the server's certificates and those of clients.
        other: an authority that signs nothing of it.
    """

    def __init__(self, cluster: PostgresCluster, port: int, folder: Path) -> None:
        self.cluster = cluster
        self.authority = Authority(folder, "authority")
        self.other = Authority(folder, "other")
        self._port = port

    def present(self, *names: str, days: int = 1, access: bytes = OPEN) -> None:
        """Have new connections see a certificate for these names; none turns TLS off."""
        lines = b""
        if names:
            certificate, key = self.authority.sign("server", *names, days=days)
            self.cluster.keep("server.crt", certificate.read_bytes())
            self.cluster.keep("server.key", key.read_bytes())
            self.cluster.keep("root.crt", self.authority.file.read_bytes())
            lines = b"ssl = on\nssl_ca_file = 'root.crt'\n"
        self.cluster.keep("postgresql.auto.conf", lines)
        self.cluster.keep("pg_hba.conf", access)
        self.cluster.reload()

    def url(self, host: str, **query: object) -> str:
        given = "&".join(f"{name}={value}" for name, value in query.items())
        return f"postgresql://desk@{host}:{self._port}/postgres?{given}"


async def knows_tls(url: str) -> bool:
    connection = await asyncpg.connect(url)
    try:
        built = await connection.fetchval("SELECT setting FROM pg_config WHERE name = 'CONFIGURE'")
        return "openssl" in built
    finally:
        await connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsServer]:
    port = free_port()
    with postgres_cluster(port=port) as cluster:
        if not asyncio.run(knows_tls(cluster.url)):
            pytest.skip("this PostgreSQL was built without TLS")
        yield TlsServer(cluster, port, tmp_path_factory.mktemp("certificates"))


@pytest.fixture(autouse=True)
def nobodys_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No file of libpq in the home of whoever runs the tests counts."""
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server has a name of another machine."""
    resolve = socket.getaddrinfo

    def resolve_name(host: Any, *given: Any, **more: Any) -> Any:
        return resolve("127.0.0.1" if host == NAME else host, *given, **more)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_name)


async def failure(url: str) -> str:
    """What is said where the store cannot be opened; empty where it can be."""
    try:
        async with PostgresStore.open(url, {}):
            return ""
    except StoreError as error:
        return str(error)


# --- another machine, where the URL names no mode ---------------------------------------------


async def test_a_name_that_is_proven_is_enough(server: TlsServer, named: None) -> None:
    server.present(NAME)
    assert await failure(server.url(NAME, sslrootcert=server.authority.file)) == ""


async def test_an_unknown_authority_is_told_with_what_mends_it(
    server: TlsServer, named: None
) -> None:
    server.present(NAME)
    for url in (server.url(NAME), server.url(NAME, sslrootcert=server.other.file)):
        told = await failure(url)
        assert "an authority that is not trusted here" in told
        assert "sslrootcert in store.url" in told


async def test_another_name_is_told_with_what_mends_it(server: TlsServer, named: None) -> None:
    server.present("other.example")
    url = server.url(NAME, sslrootcert=server.authority.file)
    told = await failure(url)
    assert "certificate is for another name" in told
    assert "sslmode=verify-ca" in told
    assert await failure(f"{url}&sslmode=verify-ca") == ""


async def test_an_expired_certificate_is_told(server: TlsServer, named: None) -> None:
    server.present(NAME, days=-1)
    told = await failure(server.url(NAME, sslrootcert=server.authority.file))
    assert "certificate has expired" in told


async def test_a_server_without_tls_is_told_with_what_mends_it(
    server: TlsServer, named: None
) -> None:
    server.present()
    told = await failure(server.url(NAME, sslrootcert=server.authority.file))
    assert "the server has no TLS" in told
    assert "sslmode=disable" in told
    assert await failure(server.url(NAME, sslmode="disable")) == ""


async def test_an_authority_without_a_file_is_told(server: TlsServer, tmp_path: Path) -> None:
    told = await failure(server.url(NAME, sslrootcert=tmp_path / "none.crt"))
    assert "The file of sslrootcert cannot be read" in told
    assert "none.crt" in told


def test_a_desk_does_not_start_and_says_why(server: TlsServer, tmp_path: Path) -> None:
    server.present("other.example")
    url = server.url("localhost", sslmode="verify-full", sslrootcert=server.authority.file)
    options = ("--data", tmp_path / "data", "--port", 0, "--set", f"store.url={url}")
    done = run_here("serve", SITE, *options)
    assert done.code != 0
    assert "certificate is for another name" in done.err
    assert "Traceback" not in done.err


# --- client certificates ----------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["", "verify-full"])
async def test_a_client_certificate_is_shown(server: TlsServer, named: None, mode: str) -> None:
    server.present(NAME, access=CLIENT_CERTIFICATE)
    url = server.url(NAME, sslrootcert=server.authority.file) + (mode and f"&sslmode={mode}")
    told = await failure(url)
    assert "wants a client certificate" in told
    assert "sslcert" in told
    certificate, key = server.authority.sign("desk")
    assert await failure(f"{url}&sslcert={certificate}&sslkey={key}") == ""
    certificate, key = server.authority.sign("another")
    assert await failure(f"{url}&sslcert={certificate}&sslkey={key}") != ""


async def test_a_client_certificate_is_shown_where_the_machine_trusts_the_authority(
    server: TlsServer, named: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(server.authority.file))
    server.present(NAME, access=CLIENT_CERTIFICATE)
    certificate, key = server.authority.sign("desk")
    shown = {"sslcert": certificate, "sslkey": key}
    assert await failure(server.url(NAME, **shown)) == ""
    assert await failure(server.url(NAME, sslrootcert="system", **shown)) == ""
    told = await failure(server.url(NAME, sslcert=f"{certificate}.none"))
    assert "cannot be read" in told


# --- the modes, as PostgreSQL's own client has them -------------------------------------------

MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
WITHOUT_PROOF = ("allow", "prefer")
"""libpq verifies in these if it has an authority, and falls back to no TLS; the desk does not."""
SERVERS = {
    "no TLS": ((), 1, OPEN),
    "TLS": (("localhost",), 1, OPEN),
    "TLS only": (("localhost",), 1, TLS_ONLY),
    "another name": (("other.example",), 1, TLS_ONLY),
    "expired": (("localhost",), -1, TLS_ONLY),
}


@pytest.mark.parametrize("kind", SERVERS)
async def test_each_mode_lets_through_what_it_does_for_libpq(
    server: TlsServer, kind: str, tmp_path: Path
) -> None:
    names, days, access = SERVERS[kind]
    server.present(*names, days=days, access=access)
    here, by_libpq = {}, {}
    for mode in MODES:
        for root in (server.authority.file, server.other.file, None):
            if root is not None and mode in WITHOUT_PROOF:
                continue
            given = {"sslmode": mode} if root is None else {"sslmode": mode, "sslrootcert": root}
            url = server.url("localhost", **given)
            case = f"{mode} {root and root.stem}"
            here[case] = await failure(url) == ""
            by_libpq[case] = server.cluster.query_by_libpq(url, {"HOME": str(tmp_path)})
    assert here == by_libpq
    assert len(set(here.values())) == 2


async def test_a_mode_that_proves_nothing_does_so_with_an_authority_too(server: TlsServer) -> None:
    server.present("other.example", access=TLS_ONLY)
    for mode in WITHOUT_PROOF:
        url = server.url("localhost", sslmode=mode, sslrootcert=server.other.file)
        assert await failure(url) == ""


async def test_a_mode_that_does_not_exist_is_told(server: TlsServer) -> None:
    told = await failure(server.url("localhost", sslmode="verify_all"))
    assert "sslmode" in told
    assert "verify-full" in told


async def test_a_time_to_connect_is_no_parameter_of_the_server(server: TlsServer) -> None:
    server.present()
    assert await failure(server.url("localhost", sslmode="disable", connect_timeout=3)) == ""
    told = await failure(server.url("localhost", connect_timeout="soon"))
    assert "connect_timeout takes whole seconds" in told
