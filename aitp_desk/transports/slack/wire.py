"""Slack's events, interactions and commands as events of the desk.

A message counts once, however it arrives: delivered again, or both as ``app_mention`` and as
``message``. Its event id is therefore made of its channel and timestamp, not of Slack's event id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from aitp_desk.model.errors import InvalidRequest
from aitp_desk.transports.events import (
    ChatStart,
    Choice,
    Incoming,
    IncomingFile,
    MessageEdit,
    MessageRemoval,
    TextMessage,
)
from aitp_desk.transports.slack import objects
from aitp_desk.transports.slack.blocks import CHOICE_ACTION, FORM_ACTION, keep_pressed
from aitp_desk.transports.slack.forms import FORM_CALLBACK, FormOrigin, read_values
from aitp_desk.transports.slack.places import (
    Place,
    find_place,
    is_direct,
    is_id,
    is_timestamp,
    make_ref,
    parse_place,
    seconds_of,
)
from aitp_desk.transports.slack.text import mentions, read_text

MOST_FORM_FIELDS = 64
MOST_FILES = 20
MOST_NAME_CHARACTERS = 255

_WRITTEN = frozenset({None, "", "file_share", "me_message", "thread_broadcast"})
"""Subtypes of messages that people write; the others report what happened in a channel."""
_NO_FILES = frozenset({"tombstone", "hidden_by_limit"})
"""Modes of files that are no longer there."""

T = TypeVar("T")


class Challenge(msgspec.Struct, frozen=True):
    """The check of an address; Slack expects its text back."""

    text: str


class FormPress(msgspec.Struct, frozen=True, kw_only=True):
    """A pressed button of a form: its modal must open within three seconds.

    Parameters:
        trigger_id: allows it.
        value: holds the form.
        conversation, message_ref: as in events of the desk.
    """

    trigger_id: str
    value: str
    conversation: str
    message_ref: str


def decode_event(body: bytes) -> Challenge | Incoming | None:
    """Decode a request of the Events API; None for what does not concern the desk.

    Raises:
        InvalidRequest: it is none.
    """
    envelope = _decode(body, objects.Envelope)
    if envelope.type == "url_verification":
        return Challenge(envelope.challenge)
    if envelope.type != "event_callback" or not is_id(envelope.team_id):
        return None
    kind = _decode(bytes(envelope.event), objects.EventType).type
    if kind not in {"message", "app_mention"}:
        return None
    message = _decode(bytes(envelope.event), objects.Message)
    bots = [one.user_id for one in envelope.authorizations or () if one.is_bot and one.user_id]
    bot = bots[0] if bots else ""
    reader = _Reader(envelope.team_id or "", bot, envelope.event_id or "")
    match message.subtype:
        case "message_changed":
            return reader.edit(message)
        case "message_deleted":
            return reader.removal(message)
        case _:
            return reader.message(message, is_mention=kind == "app_mention")


def decode_fields(body: bytes) -> dict[str, str]:
    """Decode the form of an interaction or a command.

    Raises:
        InvalidRequest: it is none.
    """
    try:
        text = body.decode()
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FORM_FIELDS)
    except ValueError as error:
        raise InvalidRequest("The body must be a form in UTF-8.") from error
    return dict(pairs)


def decode_command(fields: Mapping[str, Any]) -> Incoming | None:
    """Decode a slash command: the person's question, to be answered as a direct message.

    None if Slack only checks the address's certificate.

    Raises:
        InvalidRequest: it is none.
    """
    read = {name: value for name, value in fields.items() if isinstance(value, str)}
    if read.get("ssl_check") == "1":
        return None
    team, user, trigger = (read.get(name, "") for name in ("team_id", "user_id", "trigger_id"))
    if not (is_id(team) and is_id(user) and trigger):
        raise InvalidRequest("A command needs team_id, user_id and trigger_id.")
    text = read_text(read.get("text", ""), "")
    event_id = f"command/{trigger[:200]}"
    return Incoming(
        event_id=event_id,
        conversation=str(Place(team=team, user=user)),
        sender=str(Place(team=team, user=user)),
        sender_name=_line(read.get("user_name")),
        event=TextMessage(text=text, message_ref=event_id) if text else ChatStart(),
    )


def decode_interaction(payload: bytes) -> FormPress | Incoming | None:
    """Decode a pressed button or a submitted modal; None for what does not concern the desk.

    Raises:
        InvalidRequest: it is none.
    """
    interaction = _decode(payload, objects.Interaction)
    team, user = interaction.team, interaction.user
    if team is None or user is None or not (is_id(team.id) and is_id(user.id)):
        return None
    match interaction.type:
        case "block_actions":
            return _press(interaction, team.id, user)
        case "view_submission":
            return _submission(interaction, team.id, user)
        case _:
            return None


def _press(
    interaction: objects.Interaction, team: str, user: objects.User
) -> FormPress | Incoming | None:
    container = interaction.container or objects.Container()
    channel = container.channel_id or (interaction.channel.id if interaction.channel else "")
    timestamp = container.message_ts or ""
    action = interaction.actions[0] if interaction.actions else None
    if action is None or not action.value or not (is_id(channel) and is_timestamp(timestamp)):
        return None
    message = interaction.message
    thread = container.thread_ts or (message.thread_ts if message else None)
    if thread is not None and not is_timestamp(thread):
        return None
    place = find_place(team, channel, user.id, thread or timestamp)
    ref = make_ref(channel, timestamp, thread)
    kind = action.action_id.partition(":")[0]
    if kind == FORM_ACTION:
        return FormPress(
            trigger_id=interaction.trigger_id or "",
            value=action.value,
            conversation=str(place),
            message_ref=ref,
        )
    if kind != CHOICE_ACTION:
        return None
    return Incoming(
        event_id=f"action/{ref}/{user.id}/{action.action_ts[:40]}",
        conversation=str(place),
        sender=_person(team, user),
        sender_name=_line(user.name or user.username),
        is_private=is_direct(channel),
        event=Choice(token=action.value, message_ref=ref, reply_to=_pressed(message, action)),
    )


def _pressed(message: objects.Message | None, action: objects.Action) -> str:
    if message is None:
        return ""
    label = _line(action.text.text if action.text else "")
    return keep_pressed((message.text or "").replace("\0", ""), message.blocks or (), label)


def _submission(interaction: objects.Interaction, team: str, user: objects.User) -> Incoming | None:
    view = interaction.view
    if view is None or view.callback_id != FORM_CALLBACK or not is_id(view.id):
        return None
    origin = _decode((view.private_metadata or "").encode(), FormOrigin)
    place = parse_place(origin.conversation)
    if place is None:
        raise InvalidRequest("The modal names no conversation.")
    return Incoming(
        event_id=f"view/{view.id}",
        conversation=origin.conversation,
        sender=_person(team, user),
        sender_name=_line(user.name or user.username),
        is_private=bool(place.user),
        event=Choice(
            token=origin.token,
            values=read_values(view.state.values if view.state else {}),
            message_ref=origin.message_ref,
        ),
    )


def _person(team: str, user: objects.User) -> str:
    """Return a person's id. People of other workspaces share channels with this one."""
    own = user.team_id if is_id(user.team_id) else team
    return str(Place(team=own or team, user=user.id))


class _Reader:
    """Reads messages of a workspace.

    Parameters:
        bot: the desk's own user id; empty if Slack did not name it.
        event_id: Slack's id of the event.
    """

    def __init__(self, team: str, bot: str, event_id: str) -> None:
        self.team = team
        self.bot = bot
        self.event_id = event_id

    def message(self, message: objects.Message, *, is_mention: bool) -> Incoming | None:
        if message.subtype not in _WRITTEN:
            return None
        channel = message.channel or ""
        text = message.text or ""
        is_addressed = is_mention or is_direct(channel) or mentions(text, self.bot)
        if not (is_addressed or message.thread_ts):
            return None
        words = read_text(text, self.bot)
        files = tuple(filter(None, map(_file, (message.files or ())[:MOST_FILES])))
        if not (words or files or is_addressed):
            return None
        return self._incoming(
            channel,
            message,
            f"message/{channel}/{message.ts}",
            is_addressed=is_addressed,
            event=TextMessage(
                text=words,
                message_ref=make_ref(channel, message.ts or "", message.thread_ts),
                files=files,
            )
            if words or files
            else ChatStart(),
        )

    def edit(self, change: objects.Message) -> Incoming | None:
        """Read a change of a message: of its text, or of what Slack shows with it."""
        channel, new, old = change.channel or "", change.message, change.previous_message
        if new is None:
            return None
        if new.subtype == "tombstone":
            # a deleted message with a thread below it
            return self._removal(channel, old or new)
        if new.subtype not in _WRITTEN or (old is not None and old.text == new.text):
            return None
        return self._incoming(
            channel,
            new,
            f"edit/{channel}/{new.ts}/{self.event_id[:40]}",
            is_addressed=is_direct(channel),
            event=MessageEdit(
                message_ref=make_ref(channel, new.ts or "", new.thread_ts),
                text=read_text(new.text or "", self.bot),
            ),
        )

    def removal(self, change: objects.Message) -> Incoming | None:
        old = change.previous_message
        if old is None:
            return None
        old.ts = old.ts or change.deleted_ts
        return self._removal(change.channel or "", old)

    def _removal(self, channel: str, message: objects.Message) -> Incoming | None:
        return self._incoming(
            channel,
            message,
            f"removal/{channel}/{message.ts}",
            is_addressed=is_direct(channel),
            event=MessageRemoval(
                message_ref=make_ref(channel, message.ts or "", message.thread_ts)
            ),
        )

    def _incoming(
        self,
        channel: str,
        message: objects.Message,
        event_id: str,
        *,
        is_addressed: bool,
        event: TextMessage | ChatStart | MessageEdit | MessageRemoval,
    ) -> Incoming | None:
        """Return what a person did; None for bots, and for ids that are none."""
        user, timestamp, thread = message.user or "", message.ts or "", message.thread_ts
        if message.bot_id or user in {self.bot, "USLACKBOT"}:
            return None
        if not (is_id(channel) and is_id(user) and is_timestamp(timestamp)):
            return None
        if thread is not None and not is_timestamp(thread):
            return None
        team = message.user_team if is_id(message.user_team) else self.team
        profile = message.user_profile or objects.Profile()
        return Incoming(
            event_id=event_id,
            conversation=str(find_place(self.team, channel, user, thread or timestamp)),
            sender=str(Place(team=team or self.team, user=user)),
            sender_name=_line(profile.display_name or profile.real_name),
            is_private=is_direct(channel),
            is_addressed=is_addressed,
            sent_at=seconds_of(timestamp),
            event=event,
        )


def _file(file: objects.File) -> IncomingFile | None:
    """Return a file; what is shared from another workspace has no URL until it is asked for."""
    ref = file.url_private or file.id
    if not ref or file.mode in _NO_FILES:
        return None
    return IncomingFile(
        name=_line(file.name),
        content_type=_line(file.mimetype),
        size=max(0, file.size or 0),
        ref=ref,
    )


def _line(text: str | None) -> str:
    """Return a name without characters that no name has."""
    return "".join(filter(str.isprintable, text or ""))[:MOST_NAME_CHARACTERS]


def _decode(body: bytes, kind: type[T]) -> T:
    try:
        # msgspec reads no values that are kept as they are, such as blocks
        return msgspec.json.decode(str(body, "utf-8"), type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidRequest("The body is not what Slack documents.") from error
