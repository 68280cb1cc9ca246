"""Reads what WhatsApp delivers: messages of people, and what became of the desk's.

Source: Cloud API, "messages webhook reference". One delivery may hold several of each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aitp_desk.transports.events import (
    ChatStart,
    Choice,
    DeliveryFailure,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    TextMessage,
)
from aitp_desk.transports.whatsapp.failures import UNDELIVERABLE, WINDOW_CLOSED, explain
from aitp_desk.transports.wire.payload import Payload

MOST_EVENTS = 5000
"""A delivery has at most 1,000 updates, as the documentation says."""
_NUMBER = re.compile(r"[1-9]\d{4,19}")
_USER_ID = re.compile(r"[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}")
_MEDIA_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_TOKEN = re.compile(r"[\x21-\x7e]{1,64}")
_FILES = {
    "audio": "audio.ogg",
    "document": "document",
    "image": "photo.jpg",
    "sticker": "sticker.webp",
    "video": "video.mp4",
}
"""Kinds of messages that hold a file, with the name of one that has none."""
_MOVED = frozenset({"user_changed_number", "user_changed_user_id"})


def read_events(delivery: Payload, phone_number_id: str) -> tuple[Incoming, ...]:
    """Return the events of a delivery for the desk's number."""
    if delivery.text("object", 64) != "whatsapp_business_account":
        return ()
    found: list[Incoming | None] = []
    for value in _values(delivery, phone_number_id):
        names = _read_names(value)
        found += (_read_message(message, names) for message in value.parts("messages"))
        found += (_read_status(status) for status in value.parts("statuses"))
    return tuple(one for one in found if one is not None)[:MOST_EVENTS]


def is_address(conversation: str) -> bool:
    """Return whether a text is a phone number or a business-scoped user id."""
    return bool(_NUMBER.fullmatch(conversation) or _USER_ID.fullmatch(conversation))


def is_number(conversation: str) -> bool:
    """Return whether a text is a phone number."""
    return bool(_NUMBER.fullmatch(conversation))


def _values(delivery: Payload, phone_number_id: str) -> Iterator[Payload]:
    for entry in delivery.parts("entry"):
        for change in entry.parts("changes"):
            value = change.part("value")
            number = value.part("metadata").text("phone_number_id", 64)
            if change.text("field", 64) == "messages" and number == phone_number_id:
                yield value


def _read_names(value: Payload) -> dict[str, str]:
    """Return people's names by their numbers and user ids."""
    names: dict[str, str] = {}
    for contact in value.parts("contacts"):
        name = contact.part("profile").text("name", 128)
        for key in (contact.text("wa_id", 32), contact.text("user_id", 160)):
            if key and name:
                names[key] = name
    return names


def _find_person(number: str, user_id: str) -> tuple[str, str] | None:
    """Return the conversation and the person; None for nobody.

    A message goes to the number where it is known, else to the user id. A number changes hands; a
    user id is of one person and one number, so that is who the person is.
    """
    numbers = number if _NUMBER.fullmatch(number) else ""
    users = user_id if _USER_ID.fullmatch(user_id) else ""
    if not numbers and not users:
        return None
    return numbers or users, users or numbers


def _read_message(message: Payload, names: dict[str, str]) -> Incoming | None:
    number, user_id = message.text("from", 32), message.text("from_user_id", 160)
    person = _find_person(number, user_id)
    message_id = message.text("id", 256)
    # a group has members who did not write to the desk
    if person is None or not message_id or "group_id" in message:
        return None
    event = _read_event(message, message_id)
    if event is None:
        return None
    conversation, sender = person
    return Incoming(
        event_id=message_id,
        conversation=conversation,
        sender=sender,
        sender_name=names.get(user_id) or names.get(number) or "",
        sent_at=message.seconds("timestamp"),
        event=event,
    )


def _read_event(message: Payload, message_id: str) -> Event | None:
    kind = message.text("type", 64)
    content = message.part(kind)
    answers = message.part("context").text("id", 256)
    match kind:
        case "interactive":
            return _read_choice(content, message_id, answers)
        case "edit":
            changed = content.part("message")
            edited = changed.part(changed.text("type", 64))
            text = edited.text("body") or edited.text("caption")
            ref = content.text("original_message_id", 256)
            return MessageEdit(message_ref=ref, text=text) if text and ref else None
        case "revoke":
            ref = content.text("original_message_id", 256)
            return MessageRemoval(message_ref=ref) if ref else None
        case "system":
            return _read_change(content)
        case "request_welcome":
            return ChatStart()
        case "reaction":
            return None
        case _:
            pass
    text = _read_text(message, kind, content)
    file = _read_file(content, _FILES[kind]) if kind in _FILES else None
    if not text.strip() and file is None:
        return _unreadable(message_id, answers)
    files = () if file is None else (file,)
    return TextMessage(text=text, message_ref=message_id, answers_ref=answers, files=files)


def _read_text(message: Payload, kind: str, content: Payload) -> str:
    match kind:
        case "text":
            return content.text("body")
        case "button":
            return content.text("text") or content.text("payload")
        case "location":
            return _read_place(content)
        case "contacts":
            return "\n".join(_read_contacts(message))
        case _:
            return content.text("caption") if kind in _FILES else ""


def _unreadable(message_id: str, answers: str) -> TextMessage:
    return TextMessage(text="", message_ref=message_id, answers_ref=answers, is_unreadable=True)


def _read_choice(interactive: Payload, message_id: str, answers: str) -> Event:
    reply = interactive.part(interactive.text("type", 64))
    token, title = reply.text("id", 256), reply.text("title", 256)
    if _TOKEN.fullmatch(token):
        return Choice(token=token, message_ref=answers)
    if title.strip():
        return TextMessage(text=title, message_ref=message_id, answers_ref=answers)
    return _unreadable(message_id, answers)


def _read_change(system: Payload) -> Event | None:
    """Return that a number is not the person's any more."""
    if system.text("type", 64) not in _MOVED:
        return None
    reason = "The person has changed the number, which may belong to another person now."
    return DeliveryFailure(message_ref="", reason=reason, is_final=True)


def _read_file(content: Payload, name: str) -> IncomingFile | None:
    ref = content.text("id", 128)
    if not _MEDIA_ID.fullmatch(ref):
        return None
    content_type = content.text("mime_type", 128).partition(";")[0].strip()
    return IncomingFile(
        name=content.text("filename", 255) or name,
        content_type=content_type or "application/octet-stream",
        ref=ref,
    )


def _read_place(place: Payload) -> str:
    latitude, longitude = place.decimal("latitude"), place.decimal("longitude")
    if latitude is None or longitude is None:
        return ""
    names = (place.text("name", 256), place.text("address", 256))
    return ", ".join((f"📍 {latitude:.6f} {longitude:.6f}", *filter(None, names)))


def _read_contacts(message: Payload) -> Iterator[str]:
    for contact in message.parts("contacts")[:10]:
        name = contact.part("name").text("formatted_name", 128)
        phones = [one.text("phone", 32) for one in contact.parts("phones")[:3]]
        if words := " ".join(filter(None, (name, *phones))):
            yield f"👤 {words}"


def _read_status(status: Payload) -> Incoming | None:
    """Return that a message of the desk did not arrive; None for all other statuses."""
    person = _find_person(status.text("recipient_id", 32), status.text("recipient_user_id", 160))
    ref = status.text("id", 256)
    if person is None or not ref or status.text("status", 32) != "failed":
        return None
    if status.text("recipient_type", 32) == "group":
        return None
    code = next((error.number("code") for error in status.parts("errors")), 0)
    conversation, sender = person
    failure = DeliveryFailure(
        message_ref=ref,
        reason=f"{explain(code)} ({code})",
        is_final=code in UNDELIVERABLE,
        is_window_closed=code in WINDOW_CLOSED,
    )
    return Incoming(
        event_id=f"{ref}:failed",
        conversation=conversation,
        sender=sender,
        sent_at=status.seconds("timestamp"),
        event=failure,
    )
