"""Translates messages of the desk into those of the Cloud API.

Source: Cloud API, "Text messages", "Interactive reply buttons messages", "Interactive list
messages", "Interactive call-to-action URL button messages", "Template messages".
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.transports.base import Refused, Unreachable, WindowClosed
from aitp_desk.transports.messages import Button, Outgoing, OutgoingFile
from aitp_desk.transports.whatsapp import text
from aitp_desk.transports.whatsapp.wire import is_address, is_number
from aitp_desk.transports.wire.markup import count_units, write_plainly
from aitp_desk.transports.wire.texts import say

WINDOW_SECONDS = 24 * 60 * 60
MOST_BUTTONS = 3
MOST_ROWS = 10
MOST_TITLE = 20
MOST_ROW_TITLE = 24
MOST_ROW_DESCRIPTION = 72
MOST_TOKEN = 200
MOST_FILE_BYTES = 100 * 1024 * 1024
MOST_IMAGE_BYTES = 5 * 1024 * 1024
_MARGIN_SECONDS = 60
"""A message must arrive within the window, not only leave."""
_MOST_VARIABLE = 900
"""Characters of a template's variable; the whole body has at most 1,024."""
_IMAGES = ("image/jpeg", "image/png")
FILE_TYPES = MappingProxyType(
    dict.fromkeys(_IMAGES, MOST_IMAGE_BYTES)
    | dict.fromkeys(("application/pdf", "text/plain"), MOST_FILE_BYTES)
)
"""What the desk tells apart and WhatsApp takes ("Supported media types")."""
_WEB = ("https://", "http://")


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """A file to upload, and the message that shows it.

    Parameters:
        kind: of the message: ``image`` or ``document``.
    """

    kind: str
    file: OutgoingFile
    body: dict[str, Any]

    def make_body(self, media_id: str) -> dict[str, Any]:
        """Return the message with the uploaded file."""
        named = {"filename": self.file.name[:240]} if self.kind == "document" else {}
        return {**self.body, self.kind: {"id": media_id, **named, **self.body[self.kind]}}


def is_window_open(outgoing: Outgoing, now: float) -> bool:
    """Return whether free text is taken, as far as it is known."""
    age = now - outgoing.last_heard
    return not outgoing.last_heard or age < WINDOW_SECONDS - _MARGIN_SECONDS


def build_messages(outgoing: Outgoing) -> list[dict[str, Any] | Media]:
    """Return the messages that send a text with its files and buttons, in order.

    Raises:
        Refused: WhatsApp takes no such message.
        Unreachable: there is no such person.
    """
    target = build_target(outgoing)
    for file in outgoing.files:
        if not 0 < len(file.data) <= MOST_FILE_BYTES:
            raise Refused("WhatsApp takes files of 1 byte to 100 MB.")
    tokens = [one for one in outgoing.buttons if one.token]
    links = _find_links(outgoing)
    shown = tokens[:MOST_ROWS]
    rest = tokens[MOST_ROWS:]
    is_link = len(links) == 1 and not tokens
    words = _write_words(outgoing, [] if is_link else links, rest)
    interactive = _build_interactive(shown, links if is_link else [], outgoing.language)
    if interactive is None:
        bodies = [_text(target, part) for part in text.split_text(words, text.MOST_UNITS)]
    else:
        title = outgoing.form.title if outgoing.form else "…"
        before, body = text.split_body(words or title)
        interactive["body"] = {"text": body}
        bodies = [_text(target, part) for part in before]
        bodies.append({**target, "type": "interactive", "interactive": interactive})
    is_caption = (
        interactive is None
        and len(outgoing.files) == 1
        and len(bodies) == 1
        and count_units(words) <= text.MOST_BODY_UNITS
    )
    if is_caption:
        return [_media(target, outgoing.files[0], words)]
    messages: list[dict[str, Any] | Media] = []
    messages += (_media(target, file, "") for file in outgoing.files)
    messages += bodies
    return messages or [_text(target, "…")]


def build_template(outgoing: Outgoing, name: str, language: str) -> tuple[dict[str, Any], bool]:
    """Return the template message that carries a text after the window has closed.

    Returns:
        The message, and whether it carries the whole text and all files.

    Raises:
        WindowClosed: there is no template.
        Unreachable: there is no such person.
    """
    if not name:
        raise WindowClosed("The person's last message is older than 24 hours.")
    choices = [button for button in outgoing.buttons if button.token]
    words = _write_words(outgoing, _find_links(outgoing), choices, is_plain=True)
    words = words or ", ".join(file.name for file in outgoing.files) or "…"
    line = text.join_lines(words, _MOST_VARIABLE)
    is_whole = not outgoing.files and line.split() == words.split()
    parameters = [{"type": "text", "text": line}]
    message = {
        **build_target(outgoing),
        "type": "template",
        "template": {
            "name": name,
            "language": {"code": language},
            "components": [{"type": "body", "parameters": parameters}],
        },
    }
    return message, is_whole


def build_target(outgoing: Outgoing) -> dict[str, Any]:
    """Return the members that every message has.

    Raises:
        Unreachable: the conversation is of no number and of no user id.
    """
    address = outgoing.conversation
    if not is_address(address):
        raise Unreachable("It is neither a phone number nor a user id of WhatsApp.")
    return {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to" if is_number(address) else "recipient": address,
        "biz_opaque_callback_data": outgoing.id[:512],
    }


def build_notice(conversation: str, notice: str) -> dict[str, Any]:
    """Return a short text that is no message of the desk."""
    target = build_target(Outgoing(id="notice", conversation=conversation, recipient="", text=""))
    del target["biz_opaque_callback_data"]
    return _text(target, text.shorten(notice, text.MOST_BODY_UNITS))


def build_receipt(message_id: str) -> dict[str, Any]:
    """Return the request that marks a message as read and shows typing."""
    return {
        "messaging_product": "whatsapp",
        "status": "read",
        "message_id": message_id,
        "typing_indicator": {"type": "text"},
    }


def _text(target: dict[str, Any], words: str) -> dict[str, Any]:
    return {**target, "type": "text", "text": {"body": words, "preview_url": False}}


def _media(target: dict[str, Any], file: OutgoingFile, caption: str) -> Media:
    is_image = file.content_type in _IMAGES and len(file.data) <= MOST_IMAGE_BYTES
    kind = "image" if is_image else "document"
    named = {"caption": caption} if caption else {}
    return Media(kind=kind, file=file, body={**target, "type": kind, kind: named})


def _write_words(
    outgoing: Outgoing,
    links: Sequence[tuple[str, str]],
    buttons: Sequence[Button],
    *,
    is_plain: bool = False,
) -> str:
    """Return the text with what has no place as a button."""
    parts = []
    if outgoing.speaker:
        parts.append(f"{outgoing.speaker}:" if is_plain else f"*{outgoing.speaker}*")
    render = write_plainly if is_plain else text.render_text
    if words := render(outgoing.text):
        parts.append(words)
    if buttons:
        parts.append("\n".join(f"- {one.label}" for one in buttons))
    if links:
        parts.append("\n".join(f"{label}: {url}" for label, url in links))
    sources = [source for source in outgoing.sources if source.url.startswith(_WEB)]
    if sources:
        parts.append("\n".join(_write_source(one.title, one.url) for one in sources))
    return "\n\n".join(parts)


def _write_source(title: str, url: str) -> str:
    return f"↗ {text.shorten(title, 100)}: {url}" if title.strip() else f"↗ {url}"


def _find_links(outgoing: Outgoing) -> list[tuple[str, str]]:
    found = [(one.label, one.url) for one in outgoing.buttons if not one.token]
    if outgoing.form is not None:
        found.append((outgoing.form.title, outgoing.form.url))
    return [(label, url) for label, url in found if url.startswith(_WEB)]


def _build_interactive(
    buttons: Sequence[Button], links: Sequence[tuple[str, str]], language: str
) -> dict[str, Any] | None:
    for button in buttons:
        if len(button.token) > MOST_TOKEN:
            raise Refused(f"WhatsApp takes tokens of at most {MOST_TOKEN} characters.")
    if links:
        label, url = links[0]
        parameters = {"display_text": text.shorten(label, MOST_TITLE) or "→", "url": url}
        return {"type": "cta_url", "action": {"name": "cta_url", "parameters": parameters}}
    if not buttons:
        return None
    is_short = all(count_units(one.label) <= MOST_TITLE for one in buttons)
    if len(buttons) <= MOST_BUTTONS and is_short:
        titles = _number([one.label for one in buttons], MOST_TITLE)
        replies = [
            {"type": "reply", "reply": {"id": one.token, "title": title}}
            for one, title in zip(buttons, titles, strict=True)
        ]
        return {"type": "button", "action": {"buttons": replies}}
    titles = _number([one.label for one in buttons], MOST_ROW_TITLE)
    rows = [_build_row(one, title) for one, title in zip(buttons, titles, strict=True)]
    action = {"button": say("open_list", language), "sections": [{"rows": rows}]}
    return {"type": "list", "action": action}


def _build_row(button: Button, title: str) -> dict[str, str]:
    row = {"id": button.token, "title": title}
    label = " ".join(button.label.split())
    if label and title != label:
        row["description"] = text.shorten(label, MOST_ROW_DESCRIPTION)
    return row


def _number(labels: Sequence[str], most: int) -> list[str]:
    """Return titles of which no two are the same."""
    titles: list[str] = []
    for label in labels:
        title = text.shorten(label, most) or "…"
        number = 2
        while title in titles:
            mark = f" {number}"
            title = text.shorten(label, most - len(mark)) + mark
            number += 1
        titles.append(title)
    return titles
