"""A secret that an action lacks is asked for by a form, and is at hand only while the call is made.

No model answers at these desks.
"""

from __future__ import annotations

import asyncio
import io
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from aitp_data import DataRequests
from aitp_desk.app.server import open_server
from aitp_desk.config import load_config
from tests.support.clients.operator import browsing
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.first_start import begin_desk
from tests.support.desk.server import UNLIMITED
from tests.support.doubles.agent import Clock
from tests.support.doubles.openapi_service import FILE, serving_api
from tests.support.plugins.sealed_values import Safe
from tests.support.sites.secrets import heard, newest_form, write_site
from tests.support.store.secret_search import bytes_below, found_in

SLUG = "aitp.dev/data"
WORDS = "refuse it for the account aya, please"
SECRET = "Correct-Horse-1"

SERVICE = """\
openapi: 3.0.3
info: {title: Accounts, version: 1.0.0}
servers: [{url: URL}]
paths:
  /login:
    post:
      operationId: login
      summary: Signs somebody in.
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: {user: {type: string}, password: {type: string, format: password}}
              required: [user, password]
      responses:
        '200':
          description: It.
          content:
            application/json:
              schema: {type: object, properties: {said: {type: string}}}
"""


@asynccontextmanager
async def asking(
    folder: Path,
    *settings: str,
    with_forms: bool = True,
    clock: Callable[[], float] = time.time,
) -> AsyncIterator[Talker]:
    """A desk whose actions lack a password, and a caller who may call them."""
    site, data = write_site(folder), folder / "data"
    toml = "[content]\nfolder = 'content'\n[capabilities.safe]\n"
    toml += "[capabilities.data]\n" if with_forms else ""
    (site / "desk.toml").write_text(toml, "utf-8")
    config = load_config(site, (*UNLIMITED, *settings), port=0, data=data)
    begin_desk(config)
    beside = {"safe": Safe, "data": DataRequests}
    async with (
        open_server(config, clock=clock, capabilities_beside=beside) as desk,
        aiohttp.ClientSession(desk.url) as http,
    ):
        yield await Talker(desk, data, http).with_key("threads", "actions")


async def converse(who: Talker, query: str, **more: Any) -> Any:
    body = {"ahp": "0.1", "capability": "keep_password", "query": query, **more}
    return await who.send("POST", "/agent/converse", body)


def kept(who: Talker) -> list[tuple[Any, ...]]:
    return who.rows("SELECT ref, message_id, call_id FROM sealed_values")


@pytest.mark.parametrize("way", ["words", "message"])
async def test_a_secret_is_asked_for_by_a_form_and_used_once(tmp_path: Path, way: str) -> None:
    async with asking(tmp_path) as who:
        asked = (await converse(who, "keep the password, account is aya")).ok
        assert asked["status"] == "clarification_needed", asked
        session = asked["session_id"]
        thread = await who.thread_of(session)
        form = newest_form(who, thread)
        fields = {field["id"]: field for field in form["form"]["fields"]}
        assert fields["password"]["sensitive"] is True
        given = dict.fromkeys(fields, "aya") | {"password": SECRET}
        if way == "words":
            lines = [f"{fields[one].get('label', one)}: {text}" for one, text in given.items()]
            told = await converse(who, "\n".join(lines), session_id=session)
            done = told.ok
        else:
            answer = {
                "request_data_id": form["id"],
                "fields": [{"id": one, "value": text} for one, text in given.items()],
            }
            message = json.dumps({"$schema": SLUG, "data": answer})
            done = (await converse(who, message, session_id=session)).ok
        assert done["response"]["answer"].splitlines()[0] == "aya has (sealed).", done
        assert heard(tmp_path) == [("aya", SECRET)]
        ((ref, message_id, call_id),) = kept(who)
        assert message_id is not None
        assert call_id is None
        ((arguments,),) = who.rows("SELECT arguments FROM calls")
        assert json.loads(arguments) == {"account": "aya", "password": {"sealed": ref}}
        await who.desk.store.settled()
        told_all = io.StringIO(json.dumps((await who.messages(thread)).ok))
        places = bytes_below(tmp_path / "data", but=["master.key"])
        places["thread"] = told_all.getvalue().encode()
    assert found_in(places, [SECRET]) == set()


async def test_without_a_form_it_is_not_asked_for_in_words(tmp_path: Path) -> None:
    async with asking(tmp_path, with_forms=False) as who:
        for words in ("keep the password, account is aya", f"account is aya, password {SECRET}"):
            told = await converse(who, words)
            assert told.status == 400, told.body
            assert told.body["param"] == "password"
            assert "is not accepted as text" in told.body["message"]
            assert SECRET not in told.body["message"]
        await who.desk.store.settled()
        assert found_in(bytes_below(tmp_path / "data", but=["master.key"]), [SECRET]) == set()


async def test_nobody_uses_what_another_has_given(tmp_path: Path) -> None:
    """A reference means nothing in arguments that a caller writes, on whatever thread."""
    async with asking(tmp_path) as who:
        given = {"account": "aya", "password": SECRET}
        session = (await converse(who, json.dumps(given))).ok["session_id"]
        ((ref, _, call_id),) = kept(who)
        assert call_id is not None
        stolen = {"account": "mallory", "password": {"sealed": ref}}
        mallory = await who.with_key("threads", "actions")
        for other, more in ((mallory, {}), (who, {}), (who, {"session_id": session})):
            told = await converse(other, json.dumps(stolen), **more)
            assert (told.status, told.body["param"]) == (400, "password")
            direct = await other.send("POST", "/capabilities/keep_password", stolen)
            assert direct.status == 400, direct.body
        text = {"account": "mallory", "password": ref}
        assert (await converse(mallory, json.dumps(text))).status == 200
        assert heard(tmp_path) == [("aya", SECRET), ("mallory", ref)], "a text is what it says"


async def test_what_was_erased_meanwhile_is_not_done_without(tmp_path: Path) -> None:
    async with asking(tmp_path) as who:
        given = {"card": SECRET, "amount": 5}
        body = {"ahp": "0.1", "capability": "pay_with", "query": json.dumps(given)}
        asked = (await who.send("POST", "/agent/converse", body)).ok
        thread = await who.thread_of(asked["session_id"])
        ((ref, *_),) = kept(who)
        await who.desk.store.settled()
        await asyncio.to_thread(_drop, tmp_path / "data" / "desk.db", ref)
        body |= {"session_id": asked["session_id"], "clarification": "yes"}
        told = await who.send("POST", "/agent/converse", body)
        assert told.status == 409 or told.body.get("detail") == "precondition_failed", told.body
        assert "Send it again" in told.body["message"]
        assert heard(tmp_path) == []
        assert (await who.send("GET", f"{THREADS}/{thread}")).status == 200


def _drop(database: Path, ref: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM sealed_values WHERE ref = ?", [ref])
        connection.commit()


async def test_an_operation_of_a_service_is_given_what_is_sealed_everywhere_else(
    tmp_path: Path,
) -> None:
    async with serving_api() as service:
        site = tmp_path / "site"
        site.mkdir()
        (site / "index.md").write_text("# Accounts\n\nWe keep accounts.\n", "utf-8")
        (site / "desk.toml").write_text(
            f'[[openapi]]\nfile = "{FILE}"\noperations = ["login"]\n', "utf-8"
        )
        (site / FILE).write_text(SERVICE.replace("URL", f"{service.url}/api"), "utf-8")
        async with talking(tmp_path, site=site) as talker:
            caller = await talker.with_key("actions")
            for echoed, status in (({"said": f"Welcome, {SECRET}"}, 200), ({"e": SECRET}, 422)):
                service.answers(echoed, status)
                body = {"user": "aya", "password": SECRET}
                begun = await caller.send("POST", "/capabilities/login", body)
                assert begun.status == 202, begun.body
                async with asyncio.timeout(60):
                    while True:
                        told = (await caller.send("GET", begun.body["poll"])).body
                        if told["status"] not in {"accepted", "pending"}:
                            break
                assert SECRET not in json.dumps(told)
            assert [json.loads(got.body)["password"] for got in service.got] == [SECRET] * 2
            await talker.desk.store.settled()
            assert len(kept(caller)) == 2
    assert found_in(bytes_below(tmp_path / "data", but=["master.key"]), [SECRET]) == set()


@pytest.mark.slow
async def test_a_call_that_waits_for_approval_keeps_its_secret_over_a_restart(
    tmp_path: Path,
) -> None:
    async with asking(tmp_path) as who:
        body = {"account": "aya", "password": SECRET}
        assert (await who.send("POST", "/capabilities/reset_with", body)).status == 202
    assert found_in(bytes_below(tmp_path / "data", but=["master.key"]), [SECRET]) == set()
    async with asking(tmp_path) as who, browsing(who.desk) as anna:
        await anna.sign_in(str((await who.with_key("operator")).key))
        (ticket,) = (await anna.get("tickets"))["data"]
        await anna.post(f"tickets/{ticket['id']}/approve")
        async with asyncio.timeout(60):
            while not heard(tmp_path):
                await who.desk.store.settled()
        assert heard(tmp_path) == [("aya", SECRET)]


async def test_what_was_sealed_for_a_call_on_no_thread_goes_with_it(tmp_path: Path) -> None:
    clock, kept_for_ever = Clock(), "retention.sealed_days=0"
    async with asking(tmp_path, kept_for_ever, clock=clock) as who:
        body = {"account": "aya", "password": SECRET}
        assert (await who.send("POST", "/capabilities/keep_password", body)).status == 200
        session = (await converse(who, json.dumps(body))).ok["session_id"]
        thread = await who.thread_of(session)
        assert len(kept(who)) == 2
    clock.advance(40 * 24 * 60 * 60)
    async with asking(tmp_path, kept_for_ever, "retention.calls_days=30", clock=clock) as who:
        async with asyncio.timeout(60):
            while len(kept(who)) == 2:
                await who.desk.store.settled()
        assert who.rows("SELECT thread_id FROM sealed_values") == [(thread,)]
