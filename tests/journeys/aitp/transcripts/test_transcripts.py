"""The transcript of a thread over HTTP: who gets it, what is in it, and who else has signed it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.agent.base import Answer, Turn
from aitp_desk.auth.keys.transcript_keys import read_keys
from aitp_desk.auth.keys.transcripts import TranscriptCheck, check_transcript, read_transcript
from aitp_desk.cli import main
from aitp_desk.model.access.principal import make_anonymous
from aitp_desk.model.conversation.transcript import KEYS_PATH, MAX_COUNTERSIGNATURES
from aitp_desk.store.base import StoreError
from tests.support.access.transcript_signer import HEAD_TYPE, base64url, sign_head
from tests.support.clients.threads import DATABASE, THREADS, Talker, Told, talking
from tests.support.doubles.agent import Clock, ScriptedAgent

pytestmark = pytest.mark.asyncio(loop_scope="module")

MANUAL = [("OpenAI-Beta", "assistants=v2")]
HAC = "application/vnd.hac+json"


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    folder = tmp_path_factory.mktemp("transcripts")
    async with talking(folder, "files.anonymous=true", agent=ScriptedAgent()) as talker:
        yield talker


async def transcript(who: Talker, thread_id: str, query: str = "", **headers: str) -> Told:
    path = f"{THREADS}/{thread_id}/transcript{query}"
    return await who.send("GET", path, headers=headers.items())


async def sign(who: Talker, thread_id: str, signed: Any) -> Told:
    return await who.send("POST", f"{THREADS}/{thread_id}/transcript/signatures", signed)


async def checked(who: Talker, thread_id: str, query: str = "") -> TranscriptCheck:
    """The transcript as it was sent, checked with the keys as they are published."""
    async with who.http.get(KEYS_PATH) as answer:
        keys = read_keys(await answer.read())
    path = f"{THREADS}/{thread_id}/transcript{query}"
    async with who.http.get(path, headers=who.credentials) as answer:
        assert answer.status == 200
        return check_transcript(read_transcript(await answer.read()), keys)


async def test_a_transcript_tells_all_that_was_said_and_proves_it(talker: Talker) -> None:
    file = (await talker.upload()).id
    opened = await talker.open("Ünïcödé — 漢字 🙂", actors=["alice"], wait=10)
    await talker.post(opened.id, ["Two", "parts"], attachments=[{"file_id": file}], wait=10)
    read = (await transcript(talker, opened.id)).ok
    assert read.keys() == {"statement", "signature", "messages"}
    assert [one["content"] for one in read["messages"]][::2] == [
        ["Ünïcödé — 漢字 🙂"],
        ["Two", "parts"],
    ]
    assert read["messages"][2]["attachments"] == [{"file_id": file, "tools": []}]
    head = read["statement"]["head"]
    assert (head["site"], head["thread"], head["seq"]) == (talker.desk.url, opened.id, 4)
    assert read["statement"]["keys"] == f"{talker.desk.url}{KEYS_PATH}"
    assert (await checked(talker, opened.id)).wrong == ()


async def test_an_empty_thread_and_a_long_one_have_transcripts(talker: Talker) -> None:
    empty = (await talker.open(headers=MANUAL)).id
    assert (await transcript(talker, empty)).ok["messages"] == []
    assert (await checked(talker, empty)).wrong == ()
    long = (await talker.open(*(f"Number {n}" for n in range(100)), headers=MANUAL)).id
    found = await checked(talker, long)
    assert (found.wrong, len(found.document.messages)) == ((), 100)


async def test_the_first_turn_of_a_session_has_one_too(talker: Talker) -> None:
    asked = {"ahp": "0.1", "capability": "site_info", "query": "When are you open?"}
    turn = (await talker.send("POST", "/agent/converse", asked)).ok
    found = await checked(talker, turn["session_id"])
    assert found.wrong == ()
    assert len(found.document.messages) == 2


async def test_a_part_is_proven_as_the_whole_is(talker: Talker) -> None:
    thread = (await talker.open("One", "Two", "Three", headers=MANUAL)).id
    whole, part = await checked(talker, thread), await checked(talker, thread, "?seq=2")
    assert part.wrong == ()
    assert part.document.messages == whole.document.messages[:2]
    for query in ("?seq=4", "?seq=-1", "?seq=x", "?seq=" + "9" * 30):
        refused = await transcript(talker, thread, query)
        assert refused.refusal == (400, "invalid_request", "seq")


async def test_what_is_erased_leaves_a_tombstone_and_the_proof_holds(talker: Talker) -> None:
    thread = (await talker.open("One", "My secret", "Three", headers=MANUAL)).id
    second = (await talker.messages(thread, "?order=asc")).ok["data"][1]["id"]
    before = await checked(talker, thread)
    assert (await talker.send("DELETE", f"{THREADS}/{thread}/messages/{second}")).status == 200
    after = await transcript(talker, thread)
    erased = after.ok["messages"][1]
    assert erased.keys() == {"object", "seq", "digest", "link"}
    assert "secret" not in str(after.body)
    found = await checked(talker, thread)
    assert (found.wrong, found.erased) == ((), 1)
    assert found.document.statement.head == before.document.statement.head


async def test_what_is_erased_while_it_is_written_breaks_it_off(talker: Talker) -> None:
    thread = (await talker.open(*(f"Number {n}" for n in range(50)), headers=MANUAL)).id
    last = (await talker.messages(thread)).ok["data"][0]["id"]
    visitor = make_anonymous("127.0.0.1")
    pieces = (await talker.desk.desk.transcripts.read_transcript(visitor, thread, None)).pieces()
    assert b'"erased":[]' in await anext(pieces)
    await anext(pieces)
    assert (await talker.send("DELETE", f"{THREADS}/{thread}/messages/{last}")).status == 200
    with pytest.raises(StoreError, match="ask for it again"):
        assert [piece async for piece in pieces]
    found = await checked(talker, thread)
    assert (found.wrong, found.document.statement.erased) == ((), (50,))


async def test_only_who_may_read_a_thread_gets_its_transcript(talker: Talker) -> None:
    aya, ben = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await aya.open("Mine", headers=MANUAL)).id
    for who in (ben, talker.without_key()):
        assert (await transcript(who, thread)).refusal == (404, "thread_not_found", "thread_id")
        refused = await sign(who, thread, {"seq": 1, "jws": "x"})
        assert refused.refusal == (404, "thread_not_found", "thread_id")
    shared = await aya.send("POST", f"{THREADS}/{thread}/grants", {"link": True, "may": "read"})
    reader = talker.with_link(shared.ok["secret"])
    found = await checked(reader, thread)
    assert found.wrong == ()
    signed = sign_head((await transcript(reader, thread)).ok["statement"]["head"], new_key())
    assert (await sign(reader, thread, signed)).refusal[:2] == (403, "forbidden")


async def test_who_has_left_gets_what_was_said_up_to_then(talker: Talker) -> None:
    aya, dora = await talker.with_key("threads"), await talker.with_key("threads")
    thread = (await aya.open("Before", headers=MANUAL)).id
    path = f"{THREADS}/{thread}/actors"
    name = f"key:{dora.key.split('_')[1]}" if dora.key else ""
    assert (await aya.send("POST", path, {"id": "dora", "principal": name})).status == 200
    assert (await dora.send("DELETE", f"{path}/dora")).status == 200
    await aya.post(thread, "Behind her back", headers=MANUAL)
    found = await checked(dora, thread)
    assert found.wrong == ()
    assert [one.seq for one in found.document.messages] == [1]
    assert len((await checked(aya, thread)).document.messages) == 2


async def test_the_same_transcript_is_not_sent_again(talker: Talker) -> None:
    thread = (await talker.open("One", headers=MANUAL)).id
    first = await transcript(talker, thread)
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    headers = {"If-None-Match": tag}
    async with talker.http.get(f"{THREADS}/{thread}/transcript", headers=headers) as answer:
        assert (answer.status, await answer.read()) == (304, b"")
    await talker.post(thread, "Two", headers=MANUAL)
    assert (await transcript(talker, thread, **headers)).headers["ETag"] != tag
    async with talker.http.head(f"{THREADS}/{thread}/transcript") as answer:
        assert (answer.status, await answer.read()) == (200, b"")


async def test_agents_are_told_what_it_is_and_what_may_be_done(talker: Talker) -> None:
    thread = (await talker.open("One", headers=MANUAL)).id
    path = f"{THREADS}/{thread}/transcript"
    async with talker.http.get(path, headers={"Accept": HAC}) as answer:
        assert answer.content_type == HAC
        told, tag = await answer.json(content_type=None), answer.headers["ETag"]
    assert told["data"]["messages"][0]["content"] == ["One"]
    assert [action["rel"] for action in told["_hac"]["actions"]] == ["countersign"]
    assert told["_hac"]["related"][2] == {
        "rel": "keys",
        "href": KEYS_PATH,
        "description": "The keys with which the site signs transcripts.",
    }
    asked = {"Accept": HAC, "If-None-Match": tag}
    async with talker.http.get(path, headers=asked) as answer:
        assert answer.status == 304


def new_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


async def test_another_party_signs_the_head_and_the_transcript_has_it_from_then_on(
    talker: Talker,
) -> None:
    thread = (await talker.open("One", "Two", headers=MANUAL)).id
    before = await transcript(talker, thread)
    head, key = before.ok["statement"]["head"], new_key()
    signed = sign_head(head, key)
    kept = (await sign(talker, thread, signed)).ok
    assert (kept["seq"], kept["link"], kept["actor"]) == (2, head["link"], "visitor")
    assert kept["site"] == head["site"]
    assert (await sign(talker, thread, signed)).ok == kept, "the same once more changes nothing"
    await talker.post(thread, "Three", headers=MANUAL)
    after = await transcript(talker, thread)
    assert after.headers["ETag"] != before.headers["ETag"]
    assert [one["jws"] for one in after.ok["statement"]["countersignatures"]] == [signed["jws"]]
    found = await checked(talker, thread)
    assert (found.wrong, len(found.signers)) == ((), 1)
    assert (await checked(talker, thread, "?seq=1")).signers == ()

    later = sign_head(after.ok["statement"]["head"], key)
    assert (await sign(talker, thread, later)).ok["seq"] == 3
    assert (await sign(talker, thread, signed)).ok["seq"] == 3, "the later head covers the earlier"
    assert len((await checked(talker, thread)).signers) == 1


PRIME = 2**255 - 19
EIGHTH = int.from_bytes(
    bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"
)
WEAK = (0, 1, PRIME - 1, EIGHTH, PRIME - EIGHTH, PRIME, PRIME + 1, 2**255 + 1)
"""Public keys of small order, also as they are not written, and with a sign."""


def signed_by_nobody(y: int) -> dict[str, Any]:
    """A signature with S = 0 and R = 1, which holds for whatever is signed where y is 1."""
    jwk = {"kty": "OKP", "crv": "Ed25519", "x": base64url(y.to_bytes(32, "little"))}
    header = base64url(json.dumps({"alg": "EdDSA", "typ": HEAD_TYPE, "jwk": jwk}).encode())
    signature = base64url((1).to_bytes(64, "little"))
    return {"seq": 2, "jws": f"{header}..{signature}"}


async def test_a_signature_of_anything_else_is_refused(talker: Talker) -> None:
    thread = (await talker.open("One", "Two", headers=MANUAL)).id
    other = (await talker.open("One", "Two", headers=MANUAL)).id
    head = (await transcript(talker, thread)).ok["statement"]["head"]
    elsewhere = (await transcript(talker, other)).ok["statement"]["head"]
    key = new_key()
    good = sign_head(head, key)
    stranger = sign_head(head, new_key())["jws"]
    wrong = [
        sign_head(elsewhere, key),
        sign_head({**head, "site": "https://other.example"}, key),
        {**sign_head({**head, "seq": 1}, key)},
        {**good, "seq": 1},
        {**good, "jws": good["jws"].split("..")[0] + ".." + stranger.split("..")[1]},
        {**good, "jws": good["jws"].replace("..", ".e30.")},
        {**good, "jws": "x" * 2000},
        {**good, "jws": ""},
        sign_head(head, key, typ="at+jwt"),
        sign_head(head, key, alg="none"),
        sign_head(head, key, crit=["b64"]),
        sign_head(head, key, jwk={"kty": "oct", "k": "AAAA"}),
        sign_head(head, key, jwk="AAAA"),
        *(signed_by_nobody(y) for y in WEAK),
    ]
    for signed in wrong:
        assert (await sign(talker, thread, signed)).refusal == (400, "invalid_request", "jws")
    for seq in (0, -1, 3, 2**70, True, "2", None, 1.5):
        refused = await sign(talker, thread, {**good, "seq": seq})
        assert refused.refusal == (400, "invalid_request", "seq"), seq
    for missing in ("seq", "jws"):
        rest = {name: value for name, value in good.items() if name != missing}
        assert (await sign(talker, thread, rest)).refusal[2] == missing
    assert (await checked(talker, thread)).signers == ()


async def test_what_a_model_has_said_is_proven_whatever_it_is(tmp_path: Path) -> None:
    async def say(_turn: Turn) -> Answer:
        return Answer("An end\x00 of a text, \u2028, e\u0301 and \uffff")

    async with talking(tmp_path, agent=ScriptedAgent(say)) as talker:
        thread = (await talker.open("One", wait=10)).id
        found = await checked(talker, thread)
    assert found.wrong == ()
    assert "\\x00" in str(found.document.messages[1])


@pytest.mark.sqlite
async def test_a_key_signs_since_there_is_the_data_key_that_it_comes_from(tmp_path: Path) -> None:
    clock = Clock()
    async with talking(tmp_path, agent=ScriptedAgent(), clock=clock) as talker:
        thread = (await talker.open("One", headers=MANUAL)).id
        clock.advance(86400)
        taken = (await transcript(talker, thread)).body
    with closing(sqlite3.connect(tmp_path / "data" / DATABASE)) as database, database:
        database.execute("DELETE FROM transcript_keys")  # as in a backup of before
    clock.advance(86400)
    async with (
        talking(tmp_path, agent=ScriptedAgent(), clock=clock) as talker,
        talker.http.get(KEYS_PATH) as answer,
    ):
        keys = read_keys(await answer.read())
    assert check_transcript(read_transcript(json.dumps(taken).encode()), keys).wrong == ()


async def test_a_clock_that_was_ahead_and_is_set_right_voids_nothing(tmp_path: Path) -> None:
    clock = Clock(time.time() + 86400)
    async with talking(tmp_path, agent=ScriptedAgent(), clock=clock) as talker:
        thread = (await talker.open("One", headers=MANUAL)).id
        assert (await checked(talker, thread)).wrong == ()
        clock.advance(-2 * 86400)
        assert (await checked(talker, thread)).wrong == ()


async def test_so_many_keys_sign_a_thread_and_no_more(talker: Talker) -> None:
    thread = (await talker.open("One", headers=MANUAL)).id
    head = (await transcript(talker, thread)).ok["statement"]["head"]
    signed = [sign_head(head, new_key()) for _ in range(MAX_COUNTERSIGNATURES + 1)]
    told = await asyncio.gather(*(sign(talker, thread, one) for one in signed))
    assert sorted(one.status for one in told) == [200] * MAX_COUNTERSIGNATURES + [409]
    assert len((await checked(talker, thread)).signers) == MAX_COUNTERSIGNATURES


async def test_a_thread_that_was_deleted_has_no_transcript_and_no_signatures(
    talker: Talker,
) -> None:
    thread = (await talker.open("One", headers=MANUAL)).id
    head = (await transcript(talker, thread)).ok["statement"]["head"]
    assert (await sign(talker, thread, sign_head(head, new_key()))).status == 200
    assert (await talker.send("DELETE", f"{THREADS}/{thread}")).status == 200
    assert (await transcript(talker, thread)).refusal[0] == 404
    count = f"SELECT count(*) FROM countersignatures WHERE thread_id = '{thread}'"
    assert talker.rows(count) == [(0,)]


async def test_a_fork_has_a_separate_chain(talker: Talker) -> None:
    parent = (await talker.open("One", headers=MANUAL)).id
    fork = (await talker.open("Two", metadata={"parent_id": parent}, headers=MANUAL)).id
    found = await checked(talker, fork)
    assert found.wrong == ()
    assert [one.seq for one in found.document.messages] == [1]


async def test_a_holder_of_one_asks_the_site_for_its_keys(talker: Talker, tmp_path: Path) -> None:
    thread = (await talker.open("One", headers=MANUAL)).id
    file = tmp_path / "transcript.json"
    read = (await transcript(talker, thread)).ok
    file.write_text(json.dumps(read))
    command = ["transcript", "verify", str(file)]
    done = await asyncio.to_thread(CliRunner().invoke, main, command)
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"with its keys from {talker.desk.url}{KEYS_PATH}" in done.stdout

    read["statement"]["keys"] = "http://127.0.0.1:9/keys.json"
    file.write_text(json.dumps(read))
    done = await asyncio.to_thread(CliRunner().invoke, main, command)
    assert done.exit_code == 1, "the keys of the site are asked for, and nobody else's"
