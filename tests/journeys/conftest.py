"""Fixtures of the journeys."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from aitp_desk.visitor.fetcher import Fetcher
from tests.support.browser.chromium import OpenBrowser, browsing
from tests.support.clients.ahp import Visitor, visiting
from tests.support.clients.openai import sdk
from tests.support.clients.threads import Talker, talking
from tests.support.plugins.message_monitor import Overheard, listen
from tests.support.protocols import error_codes
from tests.support.protocols.error_codes import SentErrors
from tests.support.protocols.visitor import Pauses
from tests.support.sites.boots import write_boots
from tests.support.store.chosen import free_stores

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from playwright.async_api import Expect


@pytest.fixture(scope="session")
def overheard() -> Iterator[Overheard]:
    """The structured messages that desks have sent."""
    with pytest.MonkeyPatch.context() as patch:
        yield listen(patch)


@pytest.fixture(autouse=True)
def all_that_is_sent_validates(overheard: Overheard) -> Iterator[None]:
    """Every journey: no structured message is sent that breaks what is published."""
    yield
    assert overheard.wrong() == []


@pytest.fixture(autouse=True)
def stores_are_used_again(request: pytest.FixtureRequest) -> Iterator[None]:
    """Every journey: the databases of its desks, where a server has them, are free when it ends."""
    yield
    if (folder := request.node.funcargs.get("tmp_path")) is not None:
        free_stores(folder)


@pytest.fixture(scope="session")
def sent_errors() -> Iterator[SentErrors]:
    """The errors that desks have sent."""
    with pytest.MonkeyPatch.context() as patch:
        yield error_codes.listen(patch)


@pytest.fixture(autouse=True)
def all_errors_are_catalogued(sent_errors: SentErrors) -> Iterator[None]:
    """Every journey: no error has a code that docs/protocols/errors.md lacks."""
    yield
    assert sent_errors.unknown() == set()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    """An agent that visits the bookshop of `tests/support/sites`, where nothing is limited.

    One desk serves all tests of a module, which therefore say
    `pytestmark = pytest.mark.asyncio(loop_scope="module")`.
    """
    async with visiting(tmp_path_factory.mktemp("visitor")) as visitor:
        yield visitor


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A caller who uses the Threads API of a bookshop, without a credential; else as `visitor`."""
    async with talking(tmp_path_factory.mktemp("talker")) as talker:
        yield talker


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def owner(talker: Talker) -> Talker:
    """The same with an API key."""
    return await talker.with_key()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client(owner: Talker) -> AsyncIterator[AsyncOpenAI]:
    """The OpenAI SDK with the owner's key."""
    async with sdk(owner) as client:
        yield client


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[OpenBrowser]:
    """Opens fresh contexts of a browser, which all tests with `BROWSER_MARKS` share."""
    async with browsing() as opened:
        yield opened


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def boots_visitor(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Visitor]:
    """An agent that visits a site as `ambiguous_site`; else as `visitor`."""
    folder = tmp_path_factory.mktemp("boots")
    async with visiting(folder / "data", folder=write_boots(folder)) as visitor:
        yield visitor


@pytest.fixture
def ambiguous_site(tmp_path: Path) -> Path:
    """Two pages that answer the same words equally well."""
    return write_boots(tmp_path)


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Visits of a desk and its commands wait for nothing; only how often they do has a limit."""
    defaults = Fetcher.__init__.__kwdefaults__
    assert defaults is not None
    monkeypatch.setitem(defaults, "pause", Pauses())


@pytest.fixture
def expect() -> Expect:
    """Playwright's assertions, which wait for what they assert, also on a busy machine."""
    from playwright.async_api import expect

    expect.set_options(timeout=15_000)
    return expect
