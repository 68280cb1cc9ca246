"""Commands that packages add to aitp-desk: the stamps of docs/build/capabilities.md."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from aitp_desk.capability import Delivery, Effect, Keep, Say, Start
from aitp_desk.cli.extension import have_done, look, own_secret
from tests.support.clients.threads import talking
from tests.support.desk.command import run_here
from tests.support.desk.terminal import command
from tests.support.plugins.packages import installed, loyalty, module_on_the_page

POINTS = {"loyalty": "loyalty:Loyalty"}
COMMANDS = {"stamps": "loyalty_commands:stamps", "serve": "loyalty_commands:stamps"}
TOML = '[site]\nname = "Café"\n[capabilities.loyalty]\n'


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """A folder for a site, while a package is installed that has commands."""
    folder = tmp_path / "package"
    folder.mkdir()
    modules = {
        "loyalty": loyalty(),
        "loyalty_commands": module_on_the_page("loyalty_commands"),
        "strange": "what = 7\n",
    }
    commands = COMMANDS | {"broken": "nowhere:command", "strange": "strange:what"}
    with installed(folder, modules, POINTS, commands):
        yield tmp_path


def site_in(folder: Path) -> Path:
    site = folder / "site"
    (site / "content").mkdir(parents=True)
    (site / "desk.toml").write_text(TOML, encoding="utf-8")
    (site / "content" / "index.md").write_text("# Coffee\n\nEvery day.\n", encoding="utf-8")
    return site


@pytest.mark.slow
async def test_a_command_of_a_package_works_with_and_without_a_serving_desk(
    package: Path,
) -> None:
    data = package / "data"
    async with talking(package, site=site_in(package)) as guest:
        assert await asyncio.to_thread(command, "stamps", "give", "--data", data, "c-1") == []
        collect = {"card": "c-1", "receipt": "r-1"}
        said = {"$schema": "loyalty.example/cards", "collect_stamp": collect}
        told = await guest.post((await guest.open()).id, json.dumps(said))
        assert told.ok
    assert await asyncio.to_thread(command, "stamps", "list", "--data", data) == ["c-1  2"]
    audit = await asyncio.to_thread(command, "audit", "export", "--data", data)
    (noted,) = (row for row in map(json.loads, audit) if row["action"] == "capability.noted")
    assert noted["object"] == "capability:loyalty.given"
    assert noted["principal"].startswith("cli:")


@pytest.mark.slow
def test_commands_of_packages_are_listed_and_the_desks_own_come_first(package: Path) -> None:
    del package
    listed = run_here("stamps", "--help").out
    assert "See and give the stamps" in listed
    assert "See and give" not in run_here("serve", "--help").out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "told"), [("broken", "cannot be imported"), ("strange", "is not a click command")]
)
def test_a_command_that_cannot_be_used_says_so(package: Path, name: str, told: str) -> None:
    done = run_here(name)
    assert done.code == 1
    assert told in done.err
    assert "Traceback" not in done.err
    assert run_here("no-such-command").code == 2


@pytest.mark.slow
def test_without_a_desk_a_command_says_what_is_missing(package: Path) -> None:
    done = run_here("stamps", "give", "--data", package / "nowhere", "c-1")
    assert (done.code, "there is no" in done.err) == (1, True)


def the_same(effects: Sequence[Effect], books: Delivery) -> Sequence[Effect]:
    del books
    return effects


class TestHaveDone:
    """What a command has done is all of it or nothing, and what it looks at is of one moment."""

    @pytest.fixture
    def data(self, package: Path) -> Path:
        async def serve_once() -> None:
            async with talking(package, site=site_in(package)):
                pass

        asyncio.run(serve_once())
        return package / "data"

    @pytest.mark.slow
    def test_many_records_are_listed_by_their_keys(self, data: Path) -> None:
        url = "sqlite:desk.db"
        for start in range(1, 2501, 100):
            numbers = range(start, start + 100)
            many = tuple(Keep(f"k:{n:05}", n, 0, outlives=True) for n in numbers)
            have_done(data, url, "loyalty", partial(the_same, many))
        have_done(data, url, "loyalty", lambda _: [Keep("l", 0, 0, outlives=True)])
        with look(data, url, "loyalty") as looking:
            have_done(data, url, "loyalty", lambda _: [Keep("k:99999", 0, 0, outlives=True)])
            found = list(looking.records("k:"))
        assert [one.value for one in found[:-1]] == list(range(1, 2501))
        with look(data, url, "other") as looking:
            assert list(looking.records("")) == []

    @pytest.mark.slow
    def test_what_was_read_must_be_so_when_it_is_written(self, data: Path) -> None:
        url, seen = "sqlite:desk.db", list[int]()

        def judge(books: Delivery) -> list[Effect]:
            record = books.record("a")
            seen.append(0 if record is None else record.version)
            if len(seen) == 1:
                faster = Thread(target=have_done, args=(data, url, "loyalty", judge))
                faster.start()
                faster.join()
            return [Keep("a", len(seen), seen[-1], outlives=True)]

        have_done(data, url, "loyalty", judge)
        with look(data, url, "loyalty") as looking:
            (kept,) = looking.records("a")
        assert (kept.version, kept.value) == (2, 3)
        assert seen == [0, 0, 1]

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "effect", [Say("hello"), Keep("a", 1, 0), Start("order", "r-1")], ids=["say", "keep", "job"]
    )
    def test_only_what_needs_no_thread_is_done(self, data: Path, effect: Effect) -> None:
        if isinstance(effect, Start):
            have_done(data, "sqlite:desk.db", "loyalty", lambda _: [effect])
            assert "loyalty.order" in command("jobs", "list", "--data", data)[0]
            return
        with pytest.raises(TypeError, match="which commands may not use"):
            have_done(data, "sqlite:desk.db", "loyalty", lambda _: [effect])

    @pytest.mark.slow
    def test_a_secret_is_the_same_each_time_and_nobody_elses(self, data: Path) -> None:
        url = "sqlite:desk.db"
        secret = own_secret(data, url, "loyalty", "a purpose")
        assert secret == own_secret(data, url, "loyalty", "a purpose")
        assert secret != own_secret(data, url, "requests", "a purpose")
        assert len(secret) == 32
