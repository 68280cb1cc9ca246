"""Every parser that sees bytes of a caller who has proven nothing, as one function of bytes each.

A target takes any bytes and returns, or raises nothing but a refusal in words. Where a parser
promises more than that, its target asserts it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

from aitp_desk.agent.base import Answer, PendingQuestion, SiteFacts, Turn
from aitp_desk.agent.extractive.agent import answer
from aitp_desk.auth.credentials.address import ClientAddresses
from aitp_desk.config import AgentLimits
from aitp_desk.desk.limits.agent_policies import AgentPolicies
from aitp_desk.knowledge.documents.languages import Languages
from aitp_desk.knowledge.editions import open_editions
from aitp_desk.knowledge.library import Library
from aitp_desk.knowledge.sources.loader import read_files
from aitp_desk.model.calls.resource import PathTemplate, expand
from aitp_desk.model.errors import InvalidRequest, UnsupportedMedia
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.a2a.dialect import Dialect
from aitp_desk.protocols.a2a.requests_wire import read_send
from aitp_desk.protocols.ahp import wire as ahp
from aitp_desk.protocols.aitp import files_wire
from aitp_desk.protocols.aitp import wire as aitp
from aitp_desk.protocols.aitp.runs import drafts_wire as run_drafts_wire
from aitp_desk.protocols.aitp.threads import actors_wire, events_wire, grants_wire, messages_wire
from aitp_desk.protocols.aitp.threads import wire as threads_wire
from aitp_desk.protocols.base.accept import wants_manifest, wants_markdown
from aitp_desk.protocols.base.multipart import decode_form
from aitp_desk.protocols.base.preferences import decode_wait
from aitp_desk.protocols.base.protocol import matches_etag
from aitp_desk.protocols.hac import MEDIA_TYPE, Face, negotiate
from aitp_desk.protocols.oauth import wire as oauth
from tests.fuzz.forms import FILLED
from tests.fuzz.heads import HEADS
from tests.fuzz.mail_hooks import MAIL_HOOKS
from tests.fuzz.mails import MAILS
from tests.fuzz.matrix import MATRIX
from tests.fuzz.platforms import PLATFORMS
from tests.fuzz.proofs import PROOFS
from tests.fuzz.responses import ELSEWHERE
from tests.fuzz.slack import SLACK
from tests.fuzz.target import JSON_WORDS, Target, headers_of
from tests.support.desk.server import SITE


def _json(data: bytes) -> None:
    """A second reader of a body, with any library, reads the same."""
    read = decode_json(data)
    assert read == json.loads(data)


def _query(data: bytes) -> Mapping[str, str]:
    return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))


def _task(data: bytes) -> None:
    body = decode_json(data)
    for dialect in Dialect:
        with suppress(InvalidRequest, UnsupportedMedia):
            read_send(body, dialect)


_RESOURCE = PathTemplate(("orders", "{order}", "lines", "{line}"))


def _path(data: bytes) -> None:
    """Whatever a path names has an address, which names the same and leads nowhere else."""
    found = _RESOURCE.match(data.decode("utf-8", "surrogateescape"))
    if found is None:
        return
    address = expand(str(_RESOURCE), found)
    assert address is not None
    assert address.isascii()
    assert address.count("/") == len(_RESOURCE.segments)
    assert {".", ".."}.isdisjoint(address.split("/"))
    assert _RESOURCE.match(address) == found


def _addresses(data: bytes) -> None:
    found = ClientAddresses(["10.0.0.0/8", "::1/128"]).find(headers_of(data), "10.1.2.3")
    assert found


def _conditions(data: bytes) -> None:
    headers = headers_of(data)
    accept = headers.get("Accept", "")
    wants_manifest(accept)
    wants_markdown(accept)
    assert MEDIA_TYPE in accept.lower() or negotiate(accept) is Face.PLAIN
    matches_etag(headers, '"tag"')
    aitp.read_dialect(headers)
    wait = decode_wait(headers.get("Prefer", ""))
    assert wait is None or wait >= 0
    assert 0 <= aitp.decode_hops(headers.get("Desk-Hops", "0")) <= 1_000_000
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


_AGENTS = AgentPolicies(
    (AgentLimits(name="BulkReader", per_minute=3), AgentLimits(name="*", per_minute=9)), lambda: 0.0
)


def _named(data: bytes) -> None:
    """An agent's first word decides alone, and everybody is limited by some block."""
    name = data.decode("utf-8", "surrogateescape")
    found = _AGENTS.find(name)
    assert found is not None
    assert found is _AGENTS.find(f"{name} and more")


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
    pending = PendingQuestion("When are you open?", "Which shop?", ("The mill", "The quay"))
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
_TASK = (
    b'{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "Hi"},'
    b' {"data": {"action": "a", "arguments": {}}}, {"raw": "YQ==", "filename": "a.txt"}]},'
    b' "configuration": {"historyLength": 3, "returnImmediately": true,'
    b' "taskPushNotificationConfig": {"url": "https://a.example", "token": "t"}}}'
)
_TASK_03 = (
    b'{"message": {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "Hi"},'
    b' {"kind": "file", "file": {"bytes": "YQ==", "name": "a"}}, {"kind": "data", "data": {}}]}}'
)
_RUN = (
    b'{"assistant_id": "desk", "stream": true, "tools": [], "additional_messages": [],'
    b' "model": null}'
)
_OUTPUTS = b'{"tool_outputs": [{"tool_call_id": "call_1", "output": "3"}], "stream": false}'
_WORDS = (
    *JSON_WORDS,
    *(b'"role"', b'"content"', b'"text"', b'"type"', b'"metadata"', b'"messages"', b'"context"'),
)
_FORM = (
    b"multipart/form-data; boundary=x\n--x\r\n"
    b'Content-Disposition: form-data; name="purpose"\r\n\r\nassistants\r\n--x\r\n'
    b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\nHello\r\n--x--\r\n"
)

TARGETS: tuple[Target, ...] = (
    Target("JSON bodies", _json, (_MESSAGE, _ASK, b"[1, 2.5, null]"), _WORDS, 3),
    Target("AHP question", ahp.decode_converse, (_ASK,), _WORDS, 2),
    Target("AITP thread", threads_wire.decode_thread, (_THREAD, b"{}"), _WORDS),
    Target(
        "AITP thread update", threads_wire.decode_update, (b'{"metadata": {"a": "b"}}',), _WORDS
    ),
    Target("AITP message", messages_wire.decode_message, (_MESSAGE,), _WORDS),
    Target("AITP message update", messages_wire.decode_message_update, (_MESSAGE,), _WORDS),
    Target("AITP actor", actors_wire.decode_actor, (b'{"id": "a", "capabilities": []}',), _WORDS),
    Target("A2A message", _task, (_TASK, _TASK_03), (*_WORDS, b'"parts"', b'"kind"', b'"raw"')),
    Target("run", run_drafts_wire.decode_run, (_RUN,), _WORDS),
    Target("thread and run", run_drafts_wire.decode_thread_and_run, (_RUN, _THREAD), _WORDS),
    Target("tool outputs", run_drafts_wire.decode_outputs, (_OUTPUTS,), _WORDS),
    Target("file upload", _form, (_FORM,), (b"--x", b"\r\n", b"name=", b"filename*=", b";"), 0.5),
    Target(
        "path of a resource",
        _path,
        (b"/orders/A-1/lines/2", b"/orders/%41/lines/a%20b"),
        (b"/orders/", b"/lines/", b"%2F", b"%2e", b"%00", b"%25", b"..", b"?", b"#", b"%C3%A9"),
        0.5,
    ),
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
        "conditions and preferences",
        _conditions,
        (
            b"Accept: text/html;q=0.5, */*\nPrefer: wait=3\nIf-None-Match: *",
            b"OpenAI-Beta: assistants=v2\nLast-Event-ID: 4\nDesk-Hops: 1",
            b'Accept: application/vnd.hac+json;version="1.0";q=0.5, application/json;q=0.4',
        ),
        (b"Accept: ", b";q=", b",", b"Prefer: ", b"wait=", b"OpenAI-Beta: ", b"Last-Event-ID: "),
    ),
    Target(
        "grant",
        grants_wire.decode_grant,
        (b'{"principal": "key:0123456789abcdef", "may": "read", "expires_in": 60}',),
        (*_WORDS, b'"principal"', b'"link"', b'"may"'),
        0.5,
    ),
    Target(
        "agent's name",
        _named,
        (b"BulkReader/2.0 (+https://reader.example)", b"NewsBot", b"*"),
        (b"/", b" ", b"*", b"\t", b"BulkReader", "\u0130".encode()),
        0.2,
    ),
    Target(
        "question",
        _question,
        (b"What is your return policy?", b"Are you open on Sundays, and where?"),
        (b"?", b" and ", b"both", b"the second one", b"Sundays", b"\xef\xbf\xbf"),
        0.02,
    ),
    *HEADS,
    *PROOFS,
    *ELSEWHERE,
    *FILLED,
    *MATRIX,
    *MAILS,
    *MAIL_HOOKS,
    *SLACK,
    *PLATFORMS,
)
