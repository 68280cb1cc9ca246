"""What operators read on a platform: tickets, what becomes of them, and what visitors write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from aitp_desk.agent.history.message_codec import list_sources
from aitp_desk.desk.tickets.inbox import ShownMessage, ShownTicket
from aitp_desk.model.conversation.thread import Origin
from aitp_desk.model.conversation.ticket import (
    StoredTicket,
    TicketKind,
    TicketState,
    get_operator,
    shorten,
)
from aitp_desk.transports.host.drafts import VIA
from aitp_desk.transports.host.people import SENDER

NOT_BOUND = (
    "You are not known as an operator here, so nothing was done. Get a code in the console or with"
    " 'aitp-desk transport bind', and send it to the desk in a private conversation."
)
BOUND = "You act as {name} now."
BIND_PRIVATELY = (
    "The code is not valid any more, because others may have read it. Get a new one, and send it in"
    " a private conversation."
)
BIND_PROVEN = "This platform has not proven who you are, so you cannot be an operator here."
OVER = "The ticket has ended; nothing was said."
PRESS_INSTEAD = "The ticket asks for approval; use its buttons."
WRITE_ANSWER = (
    "{name}, write the answer as a reply now. It goes to the visitor, and ends the ticket."
)
NOTED = "Noted for operators only."
NOT_CHANGED = "Your change was not sent to the visitor."
NOT_REMOVED = "What you have deleted here stays in the conversation."
NO_FILES = "The files were not sent: they go only with a reply in an open conversation."
NO_TICKET = "There is no such ticket any more."
OTHERS_BUTTON = "Only the operator who has asked for this may press it."
NOTE_MARK = "//"
"""Begins a reply that is for operators only."""
OWN_CALL = "You cannot approve a call that you requested. Another operator must approve it."

NOTICES: Mapping[TicketState, str] = {
    TicketState.OPEN: "Released.",
    TicketState.TAKEN: "Taken.",
    TicketState.ANSWERED: "Done.",
    TicketState.CLOSED: "Closed.",
    TicketState.EXPIRED: "It has ended.",
}
"""What a button has done, by the state of its ticket."""

LONGEST_MESSAGE = 1_500
LONGEST_NOTE = 2_000
LONGEST_NAME = 60
_WHY = {
    TicketKind.ACTION: "A call waits for a person.",
    TicketKind.UNKNOWN: "A call was interrupted; its outcome is not known.",
    TicketKind.REQUEST: "A visitor asks for a person.",
    TicketKind.QUESTION: "The agent had no answer.",
    TicketKind.APPROVAL: "A call needs your approval.",
}


def write_ticket(shown: ShownTicket, messages: Sequence[ShownMessage], link: str) -> str:
    """Write what operators need to know of a ticket, as Markdown.

    Parameters:
        messages: the last ones of its conversation, oldest first.
        link: to the ticket in the console; empty for none.
    """
    ticket = shown.ticket
    blocks = [f"**Ticket: {_line(ticket.about)}**", _WHY[ticket.kind]]
    if ticket.desk:
        blocks.append(f"Agent: {ticket.desk}")
    if shown.asked_by_name:
        blocks.append(f"Asked by: {_line(shown.asked_by_name)}")
    if ticket.note:
        blocks.append(_quote(shorten(ticket.note, LONGEST_NOTE)))
    blocks += [f"{_speaker(one)}:\n{_quote(text)}" for one in messages if (text := _text(one))]
    if ticket.taken_by:
        blocks.append(f"Taken by {ticket.taken_by}.")
    if link:
        blocks.append(f"[Open in the console]({link})")
    if ticket.thread_id is not None:
        blocks.append("A reply to this message goes to the visitor.")
    elif ticket.kind is not TicketKind.APPROVAL:
        blocks.append("A reply to this message is the answer.")
    return "\n\n".join(blocks)


def write_state(ticket: StoredTicket) -> str:
    """Write what has become of a ticket."""
    is_approval = ticket.kind is TicketKind.APPROVAL
    by = "" if ticket.ended_by is None else f" by {ticket.ended_by}"
    match ticket.state:
        case TicketState.OPEN:
            return "Nobody has the ticket any more."
        case TicketState.TAKEN:
            return f"Taken by {ticket.taken_by}."
        case TicketState.ANSWERED if is_approval:
            return f"Approved{by}."
        case TicketState.ANSWERED:
            return f"Answered{by}:\n{_quote(shorten(ticket.answer, LONGEST_MESSAGE))}"
        case TicketState.CLOSED:
            done = f"Declined{by}" if is_approval else f"Closed{by}"
            words = ticket.answer and f":\n{_quote(shorten(ticket.answer, LONGEST_MESSAGE))}"
            return f"{done}{words or '.'}"
        case _:
            return "Nobody has answered in time; the ticket has ended."


def write_question(what: str, whom: str, cost: str) -> str:
    """Write the question whether a call is really approved."""
    return f"**Approve: {_line(what)}**\n\nFor: {_line(whom)}\n\nCost: {_line(cost)}"


def write_message(message: ShownMessage, transport: str) -> str:
    """Write a message for those who follow a ticket; empty if it is not for them.

    What an operator has written on this platform is there already.
    """
    said = message.said
    if said.is_deleted:
        return ""
    if said.origin is not Origin.VISITOR and (
        get_operator(said.actor) is None or said.metadata.get(VIA) == transport
    ):
        return ""
    text = _text(message)
    return f"{_speaker(message)}:\n{_quote(text)}" if text else ""


def _speaker(message: ShownMessage) -> str:
    said = message.said
    if said.origin is Origin.VISITOR:
        # the name is the visitor's own choice, such as that of an operator
        name = _line(said.metadata.get(SENDER, ""))[:LONGEST_NAME]
        return f"Visitor {name}" if name else "Visitor"
    return get_operator(said.actor) or "Agent"


def _text(message: ShownMessage) -> str:
    said = message.said
    parts = [one.words for one in message.parts] or said.content
    text = "\n\n".join(part for part in parts if not list_sources(part)).strip()
    files = len(said.attachments)
    note = f"({files} file{'s' if files > 1 else ''}: see the console.)" if files else ""
    return "\n\n".join(filter(None, (shorten(text, LONGEST_MESSAGE), note)))


def _quote(text: str) -> str:
    """Return a text as a quotation: nothing in it passes for the desk's words."""
    return "\n".join(f"> {line}" for line in text.splitlines())


def _line(text: str) -> str:
    """Return a text in one line, without marks of Markdown."""
    return " ".join("".join(sign for sign in text if sign not in "*_`[]<>").split())
