"""What the desk sends: messages, the buttons and forms below them, and what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec


class Button(msgspec.Struct, frozen=True, kw_only=True):
    """A choice below a message.

    Parameters:
        label: at most 75 characters.
        token: what the platform sends back; at most 64 ASCII characters. Empty for a link.
        url: where it leads, for a link; a page that also works without the platform's own buttons.
        style: ``danger`` for a choice that refuses or destroys.
    """

    label: str
    token: str = ""
    url: str = ""
    style: Literal["plain", "primary", "danger"] = "plain"


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a form.

    Parameters:
        name: the key of its value.
        kind: of the value; ``choice`` is one of ``choices``, ``choices`` are several of them.
        choices: values and their labels.
        hint: what is expected.
    """

    name: str
    label: str
    kind: Literal["text", "number", "boolean", "date", "choice", "choices"] = "text"
    choices: tuple[tuple[str, str], ...] = ()
    is_required: bool = False
    hint: str = ""


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """A form below a message.

    Parameters:
        token: as of a :class:`Button`; the platform sends it back with the values.
        title: of the form.
        fields: what is asked, in order.
        submit: label of the button that sends it.
        url: a page of the desk with the same form, for platforms that cannot show it.
    """

    token: str
    title: str
    fields: tuple[Field, ...]
    submit: str
    url: str = ""


class OutgoingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the desk that goes with a message."""

    name: str
    content_type: str
    data: bytes


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """A page from which an answer was taken."""

    title: str
    url: str


class EarlierMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of the conversation so far, which some platforms show again.

    Parameters:
        speaker: who wrote it, as others see them; empty for the site's agent.
        text: Markdown.
        sent_at: Unix seconds.
    """

    speaker: str
    text: str
    sent_at: int


class Outgoing(msgspec.Struct, frozen=True, kw_only=True):
    """A message to send, or one piece of a long one.

    Parameters:
        id: the same for each attempt: a platform with transaction ids takes it as one.
        conversation: as in :class:`~aitp_desk.transports.events.Incoming`.
        recipient: the platform's id of the person.
        text: Markdown, no longer than the transport's bound.
        speaker: name of the operator who wrote it; empty for the site's agent.
        answers_ref: the platform's id of the person's last message; empty for none.
        previous_refs: ids of what was sent before it in the conversation, oldest first.
        sources: pages that the answer was taken from; with the last piece.
        buttons: with the last piece.
        form: with the last piece; None for none.
        files: with the last piece, all together within the transport's bound.
        subject: of the conversation; empty if it has none.
        language: of the texts that the transport adds (BCP 47).
        is_reply: whether it answers the person, rather than begins or continues on its own.
        earlier: the conversation before it, oldest first, if the transport shows it.
        last_heard: Unix seconds of the person's last event in the conversation; 0 if unknown. Some
            platforms take free text only for a time after it.
        is_proven: whether the conversation is of a proven person, as in
            :class:`~aitp_desk.transports.events.Incoming`. A button that comes back by a link in
            the message is of the same person.
        is_for_operators: whether it is about work: opt-outs end no such messages.
    """

    id: str
    conversation: str
    recipient: str
    text: str
    speaker: str = ""
    answers_ref: str = ""
    previous_refs: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    buttons: tuple[Button, ...] = ()
    form: Form | None = None
    files: tuple[OutgoingFile, ...] = ()
    subject: str = ""
    language: str = "en"
    is_reply: bool = True
    earlier: tuple[EarlierMessage, ...] = ()
    last_heard: int = 0
    is_proven: bool = True
    is_for_operators: bool = False


class SentMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What the platform answered.

    Parameters:
        message_ref: its id of the message.
        conversation: the conversation, if the message began it or the platform has moved it; empty
            otherwise.
    """

    message_ref: str
    conversation: str = ""


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What a platform takes.

    Parameters:
        characters: the longest message; a longer one is split.
        per_second: messages to all conversations.
        per_conversation: messages to one conversation within a second.
        buttons: the most below one message; the others become text.
        earlier: how many messages before it a message shows; 0 for none.
        file_bytes: the most of all files of a message; of the others the text has links.
        file_types: the types of files that it takes, with the largest of each in bytes; of the
            others the text has links. Empty for all types.
    """

    characters: int
    per_second: float
    per_conversation: float
    buttons: int
    earlier: int = 0
    file_bytes: int = 20 * 1024 * 1024
    file_types: Mapping[str, int] = {}
