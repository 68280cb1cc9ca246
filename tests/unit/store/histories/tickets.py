"""Steps on tickets, on threads that operators have, and on what platforms show of them."""

from __future__ import annotations

from aitp_desk.model.conversation.note import Note
from aitp_desk.model.conversation.ticket import TicketKind, TicketState
from aitp_desk.store.base import Work
from aitp_desk.store.records.operators import (
    BindingCode,
    BoundPerson,
    Deed,
    OperatorTicket,
    TicketControl,
)
from aitp_desk.store.units.tickets.answers import (
    end_ticket,
    release_ticket,
    speak_for_ticket,
    take_ticket,
)
from aitp_desk.store.units.tickets.contacts import keep_contact
from aitp_desk.store.units.tickets.platforms import (
    await_answer,
    bind_person,
    drop_old,
    note_message,
    note_told,
    put_code,
    put_ticket_controls,
    queue_ticket,
    show_ticket,
    spend_code,
    unbind_person,
)
from aitp_desk.store.units.tickets.takeover import (
    add_note,
    release_thread,
    resolve_thread,
    speak_on_thread,
    take_thread,
    withdraw_words,
)
from aitp_desk.store.units.tickets.tickets import add_ticket
from tests.support.access.audit_log import somebody
from tests.support.store.messages import NOW, new_name
from tests.unit.store.histories.calls import a_job, a_ticket, words
from tests.unit.store.histories.history import PEOPLE, Draw, History, Step, pick

OPERATORS = ("anna", "ben")
DEEDS = tuple(Deed)


async def ask_person(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n)
    ticket = a_ticket(past, of, TicketKind.REQUEST, thread_id=thread_id, asked_from=of.key)
    job = a_job(ticket.id)

    def ask() -> Work[None]:
        yield from add_ticket(ticket)
        yield from show_ticket(ticket, "slack", job)

    await past.store.run(ask)


async def take(past: History, of: Draw) -> None:
    operator = OPERATORS[of.number % 2]
    ticket_id = pick(past.tickets, of.n).id
    await past.store.run(
        take_ticket, ticket_id=ticket_id, operator=operator, now=NOW, by=somebody()
    )


async def speak(past: History, of: Draw) -> None:
    said = words(of, OPERATORS[of.number % 2])
    ticket_id = pick(past.tickets, of.n).id
    await past.store.run(speak_for_ticket, ticket_id=ticket_id, said=said, now=NOW, by=somebody())


async def release(past: History, of: Draw) -> None:
    ticket_id = pick(past.tickets, of.n).id
    await past.store.run(release_ticket, ticket_id=ticket_id, now=NOW, by=somebody())


async def end(past: History, of: Draw) -> None:
    state = (TicketState.ANSWERED, TicketState.CLOSED, TicketState.EXPIRED)[of.who]
    operator = None if state is TicketState.EXPIRED else OPERATORS[of.number % 2]
    await past.store.run(
        end_ticket,
        ticket_id=pick(past.tickets, of.n).id,
        state=state,
        said=words(of, operator),
        now=NOW + of.n,
        by=somebody(),
        extra_statements=lambda call: None,
    )


async def leave_address(past: History, of: Draw) -> None:
    await past.store.run(
        keep_contact,
        thread_id=pick(past.threads, of.n),
        principal=PEOPLE[of.who],
        contact=of.text,
        now=NOW,
        idle_before=0,
        job=a_job(of.key, "contact_mail") if of.n % 2 else None,
    )


async def take_whole(past: History, of: Draw) -> None:
    thread_id, operator = pick(past.threads, of.n), OPERATORS[of.number % 2]
    await past.store.run(
        take_thread, thread_id=thread_id, operator=operator, now=NOW, by=somebody()
    )


async def speak_whole(past: History, of: Draw) -> None:
    said = words(of, OPERATORS[of.number % 2])
    thread_id = pick(past.threads, of.n)
    await past.store.run(speak_on_thread, thread_id=thread_id, said=said, now=NOW, by=somebody())


async def withdraw_whole(past: History, of: Draw) -> None:
    operator, thread_id = OPERATORS[of.number % 2], pick(past.threads, of.n)
    said = words(of, operator)
    await past.store.run(speak_on_thread, thread_id=thread_id, said=said, now=NOW, by=somebody())
    await past.store.run(
        withdraw_words,
        thread_id=thread_id,
        message_id=said.id,
        operator=operator,
        now=NOW,
        by=somebody(),
    )


async def release_whole(past: History, of: Draw) -> None:
    await past.store.run(release_thread, thread_id=pick(past.threads, of.n), now=NOW, by=somebody())


async def resolve(past: History, of: Draw) -> None:
    said = words(of, OPERATORS[of.number // 2 % 2])
    thread_id = pick(past.threads, of.n)
    await past.store.run(resolve_thread, thread_id=thread_id, said=said, now=NOW, by=somebody())


async def write_note(past: History, of: Draw) -> None:
    note = Note(new_name("note"), pick(past.threads, of.n), of.key, of.text, NOW)
    await past.store.run(add_note, note=note, by=somebody() if of.n % 2 else None)


async def queue_change(past: History, of: Draw) -> None:
    ticket_id = pick(past.tickets, of.n).id
    await past.store.run(queue_ticket, ticket_id=ticket_id, transport="slack", job=a_job("change"))


async def tell_operators(past: History, of: Draw) -> None:
    told = OperatorTicket(
        ticket=pick(past.tickets, of.n).id,
        transport="slack",
        address=of.key,
        state="open",
        taken_by=of.text,
        seq=of.n,
        steps=of.n,
        queued=0,
        queued_state="",
        queued_by="",
        queued_seq=0,
        answerer="",
        answerer_until=0,
        is_over=bool(of.number % 2),
    )
    refs = ((of.key, new_name("ref")),)
    await past.store.run(note_told, told=told, refs=refs, now=NOW + of.n)


async def note_other(past: History, of: Draw) -> None:
    await past.store.run(
        note_message,
        ticket_id=pick(past.tickets, of.n).id,
        transport="slack",
        address=of.key,
        ref=new_name("ref"),
    )


async def wait_for_answer(past: History, of: Draw) -> None:
    await past.store.run(
        await_answer,
        ticket_id=pick(past.tickets, of.n).id,
        transport="slack",
        person=of.text,
        until=NOW + of.n,
    )


async def put_buttons(past: History, of: Draw) -> None:
    control = TicketControl(
        token=new_name("token"),
        ticket=pick(past.tickets, of.n).id,
        transport="slack",
        deed=pick(DEEDS, of.n),
        person=of.text,
        expires_at=NOW + of.n,
    )
    await past.store.run(put_ticket_controls, controls=(control,))


async def make_code(past: History, of: Draw) -> None:
    past.codes.append(new_name("code").encode())
    code = BindingCode(
        hash=past.codes[-1], transport="slack", key_id=of.key, version=1, expires_at=NOW + of.n
    )
    await past.store.run(put_code, code=code)


async def bind(past: History, of: Draw) -> None:
    person = BoundPerson("slack", of.key, of.text, of.n, pick(past.codes, of.n), NOW)
    await past.store.run(bind_person, person=person, by=somebody())


async def spend(past: History, of: Draw) -> None:
    await past.store.run(spend_code, hash=pick(past.codes, of.n), transport="slack")


async def unbind(past: History, of: Draw) -> None:
    await past.store.run(unbind_person, transport="slack", person=of.key, by=somebody())


async def drop_ended(past: History, of: Draw) -> None:
    await past.store.run(drop_old, now=NOW + of.n, before=NOW + of.n)


STEPS: tuple[Step, ...] = (
    ask_person,
    leave_address,
    take,
    speak,
    release,
    end,
    take_whole,
    speak_whole,
    withdraw_whole,
    resolve,
    release_whole,
    write_note,
    queue_change,
    tell_operators,
    note_other,
    wait_for_answer,
    put_buttons,
    make_code,
    bind,
    spend,
    unbind,
    drop_ended,
)
