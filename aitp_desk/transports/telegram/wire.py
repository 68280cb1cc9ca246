"""Reads Telegram's updates.

Source: Bot API, "Update" and the types that it names.
"""

from __future__ import annotations

import re

import msgspec

from aitp_desk.transports.base import Unreachable
from aitp_desk.transports.events import (
    ChatStart,
    Choice,
    ConversationMove,
    Event,
    Incoming,
    IncomingFile,
    MessageEdit,
    OptOut,
    TextMessage,
)
from aitp_desk.transports.telegram.text import slice_units
from aitp_desk.transports.wire.payload import Payload

UPDATES = ("message", "edited_message", "callback_query", "my_chat_member")
"""The kinds of updates that the desk asks for."""
MOST_ENTITIES = 100
_CODE = re.compile(r"[A-Za-z0-9_-]{0,64}")
_FILE_ID = re.compile(r"[A-Za-z0-9_-]{1,256}")
_COMMAND = re.compile(r"/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]{1,32}))?")
_CONVERSATION = re.compile(r"(-?[1-9]\d{0,15})(?:/([1-9]\d{0,15}))?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,2}")
_FILES = {
    "document": ("", "application/octet-stream"),
    "audio": ("audio.mp3", "audio/mpeg"),
    "voice": ("voice.ogg", "audio/ogg"),
    "video": ("video.mp4", "video/mp4"),
    "video_note": ("video.mp4", "video/mp4"),
}
"""Members that hold one file, with the name and the type of one that states none."""
_NOT_READ = ("poll", "dice", "story", "paid_media", "checklist", "game", "invoice", "giveaway")
"""What people send and the desk cannot read."""


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """The bot that receives updates.

    Parameters:
        id: Telegram's number of it.
        username: without @.
    """

    id: int
    username: str


def read_update(update: Payload, bot: Bot) -> Incoming | None:
    """Return what an update reports; None for nothing that concerns the desk."""
    if (message := update.part("message")) or (message := update.part("edited_message")):
        return _read_message(update, message, bot, is_edited="message" not in update)
    if query := update.part("callback_query"):
        return _read_choice(update, query, bot)
    if member := update.part("my_chat_member"):
        return _read_member(update, member, bot)
    return None


def make_conversation(message: Payload) -> str:
    """Return the conversation of a message: its chat, with the topic where it has one."""
    chat = str(message.part("chat").number("id"))
    topic = message.number("message_thread_id") if message.flag("is_topic_message") else 0
    # 1 is the general topic, which Telegram takes messages to without a topic
    return f"{chat}/{topic}" if topic > 1 else chat


def parse_conversation(conversation: str) -> tuple[int, int]:
    """Return the chat and the topic of a conversation; 0 for no topic.

    Raises:
        Unreachable: there is no such conversation.
    """
    found = _CONVERSATION.fullmatch(conversation)
    if found is None:
        raise Unreachable("Telegram has no such chat.")
    return int(found[1]), int(found[2] or 0)


def _read_message(
    update: Payload, message: Payload, bot: Bot, *, is_edited: bool
) -> Incoming | None:
    if (move := _read_move(message, bot)) is not None:
        return move
    sender = message.part("from")
    is_of_program = sender.flag("is_bot") or message.flag("is_automatic_forward")
    if is_of_program or not sender.number("id") or not message.number("message_id"):
        return None
    event = _read_event(message, bot, is_edited=is_edited)
    if event is None:
        return None
    return _make_incoming(update, message, sender, event, bot)


def _read_move(message: Payload, bot: Bot) -> Incoming | None:
    """Return that a group has become a supergroup, which Telegram reports in both; else None."""
    chat = message.part("chat").number("id")
    former = message.number("migrate_from_chat_id") or chat
    new = message.number("migrate_to_chat_id") or chat
    if former == new or max(former, new) >= 0:  # only groups move
        return None
    return Incoming(
        event_id=f"{bot.id}:move {former} {new}",
        conversation=str(new),
        sender=str(bot.id),
        is_private=False,
        event=ConversationMove(former=str(former)),
    )


def _make_incoming(
    update: Payload, message: Payload, sender: Payload, event: Event, bot: Bot
) -> Incoming | None:
    chat = message.part("chat")
    if not chat.number("id") or not update.number("update_id"):
        return None
    names = (sender.text("first_name", 64), sender.text("last_name", 64))
    language = sender.text("language_code", 16)
    return Incoming(
        event_id=f"{bot.id}:{update.number('update_id')}",
        conversation=make_conversation(message),
        sender=str(sender.number("id")),
        sender_name=" ".join(name for name in names if name),
        is_private=chat.text("type") == "private",
        language=language if _LANGUAGE.fullmatch(language) else "",
        sent_at=max(0, message.number("edit_date") or message.number("date")),
        event=event,
    )


def _read_event(message: Payload, bot: Bot, *, is_edited: bool) -> Event | None:
    words = _find_words(message, bot)
    if words is None:
        return None
    ref = str(message.number("message_id"))
    replied = message.part("reply_to_message")
    answers = str(replied.number("message_id")) if replied.number("message_id") else ""
    files = _read_files(message)
    text = words.text or _read_place(message)
    if is_edited:
        return MessageEdit(message_ref=ref, text=text) if text and not words.command else None
    if words.command == "start" or (words.command == "ask" and not text):
        code = text.strip()
        return ChatStart(code=code if _CODE.fullmatch(code) else "")
    if words.command == "stop":
        return OptOut()
    if text or files:
        return TextMessage(text=text, message_ref=ref, answers_ref=answers, files=files)
    if any(name in message for name in _NOT_READ):
        return TextMessage(text="", message_ref=ref, answers_ref=answers, is_unreadable=True)
    return ChatStart() if words.is_mentioned else None


class _Words(msgspec.Struct, frozen=True, kw_only=True):
    """The text of a message, as far as it is for the desk.

    Parameters:
        command: ``start``, ``stop`` or ``ask``; empty for none.
        is_mentioned: whether the bot is named, and not only answered.
    """

    text: str
    command: str = ""
    is_mentioned: bool = False


def _find_words(message: Payload, bot: Bot) -> _Words | None:
    """Return what is for the desk; in groups that is what names or answers the bot."""
    name = "text" if "text" in message else "caption"
    text = message.text(name)
    entities = message.parts("entities" if name == "text" else "caption_entities")[:MOST_ENTITIES]
    is_private = message.part("chat").text("type") == "private"
    if message.part("chat").text("type") not in {"private", "group", "supergroup"}:
        return None
    if any(one.text("type") == "bot_command" and _starts(one) for one in entities):
        command = _COMMAND.match(text)
        if command is not None:
            return _read_command(text, command, bot, is_private=is_private)
    if is_private:
        return _Words(text=text.strip())
    for entity in entities:
        start, length = entity.number("offset"), entity.number("length")
        before, inner, after = slice_units(text, start, length)
        is_named = entity.text("type") == "mention" and (
            inner.removeprefix("@").lower() == bot.username.lower()
        )
        is_meant = entity.text("type") == "text_mention" and (
            entity.part("user").number("id") == bot.id
        )
        if is_named or is_meant:
            rest = f"{before.rstrip()} {after.lstrip(' ,:')}"
            return _Words(text=rest.strip(), is_mentioned=True)
    replied = message.part("reply_to_message")
    is_answer = replied.part("from").number("id") == bot.id and "forum_topic_created" not in replied
    return _Words(text=text.strip()) if is_answer else None


def _starts(entity: Payload) -> bool:
    return "offset" in entity and entity.number("offset") == 0


def _read_command(
    text: str, command: re.Match[str], bot: Bot, *, is_private: bool
) -> _Words | None:
    """Return a command's words; None for one of another bot.

    Without a bot's name, a command in a group may be meant for any bot there.
    """
    name, named = command[1].lower(), (command[2] or "").lower()
    if named != bot.username.lower() and (named or not is_private):
        return None
    rest = text[command.end() :].strip()
    if name in {"start", "ask"} or (name == "stop" and is_private):
        return _Words(text=rest, command=name, is_mentioned=True)
    return _Words(text=f"/{command[1]} {rest}".strip(), is_mentioned=True)


def _read_files(message: Payload) -> tuple[IncomingFile, ...]:
    found = []
    photos = [one for one in message.parts("photo") if one.text("file_id")]
    if photos:  # the same picture in several sizes
        largest = max(photos, key=lambda one: one.number("width") * one.number("height"))
        found.append(_make_file(largest, "photo.jpg", "image/jpeg"))
    for name, (file_name, content_type) in _FILES.items():
        if file := message.part(name):
            found.append(_make_file(file, file_name, content_type))
    return tuple(file for file in found if file is not None)


def _make_file(file: Payload, name: str, content_type: str) -> IncomingFile | None:
    ref = file.text("file_id")
    if not _FILE_ID.fullmatch(ref):
        return None
    return IncomingFile(
        name=file.text("file_name", 255) or name,
        content_type=file.text("mime_type", 128) or content_type,
        size=max(0, file.number("file_size")),
        ref=ref,
    )


def _read_place(message: Payload) -> str:
    """Return a sticker, a place or a contact as text; empty for none."""
    if sticker := message.part("sticker"):
        return sticker.text("emoji", 16)
    venue, contact = message.part("venue"), message.part("contact")
    place = venue.part("location") or message.part("location")
    latitude, longitude = place.decimal("latitude"), place.decimal("longitude")
    if latitude is not None and longitude is not None:
        names = (venue.text("title", 256), venue.text("address", 256))
        return ", ".join(("📍 " + f"{latitude:.6f} {longitude:.6f}", *filter(None, names)))
    if contact:
        names = (contact.text("first_name", 64), contact.text("last_name", 64))
        return " ".join(("👤", *filter(None, names), contact.text("phone_number", 32))).strip()
    return ""


def _read_choice(update: Payload, query: Payload, bot: Bot) -> Incoming | None:
    message, sender = query.part("message"), query.part("from")
    token = query.text("data", 64)
    if not token or not message.number("message_id") or not sender.number("id"):
        return None
    choice = Choice(
        token=token,
        message_ref=str(message.number("message_id")),
        reply_to=f"{query.text('id', 64)} {_find_label(message, token)}".strip(),
    )
    found = _make_incoming(update, message, sender, choice, bot)
    # the date is of the message with the button, not of the press
    return None if found is None else msgspec.structs.replace(found, sent_at=0)


def _find_label(message: Payload, token: str) -> str:
    """Return what a pressed button says; empty if Telegram does not show it."""
    rows = message.part("reply_markup").rows("inline_keyboard")
    for button in (button for row in rows for button in row):
        if button.text("callback_data", 64) == token:
            return button.text("text", 128)
    return ""


def _read_member(update: Payload, member: Payload, bot: Bot) -> Incoming | None:
    """Return that a person has blocked the bot."""
    is_private = member.part("chat").text("type") == "private"
    is_blocked = member.part("new_chat_member").text("status") == "kicked"
    sender = member.part("from")
    if not (is_private and is_blocked and sender.number("id")):
        return None
    return _make_incoming(update, member, sender, OptOut(), bot)
