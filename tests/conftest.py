"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import importlib
import logging
import os
import sys
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests.support.specs.folder import find_shared_folder

if TYPE_CHECKING:
    from aitp_desk.app.server import RunningServer
    from aitp_desk.store.valkey import ValkeyServer
    from tests.support.servers.pgbouncer import Pooler
    from tests.support.store.postgres import PostgresServer
    from tests.support.store.s3_process import S3Process
    from tests.support.store.valkey_process import ValkeyProcess

# the same examples in every run, however slow the machine is; more of them where minutes are there
_EXAMPLES = int(os.environ.get("AITP_DESK_EXAMPLES", "15"))
settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    max_examples=_EXAMPLES,
    suppress_health_check=[HealthCheck.too_slow],  # a busy machine is no fault
)
settings.load_profile("suite")

# what a fault looks like in colours, with all its variables, takes longer than most tests
structlog.configure(
    [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback),
    ],
    # not to `sys.stdout`: that is a command's while one runs in a thread next to a desk
    logger_factory=structlog.PrintLoggerFactory(sys.__stderr__),
)

# no test may ask a model that is paid for
for _name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
    os.environ.pop(_name, None)

# nor load one where no test asks for it: the models of the extra `semantic` take seconds
os.environ["AITP_DESK_MEANING"] = "off"

_RECURSION_LIMIT = sys.getrecursionlimit()


def _import_share(config: pytest.Config) -> None:
    """Import a share of the test modules, so that of several workers one alone compiles each.

    All workers import all of them, in the same order, and would compile all of them in a clone that
    is new. What cannot be imported is reported when it is collected.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None or config.args != config.getini("testpaths"):
        return
    here, number = Path(__file__).parent, int(worker["workerid"].removeprefix("gw"))
    for file in sorted(here.rglob("test_*.py"))[number :: worker["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):
            importlib.import_module(".".join(file.relative_to(here.parent).with_suffix("").parts))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keep the garbage collector from walking all test modules again and again.

    What a collection reads stays, so it runs without one. Later a serving desk is set in the same
    way; here a test's objects rarely outlive it, so ten times as many may come together.
    """
    gc.disable()
    try:
        _import_share(session.config)
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(50_000)


@pytest.fixture(autouse=True)
def _logs_as_before() -> Iterator[None]:
    """Undo what a command has set up to be logged in this process."""
    root = logging.getLogger()
    configured, level, handlers = structlog.get_config(), root.level, root.handlers[:]
    yield
    structlog.configure(**configured)
    root.setLevel(level)
    root.handlers[:] = [handler for handler in root.handlers if handler in handlers]


def pytest_runtest_setup() -> None:
    """Have each test run in the usual depth: a library for coins raises it as it is imported."""
    sys.setrecursionlimit(_RECURSION_LIMIT)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of outside reference data; skips or fails as `find_shared_folder` says."""
    return find_shared_folder(os.environ.get("AITP_DESK_SHARED"))


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, started when a test first asks for it."""
    from tests.support.store.postgres import postgres_server

    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def pgbouncer(postgres: PostgresServer) -> Iterator[Pooler]:
    """PgBouncer in front of that server, in transaction mode."""
    from tests.support.servers.pgbouncer import pooler

    with pooler(postgres.url()) as running:
        yield running


@pytest.fixture
def valkey_process(tmp_path: Path) -> Iterator[ValkeyProcess]:
    """A Redis server of the test's own."""
    from tests.support.store.valkey_process import valkey_process

    with valkey_process(tmp_path) as running:
        yield running


@pytest.fixture
async def valkey(valkey_process: ValkeyProcess) -> AsyncIterator[ValkeyServer]:
    """The desk's side of that server."""
    from aitp_desk.store.valkey import open_valkey

    async with open_valkey(valkey_process.url, None) as opened:
        assert opened is not None
        yield opened


@pytest.fixture
def s3_server(tmp_path: Path) -> Iterator[S3Process]:
    """An S3 server of the test's own."""
    from tests.support.store.s3_process import s3_process

    with s3_process(tmp_path / "objects") as running:
        yield running


@pytest.fixture
async def served_desk(tmp_path: Path) -> AsyncIterator[RunningServer]:
    """A desk for the bookshop of `tests/support/sites`, without limits; its address is `.url`."""
    from tests.support.desk.server import serving

    async with serving(tmp_path / "data") as desk:
        yield desk


@pytest.fixture
async def web(served_desk: RunningServer) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client whose addresses are those of `served_desk`."""
    async with aiohttp.ClientSession(served_desk.url) as session:
        yield session
