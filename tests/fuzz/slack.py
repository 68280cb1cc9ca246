"""What Slack sends, and the texts that are sent to it."""

from __future__ import annotations

from aitp_desk.transports.slack.connection import decode_envelope
from aitp_desk.transports.slack.forms import make_modal, pack_form, unpack_form
from aitp_desk.transports.slack.places import parse_place, parse_ref
from aitp_desk.transports.slack.rich_text import plain, rich_text
from aitp_desk.transports.slack.signature import check_signature
from aitp_desk.transports.slack.text import read_text
from aitp_desk.transports.slack.wire import (
    decode_command,
    decode_event,
    decode_fields,
    decode_interaction,
)
from tests.fuzz.target import JSON_WORDS, Target, headers_of
from tests.support.transports import slack_payloads as slack

_MESSAGE = slack.message("Hello <@U0BOT00001>", files=[slack.shared_file("https://a.example/f")])
_FORM = b"token=a&team_id=T024BE7LD&user_id=U061F7AUR&trigger_id=1.2.a&text=Hello&command=%2Fask"
_MODAL = {
    "type": "modal",
    "callback_id": "form",
    "private_metadata": '{"token":"t","conversation":"T1A/U1A","message_ref":"D1A/1.1"}',
}
_STATE = {"a": {"text": {"type": "plain_text_input", "value": "x"}}}
_WORDS = (
    *JSON_WORDS,
    *(b'"event"', b'"message"', b'"subtype"', b'"message_changed"', b'"message_deleted"'),
    *(b'"thread_ts"', b'"1355517523.000005"', b'"files"', b'"authorizations"', b'"bot_id"'),
    *(b'"actions"', b'"container"', b'"view"', b'"state"', b'"values"', b'"private_metadata"'),
)


def _signature(data: bytes) -> None:
    head, _, body = data.partition(b"\n\n")
    headers = {name.lower(): value for name, value in headers_of(head).items()}
    check_signature("a secret", headers, body, 1531420618)


def _command(data: bytes) -> None:
    decode_command(decode_fields(data))


def _text(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    assert "\0" not in read_text(text, "U0BOT00001")


def _markdown(data: bytes) -> None:
    for element in rich_text(data.decode("utf-8", "replace")):
        assert element["type"].startswith("rich_text_")
        assert plain([element]) or element["elements"]


def _form(data: bytes) -> None:
    form = unpack_form(data.decode("latin-1"))
    if form is not None and pack_form(form) is not None:
        assert make_modal(form, "", "")["blocks"]


def _ids(data: bytes) -> None:
    """An id that is read is written as it was."""
    text = data.decode("latin-1")
    place, ref = parse_place(text), parse_ref(text)
    assert place is None or str(place) == text
    assert ref is None or str(ref) == text


SLACK = (
    Target(
        "Slack's event",
        decode_event,
        tuple(
            slack.encode(slack.envelope(event))
            for event in (
                _MESSAGE,
                slack.mention("<@U0BOT00001> Hi"),
                slack.change(_MESSAGE, {**_MESSAGE, "text": "old"}),
                slack.removal(_MESSAGE),
            )
        ),
        _WORDS,
        0.5,
    ),
    Target(
        "Slack's interaction",
        decode_interaction,
        (
            slack.encode(slack.press("choice:0", "tok")),
            slack.encode(slack.press("form:0", "AAAA")),
            slack.encode(slack.submission(_MODAL, _STATE)),
        ),
        _WORDS,
        0.5,
    ),
    Target("Slack's command", _command, (_FORM,), (b"&", b"=", b"%", b"%ff", b"text="), 0.5),
    Target(
        "Slack's signature",
        _signature,
        (
            (
                b"X-Slack-Request-Timestamp: 1531420618\nX-Slack-Signature: "
                b"v0=26b90c59c7dc6d621fc1a6083948c7ff7d5d865baa48f35c3e0d1e81349f8fe0\n\n{}"
            ),
        ),
        (b"X-Slack-Signature: ", b"v0=", b"X-Slack-Request-Timestamp: ", b"\n\n", b"9" * 30),
        0.3,
    ),
    Target(
        "Slack's envelope",
        decode_envelope,
        (b'{"type": "events_api", "envelope_id": "a", "payload": {"type": "event_callback"}}',),
        (*_WORDS, b'"envelope_id"', b'"accepts_response_payload"'),
        0.3,
    ),
    Target(
        "Slack's text",
        _text,
        (b"<@U0BOT00001> see <https://a.example|here> &amp; <#C1|general>",),
        (b"<", b">", b"|", b"@", b"#", b"!", b"&amp;", b"&lt;"),
        0.3,
    ),
    Target(
        "Markdown for Slack",
        _markdown,
        (b"# A\n\n- **b**\n  1. `c`\n\n> d\n\n| e | f |\n|---|---|\n| g | h |\n",),
        (b"*", b"_", b"`", b"\n\n", b"- ", b"> ", b"[", b"](", b"https://", b"<", b"|", b"~~"),
        0.2,
    ),
    Target(
        "form of a Slack button",
        _form,
        (b"eNqLVipR0lFyBOJgJZ3oaKVEKK8ktQIokZaYU5yqowSUiQUCAO9vC5c=",),
        (b"=", b"eN"),
        0.3,
    ),
    Target(
        "Slack's ids",
        _ids,
        (b"T024BE7LD/C024BE91L/1355517523.000005", b"D024BE91L/1355517523.000005"),
        (b"/", b".", b"T", b"0"),
        0.2,
    ),
)
