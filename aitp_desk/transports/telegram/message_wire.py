"""Translates messages of the desk into calls of the Bot API.

Source: Bot API, "sendMessage", "sendDocument" and "InlineKeyboardMarkup".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from aitp_desk.transports.base import Refused
from aitp_desk.transports.events import Choice
from aitp_desk.transports.messages import Button, Outgoing, OutgoingFile
from aitp_desk.transports.telegram import text
from aitp_desk.transports.telegram.wire import parse_conversation
from aitp_desk.transports.wire.markup import count_units

MOST_FILE_BYTES = 50 * 1024 * 1024
MOST_TOKEN_BYTES = 64
MOST_BUTTONS = 20
_MOST_ROW = 3
"""Buttons of a row, if their labels are short."""
_ROW_CHARACTERS = 27
_WEB = ("https://", "http://")


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call that sends one message.

    Parameters:
        params: of the method, as JSON.
        file: to upload as ``document``.
        plain: the text without tags, for when Telegram refuses them.
    """

    method: str
    params: dict[str, Any]
    file: OutgoingFile | None = None
    plain: str = ""


def build_calls(outgoing: Outgoing, *, with_links: bool = True) -> list[Call]:
    """Return the calls that send a message, in order; the buttons are with its text.

    Parameters:
        with_links: whether buttons may be links; otherwise those are in the text.

    Raises:
        Refused: Telegram takes no such message.
        Unreachable: there is no such conversation.
    """
    rows = build_rows(outgoing, with_links=with_links)
    head = text.strong(outgoing.speaker) if outgoing.speaker else ""
    tail = _build_tail(outgoing, with_links=with_links)
    pieces = text.render_pieces(outgoing.text, head=head, tail=tail)
    if not pieces and (rows or not outgoing.files):
        pieces = text.render_pieces(outgoing.form.title if outgoing.form else "…")
    target = _build_target(outgoing)
    for file in outgoing.files:
        if len(file.data) > MOST_FILE_BYTES or not file.data:
            raise Refused("Telegram takes files of 1 byte to 50 MB.")
    is_caption = (
        len(outgoing.files) == 1
        and len(pieces) == 1
        and count_units(pieces[0].plain) <= text.MOST_CAPTION_UNITS
    )
    calls = []
    if not is_caption:
        calls += [_build_text(piece, target) for piece in pieces]
    # documents come first, so that the buttons are at the end
    documents = [
        Call(method="sendDocument", params=dict(target), file=file) for file in outgoing.files
    ]
    if is_caption:
        documents[0].params.update(caption=pieces[0].html, parse_mode="HTML")
        documents[0] = msgspec.structs.replace(documents[0], plain=pieces[0].plain)
    calls = [*documents, *calls]
    if rows:
        calls[-1].params["reply_markup"] = {"inline_keyboard": rows}
    return calls


def build_chosen(conversation: str, choice: Choice, label: str) -> dict[str, Any]:
    """Return the parameters that leave a message only the button that was pressed.

    Parameters:
        label: of the button; empty if it is unknown.

    Raises:
        Unreachable: there is no such conversation.
    """
    chat, _ = parse_conversation(conversation)
    rows = [[{"text": f"✓ {label}", "callback_data": choice.token}]] if label else []
    return {
        "chat_id": chat,
        "message_id": int(choice.message_ref),
        "reply_markup": {"inline_keyboard": rows},
    }


def build_rows(outgoing: Outgoing, *, with_links: bool = True) -> list[list[dict[str, str]]]:
    """Return the rows of the inline keyboard.

    Raises:
        Refused: a button's token is longer than Telegram takes.
    """
    buttons = [_build_button(one) for one in outgoing.buttons if one.token or _is_link(one.url)]
    form = outgoing.form
    if form is not None and _is_link(form.url):
        buttons.append({"text": form.title, "url": form.url})
    if not with_links:
        buttons = [one for one in buttons if "url" not in one]
    return list(_arrange(buttons))


def _build_button(button: Button) -> dict[str, str]:
    built = {"text": button.label or "…"}
    if not button.token:
        return {**built, "url": button.url}
    if not 1 <= len(button.token.encode()) <= MOST_TOKEN_BYTES:
        raise Refused(f"Telegram takes tokens of at most {MOST_TOKEN_BYTES} bytes.")
    built["callback_data"] = button.token
    if button.style != "plain":
        built["style"] = button.style
    return built


def _arrange(buttons: Sequence[dict[str, str]]) -> Iterable[list[dict[str, str]]]:
    """Put short labels next to each other."""
    row: list[dict[str, str]] = []
    for button in buttons:
        characters = sum(len(one["text"]) for one in (*row, button))
        if row and (len(row) == _MOST_ROW or characters > _ROW_CHARACTERS):
            yield row
            row = []
        row.append(button)
    if row:
        yield row


def _build_tail(outgoing: Outgoing, *, with_links: bool) -> str:
    """Return what follows the text: links that are no buttons, sources."""
    lines = []
    form = outgoing.form
    if not with_links:
        links = [(one.label, one.url) for one in outgoing.buttons if not one.token]
        if form is not None:
            links.append((form.title, form.url))
        lines += [text.link(label, url) for label, url in links if _is_link(url)]
    lines += [
        f"↗ {text.link(source.title[:100] or source.url, source.url)}"
        for source in outgoing.sources
        if _is_link(source.url)
    ]
    return "\n".join(lines)


def _build_text(piece: text.Piece, target: dict[str, Any]) -> Call:
    params = {
        **target,
        "text": piece.html,
        "parse_mode": "HTML",
        "link_preview_options": {"is_disabled": True},
    }
    return Call(method="sendMessage", params=params, plain=piece.plain)


def _build_target(outgoing: Outgoing) -> dict[str, Any]:
    chat, topic = parse_conversation(outgoing.conversation)
    target: dict[str, Any] = {"chat_id": chat}
    if topic:
        target["message_thread_id"] = topic
    answers = outgoing.answers_ref
    # in a group it shows whom it answers
    if chat < 0 and outgoing.is_reply and answers.isascii() and answers.isdigit():
        target["reply_parameters"] = {
            "message_id": int(answers),
            "allow_sending_without_reply": True,
        }
    return target


def _is_link(url: str) -> bool:
    return url.startswith(_WEB)
