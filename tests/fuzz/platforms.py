"""What chat platforms deliver: the delivery is proven, its content is of anybody there."""

from __future__ import annotations

import msgspec

from aitp_desk.transports.events import Incoming
from aitp_desk.transports.markup import write_plainly
from aitp_desk.transports.payload import read_payload
from aitp_desk.transports.telegram import text as telegram_text
from aitp_desk.transports.telegram import wire as telegram
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
        (_MESSAGE, _IN_GROUP, _PRESSED),
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
)
