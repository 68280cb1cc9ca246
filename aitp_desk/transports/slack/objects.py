"""Objects of Slack's events and interactions, as far as the desk reads them."""

from __future__ import annotations

import msgspec

from aitp_desk.transports.slack.forms import States


class Authorization(msgspec.Struct):
    """For whom an event was delivered: the app's bot user in a workspace."""

    user_id: str | None = None
    is_bot: bool = False


class Envelope(msgspec.Struct):
    """What the Events API sends: an event, or the check of an address."""

    type: str = ""
    challenge: str = ""
    team_id: str | None = None
    event_id: str | None = None
    event: msgspec.Raw = msgspec.Raw(b"{}")
    authorizations: tuple[Authorization, ...] | None = None


class EventType(msgspec.Struct):
    """The type of an event, which decides how the rest is read."""

    type: str = ""


class File(msgspec.Struct):
    """A file of a message."""

    id: str | None = None
    name: str | None = None
    mimetype: str | None = None
    size: int | None = None
    mode: str | None = None
    url_private: str | None = None


class Profile(msgspec.Struct):
    """The person who wrote a message."""

    display_name: str | None = None
    real_name: str | None = None


class Message(msgspec.Struct):
    """The events ``message`` and ``app_mention``, and messages within them."""

    type: str | None = None
    subtype: str | None = None
    channel: str | None = None
    user: str | None = None
    user_team: str | None = None
    user_profile: Profile | None = None
    bot_id: str | None = None
    text: str | None = None
    ts: str | None = None
    thread_ts: str | None = None
    deleted_ts: str | None = None
    files: tuple[File, ...] | None = None
    blocks: tuple[msgspec.Raw, ...] | None = None
    message: Message | None = None
    previous_message: Message | None = None


class Team(msgspec.Struct):
    """A workspace."""

    id: str = ""


class User(msgspec.Struct):
    """A person in an interaction."""

    id: str = ""
    name: str | None = None
    username: str | None = None
    team_id: str | None = None


class Channel(msgspec.Struct):
    """A channel in an interaction."""

    id: str = ""


class Container(msgspec.Struct):
    """Where the pressed button is."""

    message_ts: str | None = None
    channel_id: str | None = None
    thread_ts: str | None = None


class Text(msgspec.Struct):
    """A text object."""

    text: str = ""


class Action(msgspec.Struct):
    """A pressed button."""

    action_id: str = ""
    action_ts: str = ""
    value: str | None = None
    text: Text | None = None


class ViewState(msgspec.Struct):
    """What is filled in to a modal."""

    values: States = {}


class View(msgspec.Struct):
    """A modal."""

    id: str = ""
    callback_id: str | None = None
    private_metadata: str | None = None
    state: ViewState | None = None


class Interaction(msgspec.Struct):
    """A pressed button, or a submitted modal."""

    type: str = ""
    team: Team | None = None
    user: User | None = None
    channel: Channel | None = None
    container: Container | None = None
    message: Message | None = None
    actions: tuple[Action, ...] | None = None
    trigger_id: str | None = None
    view: View | None = None
