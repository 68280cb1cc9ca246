"""The chain of a thread: digests under a salt, and links."""

from __future__ import annotations

import hashlib
import json

import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.model.conversation.chain import (
    DIGEST_PREFIX,
    FIRST_LINK,
    LINK_PREFIX,
    canonical,
    digest_message,
    next_link,
)
from aitp_desk.model.conversation.thread import Attachment

# What a protocol lets through: any text but lone surrogates.
texts = st.text(st.characters(codec="utf-8"), max_size=60)
attachments = st.builds(Attachment, texts, st.lists(texts, max_size=3).map(tuple))
times = st.integers(min_value=0, max_value=2**53 - 1)


def said(*content: str) -> bytes:
    return canonical(
        thread="thread_1",
        seq=1,
        role="user",
        actor="visitor",
        created_at=0,
        content=content,
        attachments=(),
    )


@given(
    thread=texts,
    seq=times,
    role=texts,
    actor=texts,
    created_at=times,
    content=st.lists(texts, max_size=4),
    files=st.lists(attachments, max_size=3),
)
def test_canonical_json_is_that_of_rfc_8785(
    thread: str,
    seq: int,
    role: str,
    actor: str,
    created_at: int,
    content: list[str],
    files: list[Attachment],
) -> None:
    ours = canonical(
        thread=thread,
        seq=seq,
        role=role,
        actor=actor,
        created_at=created_at,
        content=content,
        attachments=files,
    )
    theirs = rfc8785.dumps(
        {
            "v": 1,
            "thread": thread,
            "seq": seq,
            "role": role,
            "actor": actor,
            "created_at": created_at,
            "content": content,
            "attachments": [{"file_id": file.file_id, "tools": list(file.tools)} for file in files],
        }
    )
    assert ours == theirs


def test_every_character_is_escaped_as_rfc_8785_escapes_it() -> None:
    for code in (*range(0x2100), 0xFFFD, 0xFFFF, 0x1F3D5, 0x10FFFF):
        assert json.loads(said(chr(code)))["content"] == [chr(code)]
        assert rfc8785.dumps([chr(code)]) in said(chr(code))


def test_a_digest_is_the_hash_that_the_documentation_states() -> None:
    salt = bytes(range(16))
    digest = digest_message(salt, said("Hello"))
    assert digest == hashlib.sha256(DIGEST_PREFIX + salt + said("Hello")).digest()
    link = next_link(FIRST_LINK, digest)
    assert link == hashlib.sha256(LINK_PREFIX + bytes(32) + digest).digest()


def test_a_digest_tells_apart_what_was_said_and_under_which_salt() -> None:
    digests = {
        digest_message(salt, said(*content))
        for salt in (bytes(16), bytes([1] * 16))
        for content in (("Hello",), ("Hello", ""), ("Hel", "lo"), ("hello",))
    }
    assert len(digests) == 8


def test_a_link_depends_on_everything_before_it() -> None:
    digests = [digest_message(bytes(16), said(text)) for text in ("one", "two", "three")]

    def chain(order: list[bytes]) -> bytes:
        link = FIRST_LINK
        for digest in order:
            link = next_link(link, digest)
        return link

    assert len({chain(digests), chain(digests[::-1]), chain(digests[:2])}) == 3
