"""What a homeserver passes on from strangers, and the texts that are sent to them."""

from __future__ import annotations

import msgspec
from selectolax.lexbor import LexborHTMLParser

from aitp_desk.capability import Response
from aitp_desk.transports.base import TryLater
from aitp_desk.transports.matrix.client import LONGEST_WAIT, find_failure, read_object
from aitp_desk.transports.matrix.content import MOST_CONTENT, write_message
from aitp_desk.transports.matrix.conversations import Place, find_place
from aitp_desk.transports.matrix.events import (
    Event,
    decode_page,
    decode_stream,
    decode_transaction,
    only_after_invitation,
    read_event,
)
from aitp_desk.transports.matrix.text import MOST_HTML, read_html, strip_quotation, write_html
from aitp_desk.transports.matrix.wire import (
    MOST_CHOICES,
    read_choices,
    read_edit,
    read_key,
    read_message,
    read_number,
    read_parts,
    read_relation,
    strip_address,
)
from aitp_desk.transports.messages import Outgoing
from tests.fuzz.target import JSON_WORDS, REFUSALS, Target

DESK = "@desk:a.example"
_NAMES = (DESK, "desk", "The Paper Lantern")
_HEAD = b'"event_id": "$a", "sender": "@ana:a.example", "room_id": "!r:a.example"'
_EVENTS = (
    b'{"type": "m.room.message", %s, "origin_server_ts": 1795978733240, "content":'
    b' {"msgtype": "m.text", "body": "> <@b:c> d\\n\\nDesk: hi", "format":'
    b' "org.matrix.custom.html", "formatted_body": "<mx-reply>q</mx-reply><b>hi</b>",'
    b' "m.mentions": {"user_ids": ["@desk:a.example"]}, "m.relates_to": {"rel_type": "m.thread",'
    b' "event_id": "$b", "is_falling_back": false, "m.in_reply_to": {"event_id": "$c"}}}}' % _HEAD,
    b'{"type": "m.room.message", %s, "content": {"msgtype": "m.image", "body": "a", "filename":'
    b' "b.png", "url": "mxc://a.example/id", "info": {"size": 3, "mimetype": "image/png"}}}'
    % _HEAD,
    b'{"type": "m.room.message", %s, "content": {"msgtype": "m.text", "body": "* b",'
    b' "m.new_content": {"msgtype": "m.text", "body": "b"}, "m.relates_to": {"rel_type":'
    b' "m.replace", "event_id": "$b"}}}' % _HEAD,
    b'{"type": "m.reaction", %s, "content": {"m.relates_to": {"rel_type": "m.annotation",'
    b' "event_id": "$b", "key": "1\xef\xb8\x8f\xe2\x83\xa3"}}}' % _HEAD,
    (
        b'{"type": "m.room.message", "event_id": "$d", "sender": "@desk:a.example", "room_id":'
        b' "!r", "content": {"msgtype": "m.notice", "body": "1. a", "org.aitp_desk.choices":'
        b' [{"token": "t", "label": "a"}], "org.aitp_desk.parts": ["$e"]}}'
    ),
    b'{"type": "m.room.redaction", %s, "redacts": "$b", "content": {}}' % _HEAD,
    b'{"type": "m.room.member", %s, "state_key": "@desk:a.example", "content": {"membership":'
    b' "invite", "is_direct": true}, "invite_room_state": [{"type": "m.room.encryption",'
    b' "sender": "@ana:a.example", "state_key": "", "content": {}}]}' % _HEAD,
)
_STREAM = (
    b'{"next_batch": "s1", "rooms": {"join": {"!r:a.example": {"timeline": {"limited": true,'
    b' "prev_batch": "s0", "events": [%s]}}}, "invite": {"!i:a.example": {"invite_state":'
    b' {"events": [%s]}}}, "leave": {"!l:a.example": {"timeline": {"events": []}}}}}'
    % (_EVENTS[0], _EVENTS[6])
)
_WORDS = (
    *JSON_WORDS,
    *(b'"content"', b'"m.relates_to"', b'"rel_type"', b'"event_id"', b'"m.in_reply_to"'),
    *(b'"msgtype"', b'"m.text"', b'"body"', b'"formatted_body"', b'"url"', b'"info"', b'"size"'),
    *(b'"m.mentions"', b'"user_ids"', b'"m.new_content"', b'"state_key"', b'"redacts"', b'"key"'),
    *(b'"org.aitp_desk.choices"', b'"token"', b'"label"', b'"unsigned"', b'"invite_room_state"'),
)


def _check(event: Event) -> None:
    """Whatever an event holds, what is read of it can be stored."""
    relation = read_relation(event.content)
    assert relation.root == "" or relation.root.startswith("$")
    written = read_message(event)
    if written is not None:
        text, _ = strip_address(written.text, _NAMES)
        for one in (written.text, written.trimmed, text, *(file.name for file in written.files)):
            one.encode()
            assert "\x00" not in one
        assert read_number(text) <= 9
        msgspec.json.encode(written.files)
    edited = read_edit(event)
    assert edited is None or edited.encode() is not None
    assert len(read_choices(event, DESK)) <= MOST_CHOICES
    assert 0 <= read_key(relation.key) <= MOST_CHOICES
    assert all(one.startswith("$") for one in read_parts(event, DESK))
    assert event.sent_at >= 0


def _event(data: bytes) -> None:
    event = read_event(data)
    if event is not None:
        _check(event)
        place = Place(event.room, event.id)
        assert find_place(place.name) == place


def _stream(data: bytes) -> None:
    stream = decode_stream(data, DESK)
    for invitation in stream.invitations:
        assert invitation.is_membership(DESK)
    for batch in (*stream.joined, *stream.left):
        kept, _ = only_after_invitation(batch.events, DESK)
        assert len(kept) <= len(batch.events)
        for event in batch.events:
            assert event.id
            assert event.room == batch.room
            _check(event)


def _page(data: bytes) -> None:
    events, _ = decode_page(data, "!r:a.example")
    for event in events:
        _check(event)


def _transaction(data: bytes) -> None:
    for event in decode_transaction(data):
        assert event.id
        _check(event)


def _html(data: bytes) -> None:
    html = data.decode("utf-8", "replace")
    text = read_html(html)
    assert (text is None) == (len(html) > MOST_HTML)


def _markdown(data: bytes) -> None:
    """A message fits, and its HTML runs nothing and loads nothing."""
    text = data.decode("utf-8", "replace")[:8000]
    tree = LexborHTMLParser(write_html(text))
    assert tree.css_first("script, img, style, iframe, [onclick], [style]") is None
    for link in tree.css("a[href]"):
        scheme = (link.attributes["href"] or "").partition(":")[0].lower()
        assert scheme in {"http", "https", "mailto"}
    outgoing = Outgoing(id="a", conversation="!r", recipient="@ana:a.example", text=text)
    content = write_message(outgoing, Place("!r:a.example", "$b"))
    assert len(msgspec.json.encode(content)) <= MOST_CONTENT
    assert content["body"] == text


def _quotation(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    rest, quotation = strip_quotation(text)
    assert text == (f"{quotation}\n{text[len(quotation) + 1 :]}" if quotation else rest)
    assert text.endswith(rest)


def _failure(data: bytes) -> None:
    status, _, body = data.partition(b"\n")
    number = int(status) if status.isdigit() and len(status) == 3 else 429
    failure = find_failure(Response(status=number, headers={"retry-after": "9"}, body=body))
    assert failure.reason
    if isinstance(failure, TryLater):
        assert 0 <= failure.after <= LONGEST_WAIT
    read_object(body)


def _place(data: bytes) -> None:
    text = data.decode("latin-1")
    place = find_place(text)
    assert text.startswith(place.room)
    assert find_place(place.name) == place


_VALUE = (*REFUSALS, ValueError)

MATRIX = (
    Target("Matrix's event", _event, _EVENTS, _WORDS),
    Target("Matrix's stream", _stream, (_STREAM,), _WORDS, 0.5, (*REFUSALS, TryLater)),
    Target(
        "Matrix's page",
        _page,
        (b'{"chunk": [%s], "end": "t1", "start": "t0"}' % _EVENTS[0],),
        _WORDS,
        0.3,
        (*REFUSALS, TryLater),
    ),
    Target(
        "Matrix's transaction",
        _transaction,
        (b'{"events": [%s, %s]}' % (_EVENTS[0], _EVENTS[6]), b'{"events": []}'),
        _WORDS,
        0.5,
        _VALUE,
    ),
    Target(
        "Matrix's HTML",
        _html,
        (b"<mx-reply>a</mx-reply><p>b <a href='https://c.d'>e</a></p><ol start=3><li>f</ol>",),
        (
            b"<",
            b">",
            b"</",
            b"<pre>",
            b"<li>",
            b"<ul>",
            b"<mx-reply>",
            b"&lt;",
            b"<!--",
            b"<table>",
        ),
        0.3,
    ),
    Target(
        "Markdown for Matrix",
        _markdown,
        (b"# A\n\n- **b** [c](https://d.example) ![e](https://f.example/g.png)\n\n```h\n<i>\n```",),
        (b"*", b"[", b"](", b"javascript:", b"data:", b"<", b"![", b"`", b"\n\n", b"&#", b"\x01"),
        0.1,
    ),
    Target(
        "quotation of a Matrix reply",
        _quotation,
        (b"> <@a:b> c\n> d\n\ne",),
        (b"> ", b"\n", b">", b"\n\n"),
        0.2,
    ),
    Target(
        "Matrix's refusal",
        _failure,
        (b'429\n{"errcode": "M_LIMIT_EXCEEDED", "error": "a", "retry_after_ms": 2000}', b"403\n{}"),
        (*JSON_WORDS, b"404\n", b"500\n", b'"errcode"', b'"retry_after_ms"', b"-1"),
        0.3,
    ),
    Target(
        "Matrix's conversation",
        _place,
        (b"!r:a.example $b", b"!r", b"!r:a.example contact:matrix:x"),
        (b"!", b"$", b" ", b"\n"),
        0.2,
        _VALUE,
    ),
)
