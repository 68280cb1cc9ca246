"""What platforms report: messages, edits, pressed buttons, failed deliveries.

A transport translates its platform's payload into these and decides nothing else. They are plain
data: the desk stores an :class:`Incoming` as JSON before the platform gets its acknowledgement.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec


class IncomingFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that came with a message.

    Parameters:
        name: as the sender named it; may be empty.
        content_type: as the platform names it, unchecked.
        size: in bytes; 0 if unknown.
        ref: how the transport finds the file again: the platform's id or URL, or the key of bytes
            that came with the event.
    """

    name: str
    content_type: str
    size: int = 0
    ref: str


class TextMessage(msgspec.Struct, frozen=True, kw_only=True, tag="message"):
    """A message of a person.

    Parameters:
        text: what the person wrote, as plain text or Markdown, without quotations.
        message_ref: the platform's id of the message.
        answers_ref: the platform's id of the message that it answers; empty for none.
        files: what is attached.
        trimmed: quotations and signatures that were cut off; operators can read them.
        refusals: sentences for the person about what was not taken, and what to do.
        subject: of an email; empty elsewhere.
        is_unreadable: whether it is of a kind that no desk reads, such as a poll: the person is
            asked to write it as text.
    """

    text: str
    message_ref: str
    answers_ref: str = ""
    files: tuple[IncomingFile, ...] = ()
    trimmed: str = ""
    refusals: tuple[str, ...] = ()
    subject: str = ""
    is_unreadable: bool = False


class MessageEdit(msgspec.Struct, frozen=True, kw_only=True, tag="edit"):
    """A changed message.

    Parameters:
        message_ref: the platform's id of the message.
        text: the new text.
    """

    message_ref: str
    text: str


class MessageRemoval(msgspec.Struct, frozen=True, kw_only=True, tag="removal"):
    """A message that its sender deleted."""

    message_ref: str


class Choice(msgspec.Struct, frozen=True, kw_only=True, tag="choice"):
    """A pressed button, or a submitted form.

    Parameters:
        token: of the button or form, as the desk had given it to the transport.
        values: of the form, by field name: texts, numbers, booleans, lists of texts.
        message_ref: the platform's id of the message that shows it.
        reply_to: where the platform expects an immediate answer, such as an id of a callback.
    """

    token: str
    values: dict[str, Any] = {}
    message_ref: str = ""
    reply_to: str = ""


class ChatStart(msgspec.Struct, frozen=True, kw_only=True, tag="start"):
    """A conversation that a person opens without a message.

    Parameters:
        code: a code of the desk that the person brought, as in ``/start CODE``; empty for none.
    """

    code: str = ""


class ConversationMove(msgspec.Struct, frozen=True, kw_only=True, tag="move"):
    """A conversation that the platform calls by another name from now on.

    Parameters:
        former: what it called it before.
    """

    former: str


class OptOut(msgspec.Struct, frozen=True, kw_only=True, tag="opt_out"):
    """The person wants no more messages, or has blocked the desk.

    Parameters:
        message_ref: the platform's id of the message that says so; empty if none does.
        is_of_all: whether of any conversation; else of this one alone, as of one who has left it.
    """

    message_ref: str = ""
    is_of_all: bool = True


class DeliveryFailure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """A message of the desk that did not arrive.

    Parameters:
        message_ref: the platform's id of the message; empty if it is unknown.
        reason: a sentence for operators, without the message's content.
        is_final: whether the address will not work later either.
        is_window_closed: whether it can be sent when the person has written again, as for
            :class:`~aitp_desk.transports.base.WindowClosed`.
    """

    message_ref: str
    reason: str
    is_final: bool
    is_window_closed: bool = False


class AutomaticMessage(msgspec.Struct, frozen=True, kw_only=True, tag="automatic"):
    """An automatic message: recorded for operators, never answered.

    Parameters:
        text: as in :class:`TextMessage`.
        reason: why it counts as automatic, as a sentence.
        message_ref, answers_ref: as in :class:`TextMessage`.
    """

    text: str
    reason: str
    message_ref: str
    answers_ref: str = ""


Event: TypeAlias = (
    TextMessage
    | MessageEdit
    | MessageRemoval
    | Choice
    | ChatStart
    | ConversationMove
    | OptOut
    | DeliveryFailure
    | AutomaticMessage
)


class Incoming(msgspec.Struct, frozen=True, kw_only=True):
    """An event of a platform.

    Parameters:
        event_id: the platform's own id of the event: a repetition has the same.
        conversation: what the platform calls the conversation: a chat, a channel with a thread, an
            email thread. There is one thread of the desk for it at a time. At
            most 400 characters, no control characters.
        sender: the platform's id of the person, which never changes hands: an address, a number, a
            user id. At most 400 characters, no control characters.
        sender_name: as the platform shows it; not proven.
        is_proven: whether the platform has authenticated the sender.
        holds_secret: whether the event shows a secret of the conversation that only its messages
            hold, such as a signed reply address. It then continues the conversation of the same
            sender, also if the platform has not authenticated them this time.
        is_private: whether nobody else reads the conversation.
        is_addressed: whether it is meant for the desk. Otherwise it counts only in a conversation
            that the desk has already: a reply between people in a thread where the desk was asked.
        language: of the person's app (BCP 47); empty if unknown.
        agent: name of the further site agent that is meant; empty for the site's own.
        sent_at: Unix seconds, as the platform says; 0 if unknown.
        event: what happened.
    """

    event_id: str
    conversation: str
    sender: str
    sender_name: str = ""
    is_proven: bool = True
    holds_secret: bool = False
    is_private: bool = True
    is_addressed: bool = True
    language: str = ""
    agent: str = ""
    sent_at: int = 0
    event: Event
