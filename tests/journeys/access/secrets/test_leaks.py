"""Secrets are planted by every way in; then every byte that the desk has written is searched.

The site's own code logs, raises and returns what it was given, as it should not.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import sys
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from aitp_data import DataRequests
from aitp_desk.app.server import open_server
from aitp_desk.config import Log, load_config
from aitp_desk.observability.logs import set_up_logs
from aitp_requests import Requests
from tests.support.access.jwe import encrypted
from tests.support.clients.a2a import calling, send, state, tasking
from tests.support.clients.event_stream import following
from tests.support.clients.mcp import tool_user
from tests.support.clients.operator import Operator, browsing
from tests.support.clients.threads import THREADS, Talker
from tests.support.desk.terminal import command
from tests.support.doubles.messages_api import Body, MessagesApi, Say, messages_api, say, use
from tests.support.plugins.sealed_values import NAME, Safe
from tests.support.sites.secrets import heard, newest_form, write_site
from tests.support.store.secret_search import bytes_below, found_in

CONSENT = {"amount": "2.50", "currency": "EUR"}
HAC = [("Accept", "application/vnd.hac+json")]
WAITS = [("Prefer", "wait=10")]
ASKED_OF_MODEL = "Please keep one for by-model."


class Vault:
    """The desk, who uses it, and what was planted.

    Attributes:
        planted: every secret, by the way in.
        told: what callers were answered.
        session: a conversation over AHP.
    """

    def __init__(self, who: Talker, api: MessagesApi, data: Path, log: io.StringIO) -> None:
        self.who = who
        self.api = api
        self.data = data
        self.log = log
        self.planted: dict[str, str] = {}
        self.session = ""
        self.told: list[bytes] = []

    def plant(self, way: str) -> str:
        """A secret of its own for a way in: with what JSON escapes."""
        self.planted[way] = f'Pw-"{len(self.planted):03}"-äöü-{way}'
        return self.planted[way]

    async def send(self, method: str, path: str, body: Any = None, **more: Any) -> Any:
        """Send something; the answer is searched with all else."""
        told = await self.who.send(method, path, body, **more)
        self.told.append(json.dumps(told.body).encode())
        return told

    async def converse(self, capability: str, query: str, **more: Any) -> Any:
        """Say something over AHP."""
        body = {"ahp": "0.1", "capability": capability, "query": query, **more}
        return await self.send("POST", "/agent/converse", body)

    def heard(self) -> list[tuple[str, str]]:
        """What the site's own code was given."""
        return heard(self.data.parent)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The desk's log, down to the smallest."""
    written, stderr, root = io.StringIO(), sys.stderr, logging.getLogger()
    handlers, level = list(root.handlers), root.level
    sys.stderr = written
    set_up_logs(Log(level="debug", format="json"))
    sys.stderr = stderr
    yield written
    root.handlers[:] = handlers
    root.setLevel(level)


def model(body: Body) -> Say:
    """What the model says: the same to all, but where it is to keep something."""
    if ASKED_OF_MODEL in json.dumps(body["messages"][-1]):
        return use("site_keep_password", account="by-model")
    return say("I have heard you.")


@pytest_asyncio.fixture
async def vault(tmp_path_factory: pytest.TempPathFactory, log: io.StringIO) -> AsyncIterator[Vault]:
    """A desk at which all that seals is enabled, with a model that says the same to all."""
    folder = tmp_path_factory.mktemp("vault")
    data, site = folder / "data", write_site(folder)
    config = load_config(site, ("limits.enabled=false",), port=0, data=data)
    beside = {"safe": Safe, "data": DataRequests, "requests": Requests}
    async with (
        messages_api(model) as api,
        open_server(config, environment=api.environment, capabilities_beside=beside) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        who = await Talker(desk, data, http).with_key("threads", "actions")
        yield Vault(who, api, data, log)


async def json_arguments_over_ahp(vault: Vault) -> None:
    secret = vault.plant("ahp")
    given = {"account": "aya", "password": secret}
    told = await vault.converse("keep_password", json.dumps(given))
    assert told.ok["response"]["answer"] == "aya has (sealed).\naya was told (sealed)."
    assert ("aya", secret) in vault.heard()
    session = vault.session = told.ok["session_id"]
    thread = await vault.who.thread_of(session)
    said = await vault.who.texts(thread)
    assert json.loads(said[0]) == {"account": "aya", "password": "(sealed)"}
    # what is reported of the conversation goes to the model
    await vault.converse("site_info", "And what do you keep?", session_id=session)


async def what_fails_repeats_nothing(vault: Vault, name: str) -> None:
    secret = vault.plant(f"ahp {name}")
    told = await vault.converse(name, json.dumps({"password": secret}))
    assert told.status in {400, 500}
    assert "(sealed)" in told.body["message"] or name == "close_with", told.body
    wrong = vault.plant(f"ahp {name} wrong")
    told = await vault.converse(name, json.dumps({"password": [wrong]}))
    assert (told.status, told.body["param"]) == (400, "password")
    assert told.body["message"] == "'password' must be text."


async def what_has_to_be_agreed_to_waits_without_it(vault: Vault) -> None:
    secret = vault.plant("ahp consent")
    given = {"card": secret, "amount": 5}
    asked = (await vault.converse("pay_with", json.dumps(given))).ok
    assert asked["status"] == "clarification_needed"
    assert "card (sealed)" in asked["clarification_question"]
    ((arguments,),) = vault.who.rows("SELECT arguments FROM calls WHERE state = 'waiting_input'")
    assert json.loads(arguments)["card"].keys() == {"sealed"}
    more = {"session_id": asked["session_id"], "clarification": "yes"}
    paid = await vault.converse("pay_with", json.dumps(given), **more)
    assert paid.ok["response"]["answer"] == "Paid 5."
    assert ("card", secret) in vault.heard()


async def words_take_no_secret(vault: Vault) -> None:
    told = await vault.converse("refuse_with", "Refuse it, please.")
    assert told.ok["response"]["answer"] == "I have heard you."


async def arguments_over_http(vault: Vault, door: str) -> None:
    secret = vault.plant(door)
    path = "/capabilities/keep_password"
    body = {"account": door, "password": secret}
    headers = [("Idempotency-Key", f"key-of-{door}-0123456789"), *(HAC if door == "hac" else ())]
    first = await _raw(vault, path, body, headers)
    again = await _raw(vault, path, body, headers)
    assert first == again, "a repeat is told the same"
    assert vault.heard().count((door, secret)) == 1
    other = {**body, "password": vault.plant(f"{door} other")}
    status, told = await _raw(vault, path, other, headers)
    assert status == 409, told


async def _raw(vault: Vault, path: str, body: Any, headers: Any) -> tuple[int, bytes]:
    sent = [*headers, *vault.who.credentials]
    async with vault.who.http.post(path, json=body, headers=sent) as response:
        told = await response.read()
        vault.told.append(told)
        return response.status, told


async def arguments_over_mcp(vault: Vault) -> None:
    alone, talked = vault.plant("mcp"), vault.plant("mcp in a session")
    async with tool_user(vault.who.desk.url, "auto", vault.who.key) as client:
        for secret, session in ((alone, None), (talked, vault.session)):
            given = {"account": "mcp", "password": secret, "session_id": session}
            told = await client.call_tool(
                "keep_password", {name: one for name, one in given.items() if one}
            )
            assert not told.is_error, told
            vault.told.append(repr(told).encode())
    assert [said for said in vault.heard() if said[0] == "mcp"] == [("mcp", alone), ("mcp", talked)]


async def arguments_over_a2a(vault: Vault) -> None:
    secret = vault.plant("a2a")
    async with tasking(vault.who.desk, key=vault.who.key) as client:
        task = await send(client, calling("keep_password", account="a2a", password=secret))
        assert state(task) == "completed"
        vault.told.append(repr(task).encode())
    assert ("a2a", secret) in vault.heard()


async def what_a_person_approves_is_carried_out_with_it(vault: Vault) -> None:
    secret = vault.plant("approval")
    body = {"account": "approved", "password": secret}
    told = await vault.send("POST", "/capabilities/reset_with", body)
    assert told.status == 202, told.body
    operator = await vault.who.with_key("operator")
    async with browsing(vault.who.desk) as anna:
        await anna.sign_in(str(operator.key))
        (ticket,) = (await anna.get("tickets"))["data"]
        shown = await anna.get(f"tickets/{ticket['id']}")
        vault.told.append(json.dumps(shown).encode())
        assert "(sealed)" in shown["about"], shown
        await anna.post(f"tickets/{ticket['id']}/approve")
    async with asyncio.timeout(60):
        while ("approved", secret) not in vault.heard():
            await vault.who.desk.store.settled()


async def messages_of_capabilities_and_words(vault: Vault) -> None:
    who = vault.who
    thread = (await who.open()).id
    message = vault.plant("message")
    code = json.dumps({"$schema": NAME, "code": {"safe": "s-1", "code": message}})
    told = await vault.send(
        "POST", f"{THREADS}/{thread}/messages", {"role": "user", "content": [code]}
    )
    assert told.status == 200
    asked = json.dumps({"$schema": NAME, "ask_code": {"safe": "s-1"}})
    await vault.send("POST", f"{THREADS}/{thread}/messages", {"role": "user", "content": [asked]})
    words = vault.plant("words")
    told = await vault.send(
        "POST", f"{THREADS}/{thread}/messages", {"role": "user", "content": f"code {words}"}
    )
    assert "(sealed)" in told.ok["content"][0]
    await who.post(thread, "What have I told you?", wait=10)


FORM = {
    "id": "account",
    "description": "Whose account?",
    "form": {
        "fields": [
            {"id": "account", "label": "Account"},
            {"id": "password", "label": "Password", "sensitive": True, "required": True},
        ]
    },
}


def data(**message: Any) -> str:
    return json.dumps({"$schema": "aitp.dev/data", **message})


async def what_is_filled_in_to_forms(vault: Vault, way: str) -> None:
    operator = await vault.who.with_key("operator", "threads")
    thread = (await vault.who.open()).id
    assert (await operator.post(thread, data(request_data=FORM))).status == 200
    secret = vault.plant(f"form {way}")
    fields = [{"id": "account", "value": "ben"}, {"id": "password", "value": secret}]
    content = data(data={"request_data_id": "account", "fields": fields})
    if "words" in way:
        content = f"Here it is.\nAccount: ben\nPassword: {secret}"
        content += "x" * 1000 if way == "wrong words" else ""
    if way == "jwe":
        async with vault.who.http.get("/capabilities/data/jwks.json") as response:
            fields[1]["value"] = encrypted(secret, (await response.json())["keys"][0])
        content = data(data={"fields": fields})
    times = 2 if way == "late" else 1
    for _ in range(times):
        body = {"role": "user", "content": content}
        told = await vault.send("POST", f"{THREADS}/{thread}/messages", body, headers=WAITS)
        assert "(sealed)" in told.ok["content"][-1]
    texts = await vault.who.texts(thread)
    last = texts[-1]
    expected = {
        "wrong words": "“Password” must have at most 1000 characters.",
        "late": "“Whose account?” was answered before.",
    }
    assert last.startswith(expected.get(way, "I have heard you."))


async def what_a_model_lacks_is_filled_in_by_a_form(vault: Vault, way: str) -> None:
    who = vault.who
    secret = vault.plant(f"form by {way}")
    told = await who.open({"role": "user", "content": ASKED_OF_MODEL}, wait=10)
    thread = told.id
    form = newest_form(who, thread)
    assert [field["id"] for field in form["form"]["fields"]] == ["password"], form
    answer = f"Password: {secret}"
    if way == "message":
        fields = [{"id": "password", "value": secret}]
        message = {"request_data_id": form["id"], "fields": fields}
        answer = json.dumps({"$schema": "aitp.dev/data", "data": message})
    said = await who.post(thread, [answer], wait=10)
    assert said.status == 200, said.body
    vault.told.append(json.dumps(said.body).encode())
    assert ("by-model", secret) in vault.heard()
    assert (await who.texts(thread))[-1] == "I have heard you."


async def what_operators_see_is_searched_as_well(vault: Vault) -> None:
    operator = await vault.who.with_key("operator", "sensitive")
    async with browsing(vault.who.desk) as anna:
        await anna.sign_in(str(operator.key))
        for path in ("threads?limit=50", "tickets?state=all", "load"):
            vault.told.append(json.dumps(await anna.get(path)).encode())
        await _every_thread(vault, anna)


async def _every_thread(vault: Vault, anna: Operator) -> None:
    for (thread,) in vault.who.rows("SELECT id FROM threads"):
        vault.told.append(json.dumps(await anna.get(f"threads/{thread}")).encode())
        vault.told.append(json.dumps(await anna.get(f"threads/{thread}/messages")).encode())


WAYS = (
    json_arguments_over_ahp,
    partial(what_fails_repeats_nothing, name="close_with"),
    partial(what_fails_repeats_nothing, name="refuse_with"),
    what_has_to_be_agreed_to_waits_without_it,
    words_take_no_secret,
    partial(arguments_over_http, door="plain"),
    partial(arguments_over_http, door="hac"),
    arguments_over_mcp,
    arguments_over_a2a,
    what_a_person_approves_is_carried_out_with_it,
    messages_of_capabilities_and_words,
    partial(what_is_filled_in_to_forms, way="words"),
    partial(what_is_filled_in_to_forms, way="wrong words"),
    partial(what_is_filled_in_to_forms, way="message"),
    partial(what_is_filled_in_to_forms, way="jwe"),
    partial(what_is_filled_in_to_forms, way="late"),
    partial(what_a_model_lacks_is_filled_in_by_a_form, way="words"),
    partial(what_a_model_lacks_is_filled_in_by_a_form, way="message"),
    what_operators_see_is_searched_as_well,
)
"""Every way in, in order; what operators see comes last."""


@pytest.mark.slow
async def test_nothing_that_was_planted_stands_anywhere(vault: Vault, tmp_path: Path) -> None:
    for way in WAYS:
        await way(vault)
    who, store = vault.who, vault.who.desk.store
    await store.settled()
    places = {f"answer {n}": told for n, told in enumerate(vault.told)}
    for (thread,) in who.rows("SELECT id FROM threads"):
        said = [row async for row in _streamed(vault, thread)]
        places[f"stream of {thread}"] = b"\n".join(said)
    for n, body in enumerate(vault.api.requests):
        places[f"prompt {n}"] = json.dumps(body, ensure_ascii=False).encode()
    operator = await who.with_key("operator")
    async with who.http.get("/metrics", headers=operator.credentials) as metrics:
        assert metrics.status == 200
        places["metrics"] = await metrics.read()
    places["log"] = vault.log.getvalue().encode()
    data, backup = vault.data, tmp_path / "backup"
    await asyncio.to_thread(command, "store", "backup", "--data", data, backup)
    log = await asyncio.to_thread(command, "audit", "export", "--data", data)
    places["audit"] = "\n".join(log).encode()
    places |= bytes_below(data, but=["master.key"]) | bytes_below(tmp_path)
    assert any("desk.db-wal" in name for name in places), "the log of the database is searched"
    assert len(vault.planted) > 12
    assert len(vault.api.requests) >= 2, "a model was asked"
    assert b"sealed_" in places["desk.db"] + places["desk.db-wal"]
    assert b"really: (sealed)" in places["log"]
    assert b"cannot close with (sealed)" in places["log"]
    ways = {secret: way for way, secret in vault.planted.items()}
    assert {(name, ways[secret]) for name, secret in found_in(places, ways)} == set()


async def _streamed(vault: Vault, thread: str) -> AsyncIterator[bytes]:
    """Everything that a client receives that follows a thread from its beginning."""
    operator = await vault.who.with_key("operator")
    count = len((await operator.messages(thread, "?limit=100")).ok["data"])
    async with following(operator, thread, headers=[("Last-Event-ID", "0")]) as listener:
        for _ in range(count):
            yield repr(await listener.until_named("message.created")).encode()
