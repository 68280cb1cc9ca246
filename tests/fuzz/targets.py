"""Every parser that sees bytes of somebody who has proven nothing, as one function of bytes each.

A target takes any bytes and returns, or raises nothing but a refusal in words. Where a parser
promises more than that, its target asserts it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from aitp_desk.agent.base import Answer, Pending, SiteFacts, Turn
from aitp_desk.agent.extractive import answer
from aitp_desk.announcing.accept import wants_manifest, wants_markdown
from aitp_desk.auth.address import ClientAddresses
from aitp_desk.auth.api_key import parse_api_key
from aitp_desk.auth.compact import read_compact
from aitp_desk.auth.jwk import read_key
from aitp_desk.auth.presented import read_presented
from aitp_desk.egress import Egress, EgressError
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.languages import Languages
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.load import read_files
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.ahp import wire as ahp
from aitp_desk.protocols.aitp import (
    actors_wire,
    events_wire,
    files_wire,
    messages_wire,
    run_drafts_wire,
    threads_wire,
)
from aitp_desk.protocols.aitp import wire as aitp
from aitp_desk.protocols.form import decode_form
from aitp_desk.protocols.oauth import wire as oauth
from aitp_desk.protocols.reply import has_version
from aitp_desk.protocols.strict_json import decode_json
from tests.serving import SITE

REFUSALS = (DeskError, EgressError)
"""What a parser may raise."""


class Target(msgspec.Struct, frozen=True):
    """A parser under test.

    Parameters:
        seeds: what it takes, to begin with.
        words: what means something to it.
        share: of the executions, beside the other targets'.
    """

    name: str
    run: Callable[[bytes], object]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    share: float = 1.0

    def holds(self, data: bytes) -> bool:
        """Run it once: whether it took the bytes, and did not refuse them.

        Raises:
            whatever it raised that is no refusal.
        """
        try:
            self.run(data)
        except REFUSALS as refusal:
            if not str(refusal):
                raise AssertionError("A refusal says what is wrong.") from refusal
            return False
        return True


def _json(data: bytes) -> None:
    """Whoever reads a body again, by whatever library, reads the same."""
    read = decode_json(data)
    assert read == json.loads(data)


def _headers(data: bytes) -> CIMultiDictProxy[str]:
    """A head's lines as the HTTP parser gives them."""
    found: CIMultiDict[str] = CIMultiDict()
    for line in data.decode("utf-8", "surrogateescape").splitlines():
        name, _, value = line.partition(":")
        if name.isascii() and name.replace("-", "").isalnum():
            found.add(name, value.strip())
    return CIMultiDictProxy(found)


def _query(data: bytes) -> Mapping[str, str]:
    return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))


def _addresses(data: bytes) -> None:
    found = ClientAddresses(["10.0.0.0/8", "::1/128"]).find(_headers(data), "10.1.2.3")
    assert found


def _conditions(data: bytes) -> None:
    headers = _headers(data)
    accept = headers.get("Accept", "")
    wants_manifest(accept)
    wants_markdown(accept)
    has_version(headers, '"tag"')
    aitp.read_dialect(headers)
    wait = aitp.decode_wait(headers.get("Prefer", ""))
    assert wait is None or wait >= 0
    assert 0 <= aitp.decode_hops(headers.get("Desk-Hops")) <= 1_000_000
    events_wire.decode_after(headers, _query(data))


def _page(data: bytes) -> None:
    query = _query(data)
    page = aitp.decode_page(query)
    assert 1 <= page.limit <= 100
    files_wire.decode_list(query)


def _form(data: bytes) -> None:
    boundary, _, body = data.partition(b"\n")
    content_type = boundary.decode("latin-1")
    decode_form(content_type, body)
    files_wire.decode_upload(content_type, body)


def _grant(data: bytes) -> None:
    authorization, _, body = data.partition(b"\n")
    lines = [authorization.decode("latin-1")] if authorization else []
    oauth.decode_grant(body, lines)


def _egress(data: bytes) -> None:
    Egress().check(data.decode("utf-8", "replace"))


@cache
def _library() -> Library:
    with tempfile.TemporaryDirectory() as data:
        files = read_files(SITE, data=Path(data))
        return open_editions(files, Path(data), {}, Languages()).library


def _question(data: bytes) -> None:
    """Whatever is asked is answered, or asked back, in words; also as the answer to a question."""
    text = data.decode("utf-8", "replace")[:4096]
    site = SiteFacts("The Paper Lantern", "https://books.example")
    said = answer(Turn(question=text, site=site), _library())
    assert (said.text if isinstance(said, Answer) else said.question).strip()
    pending = Pending("When are you open?", "Which shop?", ("The mill", "The quay"))
    answer(
        Turn(question="When are you open?", site=site, pending=pending, clarification=text),
        _library(),
    )


_MESSAGE = b'{"role": "user", "content": ["Hello"], "metadata": {"actor": "a"}, "attachments": []}'
_THREAD = (
    b'{"messages": [{"role": "user", "content": "Hi"}], "parent_id": "thread_0",'
    b' "metadata": {"actors": "[{\\"id\\": \\"a\\", \\"capabilities\\": []}]"}}'
)
_ASK = (
    b'{"ahp": "0.1", "capability": "content_search", "query": "What is it?", "session_id": "s",'
    b' "clarification": "a", "context": {"requesting_agent": "a/1", "max_tokens": 100,'
    b' "accept_types": ["text/answer"], "callback_url": "https://a.example/", "locale": "en-GB"}}'
)
_RUN = (
    b'{"assistant_id": "desk", "stream": true, "tools": [], "additional_messages": [],'
    b' "model": null}'
)
_OUTPUTS = b'{"tool_outputs": [{"tool_call_id": "call_1", "output": "3"}], "stream": false}'
_WORDS = (
    *(b'"', b"{", b"}", b"[", b"]", b":", b",", b"\\", b"\\u0000", b"\\ud800", b"null", b"true"),
    *(b"1e999", b"-0", b"0.1", b"9" * 40, b"\xff", b"\x00", b"\xef\xbb\xbf", b'{"a":' * 9),
    *(b'"role"', b'"content"', b'"text"', b'"type"', b'"metadata"', b'"messages"', b'"context"'),
)
_JWT = b"eyJhbGciOiJFZERTQSIsImtpZCI6ImsifQ.eyJpc3MiOiJhIiwiZXhwIjoxfQ.c2ln"
_FORM = (
    b"multipart/form-data; boundary=x\n--x\r\n"
    b'Content-Disposition: form-data; name="purpose"\r\n\r\nassistants\r\n--x\r\n'
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nHello\r\n--x--\r\n"
)

TARGETS = (
    Target("JSON bodies", _json, (_MESSAGE, _ASK, b"[1, 2.5, null]"), _WORDS, 3),
    Target("AHP question", ahp.decode_converse, (_ASK,), _WORDS, 2),
    Target("AITP thread", threads_wire.decode_thread, (_THREAD, b"{}"), _WORDS),
    Target(
        "AITP thread update", threads_wire.decode_update, (b'{"metadata": {"a": "b"}}',), _WORDS
    ),
    Target("AITP message", messages_wire.decode_message, (_MESSAGE,), _WORDS),
    Target("AITP message update", messages_wire.decode_message_update, (_MESSAGE,), _WORDS),
    Target("AITP actor", actors_wire.decode_actor, (b'{"id": "a", "capabilities": []}',), _WORDS),
    Target("run", run_drafts_wire.decode_run, (_RUN,), _WORDS),
    Target("thread and run", run_drafts_wire.decode_thread_and_run, (_RUN, _THREAD), _WORDS),
    Target("tool outputs", run_drafts_wire.decode_outputs, (_OUTPUTS,), _WORDS),
    Target("file upload", _form, (_FORM,), (b"--x", b"\r\n", b"name=", b"filename*=", b";"), 0.5),
    Target(
        "page of a list",
        _page,
        (b"limit=3&order=asc&after=file_" + b"0" * 36,),
        (b"limit", b"%00", b"&", b"="),
    ),
    Target(
        "token request",
        _grant,
        (
            b"\ngrant_type=client_credentials&client_id=a&client_secret=b&scope=threads",
            b"Basic YTpi\ngrant_type=client_credentials",
        ),
        (b"%", b"&", b"=", b"Basic "),
        0.5,
    ),
    Target(
        "client registration",
        oauth.decode_registration,
        (b'{"client_name": "a", "scope": "threads"}',),
        _WORDS,
        0.5,
    ),
    Target(
        "client's address",
        _addresses,
        (b"X-Forwarded-For: 10.0.0.1, [2001:db8::1]:80\nX-Forwarded-For: 192.0.2.1",),
        (b"X-Forwarded-For: ", b",", b"::ffff:", b"[", b"]", b":80"),
    ),
    Target(
        "what is presented",
        lambda data: read_presented(_headers(data)),
        (b"Authorization: Bearer desk_00\nX-AHP-Key: desk_00",),
        (b"Authorization: ", b"X-AHP-Key: ", b"Bearer ", b"Signature-Input: "),
    ),
    Target(
        "conditions and preferences",
        _conditions,
        (
            b"Accept: text/html;q=0.5, */*\nPrefer: wait=3\nIf-None-Match: *",
            b"OpenAI-Beta: assistants=v2\nLast-Event-ID: 4\nDesk-Hops: 1",
        ),
        (b"Accept: ", b";q=", b",", b"Prefer: ", b"wait=", b"OpenAI-Beta: ", b"Last-Event-ID: "),
    ),
    Target(
        "API key",
        lambda data: parse_api_key(data.decode("latin-1")),
        (b"desk_0123456789abcdef_" + b"0" * 64,),
        (b"desk_", b"_"),
    ),
    Target(
        "bearer token",
        lambda data: read_compact(data.decode("latin-1")),
        (_JWT,),
        (b".", b"eyJ", b"=", b"-"),
        2,
    ),
    Target(
        "issuer's key",
        lambda data: read_key(msgspec.json.decode(data)) if _is_json(data) else None,
        (b'{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}',),
        (b'"kty"', b'"EC"', b'"RSA"', b'"n"', b'"e"'),
        0.2,
    ),
    Target(
        "outside address",
        _egress,
        (b"https://example.com:8443/a?b#c", b"http://127.0.0.1/", b"https://[::ffff:7f00:1]/"),
        (b"://", b"@", b"%", b"0x", b"\\", b"[", b"xn--"),
        0.5,
    ),
    Target(
        "question",
        _question,
        (b"What is your return policy?", b"Are you open on Sundays, and where?"),
        (b"?", b" and ", b"both", b"the second one", b"Sundays", b"\xef\xbf\xbf"),
        0.02,
    ),
)


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True
