"""A transcript that a desk has given, changed in every way: the desk's check finds it, and so does
the one that ``docs/protocols/transcripts.md`` gives to a caller who does not have our code.
"""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.auth.keys.transcript_keys import PublishedKey, read_keys
from aitp_desk.auth.keys.transcripts import check_transcript, read_transcript
from aitp_desk.model.conversation.transcript import KEYS_PATH
from aitp_desk.model.errors import InvalidRequest
from tests.docs.snippets import ROOT, blocks
from tests.support.access.transcript_signer import sign_head
from tests.support.clients.threads import THREADS, talking
from tests.support.doubles.agent import ScriptedAgent

Check = Callable[[Any, Any], None]
Place = tuple[str | int, ...]
REFUSED = (AttributeError, InvalidSignature, LookupError, TypeError, ValueError)
"""What the page's program takes for a wrong transcript."""


class Given:
    """A transcript with the published keys, and the two checks of it.

    Parameters:
        erased: what its tombstone was, as an earlier transcript has it.
    """

    def __init__(self, body: bytes, keys: bytes, erased: Any, check: Check) -> None:
        self.body = body
        self.erased = erased
        self.read: Any = json.loads(body)
        self._published: Any = json.loads(keys)
        self._keys: tuple[PublishedKey, ...] = read_keys(keys)
        self._check = check

    def is_whole(self, body: bytes) -> bool:
        """What the desk's own check says."""
        try:
            return not check_transcript(read_transcript(body), self._keys).wrong
        except InvalidRequest:
            return False

    def passes_the_page(self, read: Any) -> bool:
        """What the program of the page says."""
        try:
            self._check(read, self._published)
        except REFUSED:
            return False
        return True


async def make(folder: Path) -> tuple[bytes, bytes, Any]:
    """A transcript with all that one can have: a file, a tombstone, countersignatures.

    Returns:
        It, the published keys, and the message of which the tombstone is left.
    """
    async with talking(folder, "files.anonymous=true", agent=ScriptedAgent()) as talker:
        file = (await talker.upload()).id
        thread = (await talker.open("Ünïcödé — 漢字 🙂", actors=["alice"], wait=10)).id
        attached = [{"file_id": file, "tools": [{"type": "file_search"}]}]
        await talker.post(thread, ["Two", "parts"], attachments=attached, wait=10)
        secret = (await talker.post(thread, "My secret", wait=10)).id
        path = f"{THREADS}/{thread}/transcript"
        said = (await talker.send("GET", path)).ok["messages"]
        for _ in range(2):
            head = (await talker.send("GET", path)).ok["statement"]["head"]
            signed = sign_head(head, Ed25519PrivateKey.generate())
            assert (await talker.send("POST", f"{path}/signatures", signed)).status == 200
            await talker.post(thread, "More", wait=10)
        await talker.send("DELETE", f"{THREADS}/{thread}/messages/{secret}")
        async with talker.http.get(path) as answer, talker.http.get(KEYS_PATH) as keys:
            body = await answer.read()
            place = [one["object"] for one in json.loads(body)["messages"]].index("tombstone")
            return body, await keys.read(), said[place]


@pytest.fixture(scope="module")
def transcript(tmp_path_factory: pytest.TempPathFactory) -> Given:
    body, keys, erased = asyncio.run(make(tmp_path_factory.mktemp("transcripts")))
    page = blocks(ROOT / "docs/protocols/transcripts.md")
    (program,) = (block for block in page if block.language == "python")
    names: dict[str, Any] = {"__name__": "check"}
    exec(compile(program.code, program.page, "exec"), names)
    return Given(body, keys, erased, names["check"])


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Everything that stands in a document, from the outermost."""
    yield at
    if isinstance(value, dict | list):
        for name, held in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(held, (*at, name))


def at(value: Any, place: Place) -> Any:
    for name in place:
        value = value[name]
    return value


OTHERS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 10),
    st.integers(2**53 - 1, 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.just([]),
    st.just({}),
)


@st.composite
def changes(draw: st.DrawFn, document: Any) -> Any:
    """The document with one thing of it removed, replaced, doubled, moved or added."""
    changed = copy.deepcopy(document)
    place = draw(st.sampled_from([one for one in places(document) if one]))
    holder, name = at(changed, place[:-1]), place[-1]
    held = holder[name]
    siblings = list(range(len(holder))) if isinstance(holder, list) else list(holder)
    match draw(st.sampled_from(["drop", "replace", "mend", "swap", "double", "add"])):
        case "drop":
            del holder[name]
        case "replace":
            holder[name] = draw(OTHERS)
        case "mend" if isinstance(held, str) and held:
            where = draw(st.integers(0, len(held) - 1))
            letter = draw(st.sampled_from("AZaz09-_.é "))
            holder[name] = held[:where] + letter + held[where + 1 :]
        case "mend" if isinstance(held, int):
            holder[name] = draw(st.sampled_from([held - 1, held + 1, float(held), bool(held)]))
        case "swap":
            other = draw(st.sampled_from(siblings))
            holder[name], holder[other] = holder[other], held
        case "double" if isinstance(holder, list):
            holder.insert(draw(st.integers(0, len(holder))), copy.deepcopy(held))
        case _ if isinstance(holder, dict):
            holder["also"] = draw(OTHERS)
        case _:
            holder.append(draw(OTHERS))
    return changed


def same(one: Any, other: Any) -> bool:
    """Whether two documents say the same; True and 1.0 are not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def test_it_is_whole_as_it_was_given(transcript: Given) -> None:
    assert transcript.is_whole(transcript.body)
    assert transcript.passes_the_page(transcript.read)
    kinds = [message["object"] for message in transcript.read["messages"]]
    assert kinds.count("tombstone") == 1
    assert len(kinds) == 10
    assert len(transcript.read["statement"]["countersignatures"]) == 2


@given(data=st.data())
def test_whatever_is_changed_is_found(transcript: Given, data: st.DataObject) -> None:
    changed = data.draw(changes(transcript.read))
    is_same = same(changed, transcript.read)
    assert transcript.is_whole(json.dumps(changed).encode()) == is_same
    assert transcript.passes_the_page(changed) == is_same


def test_nobody_else_leaves_out_or_puts_back_what_a_message_says(transcript: Given) -> None:
    for place, message in enumerate(transcript.read["messages"]):
        changed = copy.deepcopy(transcript.read)
        if message["object"] == "message":
            kept = {name: message[name] for name in ("seq", "digest", "link")}
            changed["messages"][place] = {"object": "tombstone", **kept}
        else:
            changed["messages"][place] = transcript.erased
        assert not transcript.is_whole(json.dumps(changed).encode())
        assert not transcript.passes_the_page(changed)


@given(data=st.data())
def test_a_byte_that_is_changed_is_found_unless_the_file_says_the_same(
    transcript: Given, data: st.DataObject
) -> None:
    body = transcript.body
    where = data.draw(st.integers(0, len(body) - 1))
    byte = data.draw(st.binary(min_size=0, max_size=2))
    changed = body[:where] + byte + body[where + 1 :]
    try:
        is_same = same(json.loads(changed), transcript.read)
    except ValueError:
        is_same = False
    assert transcript.is_whole(changed) == is_same


@given(data=st.data())
def test_messages_that_are_moved_left_out_or_doubled_are_found(
    transcript: Given, data: st.DataObject
) -> None:
    whole = transcript.read["messages"]
    order = data.draw(
        st.one_of(
            st.permutations(range(len(whole))),
            st.lists(st.integers(0, len(whole) - 1), max_size=12),
        )
    )
    changed = {**transcript.read, "messages": [whole[place] for place in order]}
    renumbered = copy.deepcopy(changed)
    for seq, message in enumerate(renumbered["messages"], 1):
        message["seq"] = seq
    for document in (changed, renumbered):
        is_same = same(document, transcript.read)
        assert transcript.is_whole(json.dumps(document).encode()) == is_same
        assert transcript.passes_the_page(document) == is_same
