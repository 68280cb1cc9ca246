"""Hooks and health of capabilities: the till of docs/build/capabilities.md tells of its sales."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import aiohttp
import msgspec
import pytest
import pytest_asyncio

from aitp_desk.app.server import open_server
from aitp_desk.capability import (
    Accept,
    Add,
    Audit,
    Capability,
    Delivery,
    Effect,
    Forbidden,
    Health,
    Hook,
    InvalidRequest,
    Keep,
    Part,
    Record,
    Refuse,
    Replace,
    Say,
    Schema,
    Take,
    Verdict,
    Webhook,
    document_of,
)
from aitp_desk.config import load_config
from aitp_desk.testing import Guest, open_desk
from tests.support.clients.threads import Talker, talking
from tests.support.plugins.packages import installed, loyalty

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}
KEY = b"the till's own"
TILL = "/hooks/loyalty/till"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def till(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A party outside the desk with the till's key."""
    package = tmp_path_factory.mktemp("package")
    with (
        pytest.MonkeyPatch.context() as environment,
        installed(package, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}),
    ):
        environment.setenv("TILL_KEY", KEY.decode())
        async with talking(
            tmp_path_factory.mktemp("desk"), "capabilities.loyalty.stamps=10"
        ) as talker:
            yield talker


def signed(body: bytes, key: bytes = KEY) -> list[tuple[str, str]]:
    return [("Till-Signature", hmac.digest(key, body, "sha256").hex())]


def stamps(till: Talker, card: str) -> list[tuple[int]]:
    counted = f"SELECT value FROM capability_counters WHERE key = 'stamps:{card}'"
    return till.rows(counted)


@pytest.mark.slow
async def test_a_sale_counts_once_however_often_it_is_reported(till: Talker) -> None:
    body = json.dumps({"sale": "S-1", "card": "t-1"}).encode()
    told = await asyncio.gather(
        *(till.send("POST", TILL, body, headers=signed(body)) for _ in range(3))
    )
    assert [one.body for one in told] == [{"status": "ok"}] * 3
    assert stamps(till, "t-1") == [(1,)]


@pytest.mark.parametrize("headers", [[], signed(b"other"), signed(b"{}", b"another's key")])
async def test_what_is_not_signed_by_the_till_is_refused(
    till: Talker, headers: list[tuple[str, str]]
) -> None:
    refused = await till.send("POST", TILL, b'{"sale": "S-2", "card": "t-2"}', headers=headers)
    assert refused.status == 401
    assert refused.body["error"]["message"] == "The till signs what it sends: Till-Signature."
    assert stamps(till, "t-2") == []


async def test_other_addresses_and_larger_bodies_are_refused(till: Talker) -> None:
    assert (await till.send("POST", "/hooks/loyalty/other", b"{}")).status == 404
    assert (await till.send("GET", TILL)).status == 405
    assert (await till.send("POST", TILL, b" " * (256 * 1024 + 1))).status == 413


async def test_a_capability_that_is_well_is_not_noted(till: Talker) -> None:
    assert "notes" in (ready := (await till.send("GET", "/ready")).ok)
    assert not any("loyalty" in note for note in ready["notes"])


class Parcel(msgspec.Struct, frozen=True):
    number: str


class Parcels(Capability):
    """A carrier tells of parcels on the threads on which they were asked for."""

    slug = "parcels"

    def schemas(self) -> tuple[Schema, ...]:
        messages = {"track": Parcel, "arrived": Parcel}
        return (Schema(version=1, messages=messages, document=document_of(messages, "Parcels")),)

    def judge(self, part: Part, context: object) -> Verdict:
        return Take((Keep(f"parcel:{part.content.number}", None, expected_version=0),))

    def as_text(self, part: Part) -> str:
        return f"The parcel {part.content.number} has arrived."

    def hooks(self) -> Mapping[str, Hook | Webhook]:
        form = Webhook(self.arrived, "application/x-www-form-urlencoded")
        return {
            "carrier": self.arrived,
            "form": form,
            "astray": self.astray,
            "noting": self.noting,
            "noted": self.noted,
            "first": self.first,
            "faulty": self.faulty,
        }

    def arrived(self, delivery: Delivery) -> Accept | Refuse:
        number = delivery.body.decode().removeprefix("parcel=")
        parcel: Record | None = delivery.record(f"parcel:{number}")
        if parcel is None:
            return Refuse(Forbidden("Nobody waits for this parcel."))
        told: tuple[Effect, ...] = (Say({"arrived": Parcel(number)}), Audit("arrived"))
        return Accept(told, parcel.thread_id)

    def astray(self, delivery: Delivery) -> Accept:
        return Accept((Say("Where is it?"),))

    def noting(self, delivery: Delivery) -> Accept:
        """Notes where a parcel is, and counts how often it is told."""
        number = delivery.body.decode()
        parcel: Record | None = delivery.record(f"parcel:{number}")
        told = f"place:{number}"
        if parcel is None or delivery.record(told) is not None:
            return Accept()
        noted = (Keep(told, "in the hall", 0), Add(f"told:{number}", 1))
        return Accept(noted, parcel.thread_id)

    def noted(self, delivery: Delivery) -> Refuse:
        """Tells what was noted."""
        number = delivery.body.decode()
        place = delivery.record(f"place:{number}")
        assert place is not None
        times = delivery.counter(f"told:{number}")
        return Refuse(InvalidRequest(f"{place.value}, told {times} times."))

    def first(self, delivery: Delivery) -> Accept:
        """Takes it for granted that nothing came before."""
        return Accept((Keep("first", 1, expected_version=0),))

    def faulty(self, delivery: Delivery) -> Accept:
        return Accept((Replace({}),))

    def health(self) -> Health | None:
        return Health("down", "The carrier is on strike.")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def guest() -> AsyncIterator[Guest]:
    settings = "capabilities.parcels={}"
    async with open_desk(settings, capabilities={"parcels": Parcels}) as guest:
        yield guest


async def test_a_hook_has_the_desk_speak_on_the_thread_that_it_is_about(guest: Guest) -> None:
    schema = f"{guest.url}/capabilities/parcels/v1/schema.json"
    thread = await guest.open(schema)
    await guest.say(thread, {"$schema": schema, "track": {"number": "7"}})
    assert (await guest.send("POST", "/hooks/parcels/carrier", 7)).status == 200
    (_, told) = await guest.read(thread)
    assert json.loads(told[0])["arrived"] == {"number": "7"}
    assert (await guest.send("POST", "/hooks/parcels/carrier", 8)).status == 403


async def test_a_hook_takes_what_its_sender_writes_and_nothing_else(guest: Guest) -> None:
    schema = f"{guest.url}/capabilities/parcels/v1/schema.json"
    thread = await guest.open(schema)
    await guest.say(thread, {"$schema": schema, "track": {"number": "9"}})
    form = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
    async with aiohttp.ClientSession(guest.url) as http:
        for path, sent, takes in (
            ("form", JSON, "application/x-www-form-urlencoded"),
            ("carrier", form, "application/json"),
        ):
            async with http.post(f"/hooks/parcels/{path}", data=b"9", headers=sent) as refused:
                told = (await refused.json())["error"]["message"]
            assert (refused.status, told) == (415, f"Send the body with Content-Type: {takes}.")
        async with http.post("/hooks/parcels/form", data=b"parcel=9", headers=form) as taken:
            assert (taken.status, await taken.json()) == (200, {"status": "ok"})
    (_, heard) = await guest.read(thread)
    assert json.loads(heard[0])["arrived"] == {"number": "9"}


async def test_a_hook_speaks_as_the_agent_whose_thread_it_is(tmp_path: Path) -> None:
    for name in ("content", "books"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.md").write_text("# Here\n", "utf-8")
    toml = '[content]\nfolder = "content"\n[capabilities.parcels]\n'
    toml += '[[agents]]\nname = "books"\n[agents.content]\nfolder = "books"\n'
    (tmp_path / "desk.toml").write_text(toml, "utf-8")
    config = load_config(tmp_path, port=0, data=tmp_path / "data")
    beside = {"parcels": Parcels}
    async with (
        open_server(config, capabilities_beside=beside) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        schema = f"{desk.url}/capabilities/parcels/v1/schema.json"
        track = json.dumps({"$schema": schema, "track": {"number": "11"}})
        async with http.post("/books/v1/threads", json={"messages": [track]}) as opened:
            thread = (await opened.json())["id"]
        async with http.post("/hooks/parcels/carrier", data=b"11", headers=JSON) as taken:
            assert taken.status == 200
        async with http.get(f"/books/v1/threads/{thread}/messages?order=asc") as listed:
            _, told = (await listed.json())["data"]
        async with http.get(f"/books/v1/threads/{thread}/actors") as actors:
            own = (await actors.json())["data"][0]["id"]
    assert told["content"] == ["The parcel 11 has arrived."]
    assert told["metadata"]["actor"] == own != desk.url


async def test_a_webhook_for_a_deleted_thread_is_handled_as_if_it_had_come_before(
    guest: Guest,
) -> None:
    schema = f"{guest.url}/capabilities/parcels/v1/schema.json"
    thread = await guest.open(schema)
    await guest.say(thread, {"$schema": schema, "track": {"number": "21"}})
    assert (await guest.send("DELETE", f"/v1/threads/{thread}")).status == 200
    for hook in ("carrier", "noting", "noting"):
        told = await guest.send("POST", f"/hooks/parcels/{hook}", 21)
        assert (told.status, told.body) == (200, {"status": "ok"})
    told = await guest.send("POST", "/hooks/parcels/noted", 21)
    assert told.body["error"]["message"] == "None, told 1 times."


async def test_a_writer_who_is_late_each_time_is_asked_to_send_it_again(guest: Guest) -> None:
    assert (await guest.send("POST", "/hooks/parcels/first", 1)).status == 200
    late = await guest.send("POST", "/hooks/parcels/first", 1)
    assert (late.status, late.body["error"]["code"]) == (409, "precondition_failed")


@pytest.mark.parametrize("name", ["astray", "faulty"])
async def test_what_nobody_can_do_is_a_fault_of_the_hook(guest: Guest, name: str) -> None:
    told = await guest.send("POST", f"/hooks/parcels/{name}", 1)
    assert (told.status, told.body["error"]["code"]) == (500, "internal")


async def test_a_capability_that_is_not_well_is_noted(guest: Guest) -> None:
    ready = await guest.send("GET", "/ready")
    assert "The capability parcels is down: The carrier is on strike." in ready.body["notes"]


@pytest.mark.slow
async def test_without_its_key_the_till_is_degraded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TILL_KEY", raising=False)
    with installed(tmp_path, {"loyalty": loyalty()}, {"loyalty": "loyalty:Loyalty"}):
        async with open_desk("capabilities.loyalty={}") as guest:
            notes = (await guest.send("GET", "/ready")).body["notes"]
            (note,) = [note for note in notes if "loyalty" in note]
            assert note.startswith("The capability loyalty is degraded: Without TILL_KEY")
            refused = await guest.send("POST", TILL, {"sale": "S-3", "card": "t-3"})
            assert refused.status == 401
