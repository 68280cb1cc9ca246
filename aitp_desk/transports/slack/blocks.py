"""Messages of the desk as Block Kit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from aitp_desk.transports.messages import Button, Outgoing
from aitp_desk.transports.slack.forms import pack_form, plain_text
from aitp_desk.transports.slack.objects import EventType
from aitp_desk.transports.slack.rich_text import Element, link, plain, plain_section, rich_text
from aitp_desk.transports.slack.text import escape_text

MOST_CHARACTERS = 3000
"""The longest text of one message: that of a section, and good to read."""
MOST_BUTTONS = 10
"""Most buttons below a message; Slack takes 25 in a block."""
MOST_LABEL_CHARACTERS = 75
MOST_URL_CHARACTERS = 3000
MOST_SOURCES = 10
MOST_NOTE_CHARACTERS = 300
MOST_PRESSED_CHARACTERS = 40_000

CHOICE_ACTION = "choice"
FORM_ACTION = "form"
LINK_ACTION = "link"


def make_message(outgoing: Outgoing, *, is_plain: bool = False) -> dict[str, Any]:
    """Return ``text`` and ``blocks`` of a message; both are empty if it has only files.

    Parameters:
        is_plain: without formatting, if Slack has refused the formatted message.
    """
    elements = plain_section(outgoing.text) if is_plain else rich_text(outgoing.text)
    if outgoing.speaker and elements:
        speaker = {"type": "text", "text": outgoing.speaker, "style": {"bold": True}}
        elements.insert(0, {"type": "rich_text_section", "elements": [speaker]})
    blocks: list[dict[str, Any]] = []
    if elements:
        blocks.append({"type": "rich_text", "elements": elements})
    if sources := _sources(outgoing):
        blocks.append({"type": "rich_text", "elements": [sources]})
    if buttons := _buttons(outgoing):
        blocks.append({"type": "actions", "elements": buttons})
    # only notifications and search show the text when there are blocks
    text = plain(elements)[:MOST_CHARACTERS] or "".join(f"{one.label} " for one in outgoing.buttons)
    return {"text": escape_text(text.strip() or ("…" if blocks else "")), "blocks": blocks}


class PressedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message whose button was pressed, as Slack has it, without its buttons.

    Parameters:
        text: for notifications, escaped.
        label: of the button.
    """

    text: str
    blocks: tuple[msgspec.Raw, ...]
    label: str


def keep_pressed(text: str, blocks: Iterable[msgspec.Raw], label: str) -> str:
    """Return a message without its buttons, to be shown again after the choice.

    Empty for one that is longer than any of the desk.
    """
    kept = tuple(one for one in blocks if _type_of(one) not in {"actions", ""})
    pressed = msgspec.json.encode(PressedMessage(text=text, blocks=kept, label=label)).decode()
    return pressed if len(pressed) <= MOST_PRESSED_CHARACTERS else ""


def make_answered(pressed: str, person: str) -> dict[str, Any] | None:
    """Return a message with the choice in place of its buttons; None if it was not kept.

    Parameters:
        pressed: as :func:`keep_pressed` returned it.
        person: name of the person who chose; empty if it is unknown.
    """
    try:
        kept = msgspec.json.decode(pressed, type=PressedMessage)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    choice = f"✓ {kept.label}" + (f" · {person}" if person else "")
    note = {"type": "context", "elements": [plain_text(choice, MOST_NOTE_CHARACTERS)]}
    return {"text": kept.text or escape_text(choice), "blocks": [*kept.blocks, note]}


def _type_of(block: msgspec.Raw) -> str:
    try:
        return msgspec.json.decode(block, type=EventType).type
    except msgspec.DecodeError:
        return ""


def _sources(outgoing: Outgoing) -> Element | None:
    links = [link(one.url, one.title) for one in outgoing.sources[:MOST_SOURCES]]
    if not links:
        return None
    items = [{"type": "rich_text_section", "elements": [one]} for one in links if one["text"]]
    return {"type": "rich_text_list", "style": "bullet", "elements": items} if items else None


def _buttons(outgoing: Outgoing) -> list[dict[str, Any]]:
    found = [
        _button(at, one)
        for at, one in enumerate(outgoing.buttons[:MOST_BUTTONS])
        if len(one.url) <= MOST_URL_CHARACTERS
    ]
    if form := outgoing.form:
        value = pack_form(form)
        if value is not None:
            found.append(
                _element(f"{FORM_ACTION}:0", form.title) | {"value": value, "style": "primary"}
            )
        elif 0 < len(form.url) <= MOST_URL_CHARACTERS:
            found.append(_element(f"{LINK_ACTION}:form", form.title) | {"url": form.url})
    return found


def _button(at: int, button: Button) -> dict[str, Any]:
    kind, target = (
        (LINK_ACTION, {"url": button.url})
        if button.url and not button.token
        else (CHOICE_ACTION, {"value": button.token})
    )
    element = _element(f"{kind}:{at}", button.label) | target
    return element if button.style == "plain" else element | {"style": button.style}


def _element(action: str, label: str) -> dict[str, Any]:
    text = plain_text(label, MOST_LABEL_CHARACTERS)
    return {"type": "button", "action_id": action, "text": text}
