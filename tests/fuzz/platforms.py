"""What chat platforms deliver: the delivery is proven, its content is of anybody there."""

from __future__ import annotations

import hmac
from hashlib import sha256
from urllib.parse import parse_qsl

import msgspec

from aitp_desk.transports.events import Incoming
from aitp_desk.transports.telegram import failures as telegram_failures
from aitp_desk.transports.telegram import text as telegram_text
from aitp_desk.transports.telegram import wire as telegram
from aitp_desk.transports.whatsapp import failures as whatsapp_failures
from aitp_desk.transports.whatsapp import proof
from aitp_desk.transports.whatsapp import text as whatsapp_text
from aitp_desk.transports.whatsapp import wire as whatsapp
from aitp_desk.transports.wire.markup import write_plainly
from aitp_desk.transports.wire.payload import read_payload
from tests.fuzz.target import JSON_WORDS, Target
from tests.support.transports.telegram_html import count_units, parse_html

_BOT = telegram.Bot(id=4839574812, username="lantern_bot")
_MESSAGE = (
    b'{"update_id": 7, "message": {"message_id": 5, "date": 1800000000, "text": "/start abc",'
    b' "from": {"id": 3, "is_bot": false, "first_name": "A", "language_code": "en"},'
    b' "chat": {"id": 3, "type": "private"},'
    b' "entities": [{"type": "bot_command", "offset": 0, "length": 6}]}}'
)
_IN_GROUP = (
    b'{"update_id": 8, "message": {"message_id": 6, "date": 1,'
    b' "text": "\\ud83d\\ude00 @lantern_bot hi",'
    b' "from": {"id": 3}, "chat": {"id": -100, "type": "supergroup"}, "message_thread_id": 9,'
    b' "is_topic_message": true, "entities": [{"type": "mention", "offset": 3, "length": 12}]}}'
)
_PRESSED = (
    b'{"update_id": 9, "callback_query": {"id": "1", "data": "t", "from": {"id": 3},'
    b' "message": {"message_id": 4, "date": 0, "chat": {"id": 3, "type": "private"}}}}'
)
_ANN_THERE = b'"from": {"id": 3, "first_name": "A"}, "chat": {"id": 3, "type": "private"}'
_OTHER_UPDATES = (
    b'{"update_id": 10, "edited_message": {"message_id": 5, "edit_date": 2, "date": 1, %s,'
    b' "caption": "a", "photo": [{"file_id": "AgAC", "width": 90, "height": 60},'
    b' {"file_id": "AgAD", "width": 900, "height": 600, "file_size": 7}]}}' % _ANN_THERE,
    b'{"update_id": 11, "message": {"message_id": 7, %s, "document": {"file_id": "BQAC-_1",'
    b' "file_name": "a.pdf", "mime_type": "application/pdf", "file_size": 9}, "caption": "b",'
    b' "reply_to_message": {"message_id": 4, "from": {"id": 4839574812, "is_bot": true}}}}'
    % _ANN_THERE,
    b'{"update_id": 12, "message": {"message_id": 8, %s, "venue": {"title": "c", "address": "d",'
    b' "location": {"latitude": 52.5, "longitude": -13.4}}, "contact": {"phone_number": "1",'
    b' "first_name": "e"}, "sticker": {"emoji": "f"}, "poll": {}}}' % _ANN_THERE,
    b'{"update_id": 13, "my_chat_member": {%s, "date": 1, "new_chat_member":'
    b' {"user": {"id": 4839574812}, "status": "kicked"}}}' % _ANN_THERE,
    (
        b'{"update_id": 14, "message": {"message_id": 9, "from": {"id": 3}, "migrate_to_chat_id":'
        b' -1001234567890, "chat": {"id": -100, "type": "group"}}}'
    ),
    b'{"update_id": 15, "callback_query": {"id": "2", "data": "t", "from": {"id": 3}, "message":'
    b' {"message_id": 4, %s, "reply_markup": {"inline_keyboard": [[{"text": "g",'
    b' "callback_data": "t"}], [{"text": "h", "url": "https://i.example"}]]}}}}' % _ANN_THERE,
)
_SECRET = b"a secret of the app"
_NUMBER_ID = "106540352242922"
_HEAD = (
    b'{"object": "whatsapp_business_account", "entry": [{"changes": [{"field": "messages",'
    b' "value": {"metadata": {"phone_number_id": "106540352242922"},'
    b' "contacts": [{"profile": {"name": "A"}, "wa_id": "16505551234", "user_id": "US.1"}],'
)
_ANN = b'"from": "16505551234", "from_user_id": "US.1", "id": "wamid.a", "timestamp": "1"'
_TEXT = _HEAD + b'"messages": [{' + _ANN + b', "type": "text", "text": {"body": "Hi"}}]}}]}]}'
_CHOICE = (
    _HEAD + b'"messages": [{' + _ANN + b', "type": "interactive", "context": {"id": "wamid.b"},'
    b' "interactive": {"type": "list_reply", "list_reply": {"id": "t", "title": "T"}}},'
    b" {" + _ANN + b', "type": "image", "image": {"id": "9", "mime_type": "image/png"}}]}}]}]}'
)
_FAILED = (
    _HEAD + b'"statuses": [{"id": "wamid.c", "status": "failed", "recipient_id": "16505551234",'
    b' "timestamp": "2", "errors": [{"code": 131047}]}]}}]}]}'
)
_KINDS = _HEAD + b'"messages": [%s]}}]}]}' % b", ".join(
    b"{" + _ANN + b", " + content + b"}"
    for content in (
        (
            b'"type": "document", "document": {"id": "8", "filename": "a.pdf", "caption": "b",'
            b' "mime_type": "application/pdf"}'
        ),
        (
            b'"type": "edit", "edit": {"original_message_id": "wamid.d", "message":'
            b' {"type": "text", "text": {"body": "c"}}}'
        ),
        b'"type": "revoke", "revoke": {"original_message_id": "wamid.e"}',
        b'"type": "location", "location": {"latitude": 1.5, "longitude": 2, "name": "f"}',
        (
            b'"type": "contacts", "contacts": [{"name": {"formatted_name": "g"}, "phones":'
            b' [{"phone": "1"}]}]'
        ),
        b'"type": "button", "button": {"payload": "h", "text": "i"}, "context": {"id": "wamid.j"}',
        b'"type": "reaction", "reaction": {"message_id": "wamid.k", "emoji": "l"}',
        b'"type": "system", "system": {"type": "user_changed_number", "new_wa_id": "2"}',
        b'"type": "unsupported", "errors": [{"code": 131051, "title": "m"}]',
    )
)


def can_be_stored(incoming: Incoming) -> None:
    """What is read can be stored, and says whose it is."""
    assert msgspec.json.decode(msgspec.json.encode(incoming), type=Incoming) == incoming
    assert incoming.event_id
    assert incoming.conversation
    assert incoming.sender


def _update(data: bytes) -> None:
    incoming = telegram.read_update(read_payload(data), _BOT)
    if incoming is not None:
        can_be_stored(incoming)
        telegram.parse_conversation(incoming.conversation)


def _delivery(data: bytes) -> None:
    for incoming in whatsapp.read_events(read_payload(data), _NUMBER_ID):
        can_be_stored(incoming)
        assert whatsapp.is_address(incoming.conversation)


def _refusal(data: bytes) -> None:
    """Whatever a platform refuses a message with, operators read why."""
    status, _, body = data.partition(b"\n")
    number, response = int.from_bytes(status[:2]) % 600, read_payload(body)
    assert telegram_failures.judge_error(telegram_failures.read_error(number, response)).reason
    assert whatsapp_failures.read_failure(number, response).reason


def _signed(body: bytes) -> bytes:
    return f"sha256={hmac.new(_SECRET, body, sha256).hexdigest()}".encode() + b"\n" + body


def _signature(data: bytes) -> None:
    """What is accepted is what the secret signs, over these bytes."""
    shown, _, body = data.partition(b"\n")
    headers = {"x-hub-signature-256": shown.decode("utf-8", "surrogateescape")}
    proof.check_signature(_SECRET, body, headers)
    assert shown == _signed(body).partition(b"\n")[0]


def _challenge(data: bytes) -> None:
    query = dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))
    answer = proof.answer_challenge("word", query)
    assert answer.decode() == query["hub.challenge"]
    assert query["hub.verify_token"] == "word"


def _lines(data: bytes) -> None:
    """No message to WhatsApp is longer than it takes, and no word is lost.

    An empty line of a quotation may be, where the text is divided.
    """
    text = whatsapp_text.render_text(data.decode("utf-8", "replace"))
    before, body = whatsapp_text.split_body(text)
    assert count_units(body) <= whatsapp_text.MOST_BODY_UNITS
    assert all(count_units(part) <= whatsapp_text.MOST_UNITS for part in before)
    sent = iter("".join((*before, body)))  # a block of code that is divided has more fences
    words = "".join(line for line in text.split("\n") if line.strip(" >"))
    assert all(character in sent for character in "".join(words.split()))


def _markup(data: bytes) -> None:
    """Whatever a model or an operator writes, Telegram takes, and shows its words."""
    text = data.decode("utf-8", "replace")
    write_plainly(text)
    for piece in telegram_text.render_pieces(text):
        shown, _ = parse_html(piece.html)
        assert shown == piece.plain
        assert count_units(shown) <= telegram_text.MOST_UNITS


PLATFORMS = (
    Target(
        "Telegram update",
        _update,
        (_MESSAGE, _IN_GROUP, _PRESSED, *_OTHER_UPDATES),
        (*JSON_WORDS, b'"offset"', b'"length"', b'"from"', b'"chat"', b'"caption"', b"-", b"@"),
    ),
    Target(
        "Markdown for Telegram",
        _markup,
        (
            b"# A\n\n**b** _c_ `d` [e](https://f.example)\n\n- g\n\n> h",
            b"```py\ni < j\n```\n| k |\n|-|",
        ),
        (
            b"**",
            b"_",
            b"`",
            b"~~",
            b"[",
            b"](",
            b"<",
            b"&lt;",
            b"\n> ",
            b"\n- ",
            b"|-|",
            b"\xf0\x9f\x98\x80",
        ),
        0.3,
    ),
    Target(
        "WhatsApp delivery",
        _delivery,
        (_TEXT, _CHOICE, _FAILED, _KINDS),
        (*JSON_WORDS, b'"from"', b'"type"', b'"edit"', b'"revoke"', b'"system"', b'"contacts"'),
    ),
    Target(
        "refusal of a platform",
        _refusal,
        (
            b'\x01\xad\n{"error_code": 429, "description": "a", "parameters": {"retry_after": 3}}',
            b'\x01\x90\n{"error": {"code": 131047, "message": "Re-engagement message"}}',
        ),
        (*JSON_WORDS, b'"migrate_to_chat_id"', b'"parameters"', b'"code"', b"chat not found"),
        0.5,
    ),
    Target(
        "WhatsApp signature",
        _signature,
        (_signed(b"{}"), _signed(b"")),
        (b"sha256=", b"sha1=", b"\n", b"0" * 64),
        0.3,
    ),
    Target(
        "WhatsApp verification",
        _challenge,
        (b"hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=word",),
        (b"hub.", b"mode", b"challenge", b"verify_token", b"=", b"&", b"%00", b"%0a", b"<"),
        0.3,
    ),
    Target(
        "Markdown for WhatsApp",
        _lines,
        (b"# A\n\n**b** _c_ `d` [e](https://f.example)\n\n- g\n\n> h", b"word " * 300),
        (b"**", b"_", b"`", b"~~", b"[", b"](", b"\n> ", b"\n- ", b"\xf0\x9f\x98\x80"),
        0.3,
    ),
)
