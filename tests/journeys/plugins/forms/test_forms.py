"""Forms over HTTP: filled in by a message and in words; the thread is the same, without secrets."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from aitp_data import DataRequests
from aitp_data.encryption import ecies
from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from tests.support.access.jwe import encrypted
from tests.support.clients.event_stream import following
from tests.support.clients.threads import THREADS, Talker
from tests.support.desk.server import SITE
from tests.support.doubles.agent import ScriptedAgent
from tests.support.doubles.website import website
from tests.support.plugins import seller as selling
from tests.support.plugins.forms import ADDRESS, CARD, MAIL, PAYING, PUBLISHED, upstream_errors
from tests.support.plugins.seller import SELLER, said
from tests.support.store.secret_search import bytes_below, found_in

pytestmark = pytest.mark.asyncio(loop_scope="module")

SLUG = "aitp.dev/data"
BARE = "4242424242424242"
SETTINGS = ("capabilities.data={}", "limits.enabled=false", "egress.allow_loopback=true")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def desk(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    """A desk at which data is enabled."""
    data = tmp_path_factory.mktemp("desk") / "data"
    config = load_config(SITE, SETTINGS, port=0, data=data)
    beside = {"data": DataRequests}
    async with (
        open_server(config, agent=ScriptedAgent(), capabilities_beside=beside) as serving,
        aiohttp.ClientSession(serving.url) as http,
    ):
        yield Talker(serving, data, http)


def part(schema: str = SLUG, **message: Any) -> str:
    return selling.part_of(schema, message)


together = partial(selling.together, SLUG)


async def ask(seller: Talker, thread: str, request: Mapping[str, Any]) -> None:
    await selling.ask(seller, thread, SLUG, {"request_data": request})


FIELDS = [
    {"id": "name", "value": "Ada"},
    {"id": "street", "value": "1 Long Lane"},
    {"id": "zip", "value": "10115"},
    {"id": "speed", "value": "Standard"},
    {"id": "count", "value": "1"},
]
LINES = "Name: Ada\nStreet: 1 Long Lane\nPostal code: 10115"


@pytest.mark.requirement("AITP-capabilities-5")
async def test_a_message_and_words_fill_in_the_same_form_and_read_the_same(desk: Talker) -> None:
    read = []
    for schemas, answer in (((SLUG,), part(data={"fields": FIELDS})), ((), LINES)):
        seller, guest, thread = await together(desk, *schemas)
        await ask(seller, thread, ADDRESS)
        ((asked,),) = await said(guest, thread)
        if schemas:
            assert json.loads(asked)["request_data"] == ADDRESS
        else:
            assert asked.startswith("Where shall it go?\nWe send it the same day.\n- Name\n")
        answered = await guest.post(thread, answer, wait=5, metadata={"actor": "guest"})
        assert answered.ok["run"] is None, "the seller has asked, not the desk"
        (_, given) = await said(seller, thread)
        message = json.loads(given[-1])
        assert upstream_errors(message) == []
        read.append(message["data"])
    structured, in_words = read
    assert structured == in_words
    assert [one["label"] for one in structured["fields"]][:2] == ["Name", "Street"]


async def test_the_desk_declares_and_serves_the_schema_and_its_keys(desk: Talker) -> None:
    async with desk.http.get("/capabilities/data/v1/schema.json") as response:
        assert (await response.json(content_type=None))["title"] == "AITP-03: data"
    async with desk.http.get("/capabilities/data/jwks.json") as response:
        keys = (await response.json(content_type=None))["keys"]
    assert [key["crv"] for key in keys] == ["X25519", "P-256"]
    assert not any("d" in key for key in keys)
    actors = (await desk.send("GET", f"{THREADS}/{(await desk.open()).id}/actors")).ok["data"]
    assert {"schema": PUBLISHED} in actors[0]["capabilities"]


@pytest.mark.parametrize(
    "schema",
    [
        SLUG,
        PUBLISHED,
        "https://aitp.dev/v1/data.schema.json",
        "https://aitp.dev/v1/data/schema.json",
        "https://aitp.dev/v1/data-request/schema.json",
    ],
)
async def test_every_published_address_is_understood(desk: Talker, schema: str) -> None:
    told = await desk.post((await desk.open()).id, part(schema, data={"fields": []}))
    assert told.refusal == (400, "invalid_request", "content[0].data.fields")


async def test_a_reply_that_does_not_fit_is_refused_and_can_be_corrected(desk: Talker) -> None:
    seller, guest, thread = await together(desk, SLUG)
    await ask(seller, thread, MAIL)
    wrong = await guest.post(thread, part(data={"fields": [{"id": "mail", "value": "ada"}]}))
    assert wrong.refusal == (400, "invalid_request", "data.fields[0].value")
    right = part(data={"fields": [{"id": "mail", "value": "ada@example.com"}]})
    assert (await guest.post(thread, right)).status == 200


async def test_words_that_do_not_fit_are_answered_on_the_thread(desk: Talker) -> None:
    seller, guest, thread = await together(desk)
    await ask(seller, thread, ADDRESS)
    told = await guest.post(thread, LINES.replace("10115", "10115!"), wait=5)
    assert told.ok["run"] is None
    assert (await said(guest, thread))[-1][0].startswith("“Postal code” must be a postal code")
    assert (await guest.post(thread, LINES, wait=5)).ok["run"] is None
    assert json.loads((await said(seller, thread))[-1][-1])["data"]["fields"][2]["value"] == "10115"


async def test_a_form_is_fetched_where_it_is_and_said_on_the_thread(desk: Talker) -> None:
    async with website() as site:
        site.put("/form.json", json.dumps(MAIL["form"]), type="application/json")
        seller, guest, thread = await together(desk)
        await ask(seller, thread, MAIL | {"form": {"json_url": f"{site.url}/form.json"}})
        words = "Where do we write to?\n- mail\nReply with the value alone, or with “mail: …”."
        async with following(guest, thread, headers=[("Last-Event-ID", "0")]) as listener:
            for _ in range(2):
                await listener.until_named("message.created")
        assert (await said(guest, thread))[-1] == [words]
        assert (await guest.post(thread, "ada@example.com", wait=5)).ok["run"] is None
        given = json.loads((await said(seller, thread))[-1][-1])
        assert given["data"]["fields"][0]["value"] == "ada@example.com"


async def test_an_unavailable_form_is_reported(desk: Talker) -> None:
    seller, guest, thread = await together(desk)
    await ask(seller, thread, MAIL | {"form": {"json_url": "http://10.0.0.1/form.json"}})
    async with following(guest, thread, headers=[("Last-Event-ID", "0")]) as listener:
        for _ in range(2):
            await listener.until_named("message.created")
    (told,) = (await said(guest, thread))[-1]
    assert told.startswith("The form of “Where do we write to?” could not be fetched.")


async def given_in_words(guest: Talker, thread: str) -> None:
    told = await guest.post(thread, f"Card number: {CARD}\nName: Ada", wait=5)
    assert told.ok["content"] == ["Filled in:\nName: Ada\nCard number: (sealed)"]


async def given_in_a_message(guest: Talker, thread: str) -> None:
    fields = [{"id": "card", "value": CARD}, {"id": "holder", "value": "Ada"}]
    assert (await guest.post(thread, part(data={"fields": fields}))).status == 200


async def given_as_jwe(guest: Talker, thread: str) -> None:
    async with guest.http.get("/capabilities/data/jwks.json") as response:
        jwk, _ = (await response.json(content_type=None))["keys"]
    fields = [{"id": "card", "value": encrypted(CARD, jwk)}]
    assert (await guest.post(thread, part(data={"fields": fields}))).status == 200


async def given_in_the_drafts_form(guest: Talker, thread: str) -> None:
    asked = json.loads((await said(guest, thread))[0][0])
    (field,) = [one for one in asked["request_data"]["form"]["fields"] if one["id"] == "card"]
    made = ecies.encrypt(CARD, "card", field["encryption"]["publicKey"])
    given = {
        "id": "card",
        "value": made.value,
        "encryption": {
            "algorithm": made.encryption.algorithm,
            "ephemeralPublicKey": made.encryption.ephemeral_public_key,
            "mac": made.encryption.mac,
            "iv": made.encryption.iv,
        },
    }
    assert (await guest.post(thread, part(data={"fields": [given]}))).status == 200


async def given_too_late(guest: Talker, thread: str) -> None:
    fields = [{"id": "card", "value": "4000 0566 5566 5556"}]
    assert (await guest.post(thread, part(data={"fields": fields}))).status == 200
    told = await guest.post(
        thread, part(data={"request_data_id": "paying", "fields": [{"id": "card", "value": CARD}]})
    )
    assert told.status == 200


async def given_to_nobody(guest: Talker, thread: str) -> None:
    fields = [{"id": "card", "value": CARD}]
    told = await guest.post(thread, part(data={"request_data_id": "none", "fields": fields}))
    assert told.status == 200


async def given_wrong_in_words(guest: Talker, thread: str) -> None:
    told = await guest.post(thread, f"Card number: {CARD}\nExpires: 13/29", wait=5)
    filled_in = "Filled in:\nCard number: (sealed)\nExpires: (sealed)"
    assert told.ok["content"] == [f"Rejected. {filled_in}"]


async def given_in_words_of_a_session(guest: Talker, _thread: str) -> None:
    actors = [{"id": "guest"}, {"id": SELLER, "capabilities": [{"schema": SLUG}]}]
    session = (await guest.open(metadata={"actors": actors})).id
    await ask(guest, session, PAYING)
    body = {"ahp": "0.1", "capability": "content_search", "session_id": session}

    async def turn(query: str) -> Any:
        told = (await guest.send("POST", "/agent/converse", body | {"query": query})).ok
        assert CARD not in json.dumps(told)
        return told

    await turn(f"Card number: {CARD}\nExpires: 13/29")
    told = await turn(f"Card number: {CARD}\nName: Ada")
    assert told["response"]["answer"] == "Filled in:\nName: Ada\nCard number: (sealed)"
    await turn("What did I say?")


async def given_in_words_of_a_run(guest: Talker, thread: str) -> None:
    words = [f"Card number: {CARD}\nName: Ada", "Thanks a lot"]
    said = [{"role": "user", "content": one} for one in words]
    body = {"assistant_id": "desk", "additional_messages": said}
    assert (await guest.send("POST", f"{THREADS}/{thread}/runs", body)).status == 200
    assert "Card number: (sealed)" in json.dumps((await guest.messages(thread)).body)


async def given_in_words_by_another_name(guest: Talker, thread: str) -> None:
    assert guest.key is not None
    also = {"id": "assistant-of-guest", "principal": f"key:{guest.key.split('_')[1]}"}
    asked = PAYING | {"id": "named", "actor": "guest"}
    desk = guest.without_key()
    operator = await desk.with_key("operator", "threads")
    assert (await operator.send("POST", f"{THREADS}/{thread}/actors", also)).status == 200
    assert (await operator.post(thread, part(request_data=asked))).status == 200
    told = await guest.post(thread, f"Card number: {CARD}", metadata={"actor": also["id"]})
    assert told.ok["content"] == ["Filled in:\nCard number: (sealed)"]


WAYS = [
    given_in_words_of_a_run,
    given_in_words_by_another_name,
    given_in_words_of_a_session,
    given_in_words,
    given_in_a_message,
    given_as_jwe,
    given_in_the_drafts_form,
    given_too_late,
    given_to_nobody,
    given_wrong_in_words,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_a_planted_card_stands_nowhere(
    way: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    data = tmp_path / "data"
    agent = ScriptedAgent()
    config = load_config(SITE, SETTINGS, port=0, data=data)
    beside = {"data": DataRequests}
    async with (
        open_server(config, agent=agent, capabilities_beside=beside) as serving,
        aiohttp.ClientSession(serving.url) as http,
    ):
        desk = Talker(serving, data, http)
        is_in_words = "words" in way.__name__
        seller, guest, thread = await together(desk, *(() if is_in_words else (SLUG,)))
        await ask(seller, thread, PAYING)
        await way(guest, thread)
        stream = io.BytesIO()
        for who in (seller, guest):
            stream.write(json.dumps(await said(who, thread)).encode())
        async with http.get("/metrics") as response:
            stream.write(await response.read())
        places = {
            "threads and metrics": stream.getvalue(),
            "log": caplog.text.encode(),
            **bytes_below(data),
        }
        assert found_in(places, (CARD, BARE)) == set()
    assert found_in(bytes_below(data), (CARD, BARE)) == set()


async def test_a_person_of_the_site_asks_an_anonymous_visitor_who_answers_in_the_session(
    desk: Talker,
) -> None:
    body = {"ahp": "0.1", "capability": "content_search", "query": "Hello"}
    first = (await desk.send("POST", "/agent/converse", body)).ok
    thread = await desk.thread_of(first["session_id"])
    operator = await desk.with_key("operator", "threads")
    assert (await operator.post(thread, part(request_data=PAYING))).status == 200
    body |= {"session_id": first["session_id"], "query": f"Card number: {CARD}\nName: Ada"}
    told = (await desk.send("POST", "/agent/converse", body)).ok
    assert CARD not in json.dumps(told)
    read = await said(operator, thread)
    assert ["Filled in:\nName: Ada\nCard number: (sealed)"] in read
    assert CARD not in json.dumps(read)
