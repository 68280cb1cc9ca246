"""Transcripts at a terminal: written by the owner, checked by each holder; keys come and go."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from aitp_desk.auth.jwt.signing_keys import key_pair
from aitp_desk.auth.keys.transcript_keys import PublishedKey, write_keys
from aitp_desk.auth.keys.transcripts import sign_statement
from aitp_desk.cli import main
from aitp_desk.model.conversation.transcript import Document, Head, Statement
from tests.support.access.transcript_signer import sign_head
from tests.support.clients.threads import THREADS, Talker, talking
from tests.support.desk.command import Done
from tests.support.desk.server import SITE
from tests.support.doubles.agent import ScriptedAgent
from tests.support.store.chosen import name_store

KEYS = "/.well-known/aitp-transcript-keys.json"
MANUAL = [("OpenAI-Beta", "assistants=v2")]
URL = "http://desk.example:8080"


def transcript(*arguments: object) -> Done:
    """Run ``aitp-desk transcript``, or another command where that is named first."""
    named = [str(one) for one in arguments]
    if named[0] != "keys":
        named.insert(0, "transcript")
    done = CliRunner().invoke(main, name_store(named))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


class Written:
    """A thread of a desk that has stopped, its transcript and the published keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.file = folder / "transcript.json"
        self.keys = folder / "keys.json"
        self.thread = ""

    def serve(self) -> None:
        """Serve once, and have the keys as they are published then."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        async with talking(self.folder, f"site.url={URL}", agent=ScriptedAgent()) as talker:
            if not self.thread:
                self.thread = (await talker.open("One", "Two", headers=MANUAL)).id
                await _sign(talker, self.thread)
            async with talker.http.get(KEYS, headers={"Host": "localhost"}) as answer:
                self.keys.write_bytes(await answer.read())

    def export(self, *options: object) -> Done:
        chosen = ("--data", self.data, "--set", f"site.url={URL}", "--to", self.file, *options)
        return transcript("export", SITE, self.thread, *chosen)

    def verify(self, *options: object) -> Done:
        return transcript("verify", self.file, "--keys", self.keys, *options)

    def published(self) -> list[dict[str, Any]]:
        keys: list[dict[str, Any]] = json.loads(self.keys.read_bytes())["keys"]
        return keys


async def _sign(talker: Talker, thread: str) -> None:
    path = f"{THREADS}/{thread}/transcript"
    head = (await talker.send("GET", path)).ok["statement"]["head"]
    signed = sign_head(head, Ed25519PrivateKey.generate())
    assert (await talker.send("POST", f"{path}/signatures", signed)).status == 200


@pytest.fixture
def written(tmp_path: Path) -> Written:
    written = Written(tmp_path)
    written.serve()
    done = written.export()
    assert (done.code, done.err) == (0, "")
    return written


def test_what_is_written_is_for_its_owner_alone_and_is_whole(written: Written) -> None:
    assert written.file.stat().st_mode & 0o077 == 0
    wrote, head = written.export().out.splitlines()
    assert wrote == f"Wrote 2 messages to {written.file}."
    done = written.verify()
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0] == "Unchanged: 2 messages, as signed by the site."
    assert lines[1] == f"site    {URL}, with its keys from {written.keys}"
    assert lines[-1].split() == head.split()
    assert "up to message 2 by the key" in lines[-2]
    told = json.loads(written.verify("--json").out)
    assert (told["whole"], told["wrong"], told["messages"], told["erased"]) == (True, [], 2, 0)
    assert (told["site"], told["thread"]) == (URL, written.thread)
    assert len(told["countersignatures"]) == 1
    assert written.verify("--head", told["head"]).code == 0


@pytest.mark.sqlite
def test_a_file_is_replaced_when_the_new_one_is_whole_or_not_at_all(written: Written) -> None:
    before = written.file.read_bytes()
    written.file.chmod(0o644)
    with closing(sqlite3.connect(written.data / "desk.db")) as database, database:
        database.execute("UPDATE messages SET content = 'no JSON' WHERE seq = 2")
    with pytest.raises(AssertionError, match="malformed"):
        written.export()
    assert written.file.read_bytes() == before
    assert [path.name for path in written.folder.glob("transcript*")] == [written.file.name]
    written.file.unlink()
    (written.folder / "elsewhere").write_bytes(before)
    written.file.symlink_to("elsewhere")
    assert written.export("--seq", 1).code == 0
    assert written.file.is_symlink()
    assert written.file.stat().st_mode & 0o077 == 0
    assert written.verify().out.startswith("Unchanged: 1 message,")


def test_it_is_checked_on_a_pipe(written: Written) -> None:
    chosen = ["transcript", "verify", "-", "--keys", str(written.keys)]
    done = CliRunner().invoke(main, chosen, input=written.file.read_bytes())
    assert (done.exit_code, done.stdout) == (0, written.verify().out)
    assert CliRunner().invoke(main, chosen, input=b"").exit_code == 2


def test_a_part_is_written_and_its_head_is_found_in_the_whole(written: Written) -> None:
    part = written.export("--seq", 1).out.splitlines()[1].removeprefix("head ")
    assert written.verify().out.startswith("Unchanged: 1 message, as")
    written.export()
    assert written.verify("--head", part).code == 0
    other = f"2:{part.removeprefix('1:')}"
    done = written.verify("--head", other)
    assert (done.code, done.err.splitlines()[-1]) == (
        1,
        "- The head that you noted does not match these messages.",
    )
    assert written.export("--seq", 3).code == 1


def test_what_others_have_signed_stands_where_the_site_moves_to_another_address(
    written: Written,
) -> None:
    moved = "https://desk.example.com"
    assert written.export("--set", f"site.url={moved}").code == 0
    done = written.verify()
    assert (done.code, done.err) == (0, "")
    assert f"site    {moved}, with its keys" in done.out
    assert f", as of {URL}, brought by visitor" in done.out
    (signed,) = json.loads(written.verify("--json").out)["countersignatures"]
    assert signed["site"] == URL


@pytest.mark.parametrize(
    "rest", ["/files/7?at=", "/files/7#", "@elsewhere.example", "/x", "?", " "]
)
def test_a_site_is_named_by_its_address_alone_and_not_by_a_page_of_it(
    written: Written, rest: str
) -> None:
    pair = key_pair(b"somebody elses private key, 32 b")
    site = f"https://desk.example{rest}"
    head = Head(site=site, thread="thread_1", seq=0, link="A" * 43, v=1)
    statement = Statement(
        head=head,
        actors=(),
        opened_at=1,
        time=1,
        keys=f"{site}{KEYS}",
        erased=(),
        countersignatures=(),
    )
    forged = Document(statement=statement, signature=sign_statement(pair, statement), messages=())
    written.file.write_bytes(msgspec.json.encode(forged))
    written.keys.write_bytes(write_keys([PublishedKey(pair.id, pair.public, 0)]))
    done = written.verify()
    told = "- The site must be an address without a path, such as https://desk.example.com."
    assert (done.code, done.err.splitlines()[1:]) == (1, [told])


def test_a_change_is_reported_and_exits_with_1(written: Written) -> None:
    text = written.file.read_text()
    written.file.write_text(text.replace('"One"', '"Two"'))
    done = written.verify()
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "This transcript differs from the one that the site signed:",
        "- The content, the author or the time of message 1 was changed.",
    ]
    told = written.verify("--json")
    assert (told.code, json.loads(told.out)["whole"]) == (1, False)


def test_what_cannot_be_told_leaves_with_2(written: Written, tmp_path: Path) -> None:
    nothing = tmp_path / "nothing.json"
    nothing.write_text("{}")
    cases = [
        transcript("verify", nothing, "--keys", written.keys),
        transcript("verify", written.file, "--keys", tmp_path / "none.json"),
        transcript("verify", written.file, "--keys", nothing),
        transcript("verify", written.file, "--keys", "http://127.0.0.1:9/keys.json"),
        written.verify("--head", "2:x"),
    ]
    for done in cases:
        assert done.code == 2
        assert done.out == ""
        assert len(done.err.splitlines()) == 1


def test_a_missing_thread_is_reported(written: Written) -> None:
    written.thread = "thread_nobody"
    done = written.export()
    assert (done.code, done.err) == (1, "There is no thread with this id.\n")


def test_what_a_former_key_has_signed_stays_proven_until_that_is_withdrawn(
    written: Written,
) -> None:
    (first,) = written.published()
    refused = transcript("withdraw-key", "--data", written.data, first["kid"])
    assert (refused.code, refused.err.partition(".")[0]) == (1, "This key still signs")
    assert transcript("keys", "rotate-data", "--data", written.data).code == 0
    written.serve()
    former, present = written.published()
    assert former == {**first, "exp": former["exp"]}
    assert former["nbf"] <= present["nbf"] <= former["exp"]
    assert written.verify().code == 0, "signed with the former key"

    for id_ in ("nobodys", "-nobodys"):
        unknown = transcript("withdraw-key", "--data", written.data, id_)
        assert unknown.code == 1
        assert unknown.err.startswith("No transcript was signed with a key of this id.")
    assert transcript("withdraw-key", "--data", written.data, first["kid"]).code == 0
    written.serve()
    assert written.published()[0]["revoked"]["reason"] == "compromised"
    done = written.verify()
    assert (done.code, done.err.splitlines()[-1]) == (
        1,
        "- The site has withdrawn the key of this signature: others may have it.",
    )
    written.export()
    assert written.verify().code == 0, "signed with the present key"


def test_keys_that_are_lost_stay_published(written: Written) -> None:
    before = written.published()
    (written.data / "master.key").unlink()
    begun = CliRunner().invoke(main, name_store(["keys", "reset", "--data", written.data, "--yes"]))
    assert begun.exit_code == 0, begun.output
    written.serve()
    assert [key["kid"] for key in written.published()][:1] == [before[0]["kid"]]
    assert len(written.published()) == 2
    assert written.verify().code == 0
