"""What operators read: lists that stay right while rows are added, on every engine."""

from __future__ import annotations

import msgspec
import pytest

from aitp_desk.model.calls.call import ActionCall, CallState
from aitp_desk.model.conversation.thread import Origin, Thread
from aitp_desk.model.conversation.ticket import TicketKind, get_operator
from aitp_desk.model.errors import InvalidRequest, ThreadNotFound
from aitp_desk.model.ids import new_id
from aitp_desk.store.base import Work
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import thread_lists as console_threads
from aitp_desk.store.reads.console import threads as console_reads
from aitp_desk.store.records.console import ThreadFilter, TicketFilter, WaitingCount
from aitp_desk.store.records.threads import NewMessage
from aitp_desk.store.units.threads.threads import open_thread
from tests.support.store.console_site import ALL, BY, EVERY, QUOTE, Site, _add_call
from tests.support.store.messages import (
    AYA,
    DESK,
    HOUR,
    NOW,
    VISITOR,
    delete_message,
    delete_thread,
    salt_for,
)


class TestTickets:
    async def test_who_waits_longest_stands_first_and_what_ended_last_made_is_first(
        self, site: Site, narrow: None
    ) -> None:
        ids = [await site.ticket(f"Number {number}.") for number in range(8)]
        for id_ in ids[1::2]:
            await site.ends.close(id_, "", "anna", BY)
        waiting, over = ids[::2], ids[1::2][::-1]
        for limit in (1, 3, 50):
            assert await site.tickets(TicketFilter(), limit) == waiting
            assert await site.tickets(TicketFilter("over"), limit) == over
            assert await site.tickets(EVERY, limit) == waiting + over

    async def test_they_are_found_by_what_they_are(self, site: Site, narrow: None) -> None:
        thread = await site.thread("Hello?")
        one = await site.ticket("A LÁMP.", thread_id=thread, principal="key:aya")
        two = await site.ticket(
            "Another.", note="Of láMPS.", desk="sales", kind=TicketKind.QUESTION
        )
        three = await site.ticket("A third.", kind=TicketKind.QUESTION)
        await site.ends.take_ticket(one, "anna", BY)
        await site.ends.close(three, "", "ben", BY)
        for asked, found in (
            (TicketFilter("all", TicketKind.QUESTION), [two, three]),
            (TicketFilter("open", TicketKind.QUESTION), [two]),
            (TicketFilter("all", agent="sales"), [two]),
            (TicketFilter("all", agent=""), [one, three]),
            (TicketFilter("all", mine="anna"), [one]),
            (TicketFilter("all", mine="ben"), [three]),
            (TicketFilter("all", mine="carl"), []),
            (TicketFilter("all", text="lámp"), [one, two]),
            (TicketFilter("all", text="KEY:AYA"), [one]),
            (TicketFilter("all", text=thread), [one]),
            (TicketFilter("over", text="lámp"), []),
        ):
            assert await site.tickets(asked) == found, asked

    async def test_a_page_looks_through_so_many_and_says_where_it_goes_on(
        self, site: Site, narrow: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(console_reads, "TICKETS_LOOKED_AT", 6)
        wanted = await site.ticket("This one.")
        for number in range(10):
            await site.ends.close(await site.ticket(f"Number {number}."), "", "anna", BY)
        await site.ends.close(wanted, "", "anna", BY)
        asked = TicketFilter("over", text="this one")
        page = await site.sees.list_tickets(asked, None, 5)
        assert page.items == ()
        assert page.next is not None
        assert await site.tickets(asked) == [wanted]

    async def test_a_page_has_so_many_bytes(self, site: Site) -> None:
        notes = {await site.ticket(note="n" * size): size for size in (700_000,) * 3 + (10,) * 3}
        sizes: list[int] = []
        after = None
        while True:
            page = await site.sees.list_tickets(EVERY, after, 50)
            sizes.append(sum(notes.pop(one.ticket.id) for one in page.items))
            if (after := page.next) is None:
                break
        assert sizes == [700_000, 700_000, 700_030]
        assert notes == {}

    async def test_what_is_added_between_two_pages_moves_nothing(self, site: Site) -> None:
        ids = [await site.ticket() for _ in range(4)]
        first = await site.sees.list_tickets(TicketFilter(), None, 2)
        await site.ends.close(ids[0], "", "anna", BY)
        late = await site.ticket()
        second = await site.sees.list_tickets(TicketFilter(), first.next, 9)
        assert [one.ticket.id for one in second.items] == [*ids[2:], late]

    async def test_a_ticket_is_shown_with_its_call(self, site: Site) -> None:
        call = ActionCall(
            "call_1", "", "quote", CallState.STARTED, AYA, "arguments", NOW, NOW + 9, {"wish": "40"}
        )
        await site.store.run(_add_call, call=call)
        with_call = await site.ticket(call_id=call.id, kind=TicketKind.ACTION)
        without = await site.ticket()
        elsewhere = msgspec.structs.replace(call, id="call_2", desk="sales")
        await site.store.run(_add_call, call=elsewhere)
        of_another = await site.ticket(call_id=elsewhere.id, kind=TicketKind.ACTION)
        shown = await site.sees.read_ticket(with_call)
        assert shown is not None
        assert shown.call is not None
        assert shown.call.call.arguments == {"wish": "40"}
        assert shown.call.action == QUOTE
        undeclared = await site.sees.read_ticket(of_another)
        assert undeclared is not None
        assert undeclared.call is not None
        assert undeclared.call.action is None
        other = await site.sees.read_ticket(without)
        assert other is not None
        assert other.call is None
        assert await site.sees.read_ticket("ticket_none") is None
        listed = (await site.sees.list_tickets(EVERY, None, 9)).items
        assert [one.ticket for one in listed] == [one.ticket for one in (shown, other, undeclared)]
        assert {one.call for one in listed} == {None}, "arguments and results may be long"

    async def test_how_many_wait(self, site: Site) -> None:
        assert await site.sees.count_waiting("anna") == WaitingCount(0, 0, 0, None)
        ids = [await site.ticket() for _ in range(4)]
        made = site.now - 2
        await site.ends.take_ticket(ids[0], "anna", BY)
        await site.ends.take_ticket(ids[1], "ben", BY)
        await site.ends.close(ids[3], "", "ben", BY)
        site.now += 90
        assert await site.sees.count_waiting("anna") == WaitingCount(
            1, 2, 1, int(site.now - made) - 1
        )


class TestThreads:
    async def test_where_something_was_said_last_stands_first(
        self, site: Site, narrow: None
    ) -> None:
        ids = [await site.thread(f"Number {number}?") for number in range(4)]
        folded = await site.folded()
        ids.append(await site.thread("The last?"))
        await site.post(ids[1], "Are you there?")
        gone = await site.thread("Gone?")
        await delete_thread(site.store, gone, principal=VISITOR)
        await site.thread()
        expected = [ids[1], ids[4], folded, ids[3], ids[2], ids[0]]
        for limit in (1, 2, 50):
            assert await site.threads(limit=limit) == expected
        assert len(await site.store.read("folded_after", {"after": "", "limit": 9})) == 1

    async def test_a_line_tells_whose_it_is_and_what_was_said_last(self, site: Site) -> None:
        thread = await site.thread("Hello?", owner="key:aya", desk="sales")
        await site.post(thread, "One\n two " + 300 * "x", by_desk=True)
        ticket = await site.ticket(thread_id=thread)
        await site.steps.take_thread(thread, "anna", BY)
        folded = await site.folded("What?", "That.")
        first, second = (await site.sees.list_threads(ALL, None, 9))[0].items
        assert (first.id, first.agent, first.messages, first.owner) == (folded, "", 2, None)
        assert first.last is not None
        assert (first.last.text, first.last.origin) == ("That.", Origin.DESK)
        assert (second.agent, second.owner, second.operator) == ("sales", "key:aya", "anna")
        assert [one.id for one in second.tickets] == [ticket]
        assert second.messages == 2
        assert second.last is not None
        assert second.last.text.startswith("One two x")
        assert len(second.last.text) == 200
        assert second.last.role == "assistant"

    async def test_they_are_found_by_who_has_them_and_who_is_waited_for(
        self, site: Site, narrow: None
    ) -> None:
        free, annas, bens, asked, answered = [
            await site.thread(f"Number {number}?", desk="sales" if number == 1 else "")
            for number in range(5)
        ]
        folded = await site.folded()
        await site.steps.take_thread(annas, "anna", BY)
        await site.steps.take_thread(bens, "ben", BY)
        await site.post(bens, "I see to it.", by_desk=True)
        await site.ticket(thread_id=asked)
        await site.post(asked, "A person has been asked.", by_desk=True)
        await site.ticket(thread_id=answered, kind=TicketKind.ACTION)
        await site.post(answered, "We look.", by_desk=True)
        for filtered, found in (
            (ThreadFilter("operator"), [bens, annas]),
            (ThreadFilter(mine="anna"), [annas]),
            (ThreadFilter(mine="anna", waiting=True), [annas]),
            (ThreadFilter(waiting=True), [asked, annas]),
            (ThreadFilter("agent", waiting=True), [asked]),
            (ThreadFilter("agent"), [answered, asked, folded, free]),
            (ThreadFilter("operator", agent="sales"), [annas]),
            (ThreadFilter(agent="sales"), [annas]),
            (ThreadFilter("agent", agent="sales"), []),
            (ThreadFilter("operator", text="number"), [bens, annas]),
            (ThreadFilter(text="number 3"), [asked]),
        ):
            assert await site.threads(filtered) == found, filtered
            assert await site.threads(filtered, limit=1) == found, filtered

    async def test_what_was_said_is_found_in_whatever_case(self, site: Site, narrow: None) -> None:
        quoted = await site.thread('He said: "ÉTÉ\nis over".', "And so on.")
        folded = await site.folded("Where is été?", "There.")
        replied = await site.folded("Where?", "In Été.")
        for _ in range(7):
            await site.thread("Nothing.")
        for text, found in (
            ("été", [replied, folded, quoted]),
            ('"été\nis', [quoted]),
            ("nis over", []),
            ('","', []),
            ("\\n", []),
        ):
            assert await site.threads(ThreadFilter(text=text)) == found, text

    async def test_a_thread_is_found_once_however_often_it_was_said_there(
        self, site: Site, narrow: None
    ) -> None:
        often, seldom = await site.thread("A lamp?"), await site.thread("A lamp?")
        for _ in range(5):
            await site.post(often, "Lamp, lamp!")
        asked = ThreadFilter(text="lamp")
        assert await site.threads(asked, limit=1) == [often, seldom]
        first, _ = await site.sees.list_threads(asked, None, 1)
        await site.post(seldom, "The lamp, now.")
        second, _ = await site.sees.list_threads(asked, first.next, 1)
        assert [line.id for line in second.items] == [seldom]

    async def test_so_is_one_on_which_all_was_said_in_a_moment(
        self, site: Site, narrow: None
    ) -> None:
        other = await site.thread("A lamp?")
        thread = Thread(site.next_id("thread"), None, int(site.now), {}, (DESK,))
        ids = sorted((new_id("msg", site.now) for _ in range(9)), reverse=True)
        said = [
            NewMessage(id_, salt_for(id_), "user", "visitor", Origin.VISITOR, ("A lamp?",))
            for id_ in ids
        ]
        await site.store.run(
            open_thread,
            thread=thread,
            speaker="visitor",
            messages=said,
            run=None,
            idempotency=None,
            now=int(site.now),
        )
        assert await site.threads(ThreadFilter(text="lamp"), limit=1) == [thread.id, other]
        assert await site.threads(limit=1) == [thread.id, other]

    async def test_a_page_looks_through_so_many_and_says_where_it_goes_on(
        self, site: Site, narrow: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(console_threads, "LOOKED_AT", 6)
        wanted = await site.thread("This one.", desk="sales")
        for _ in range(10):
            await site.thread("Another.")
        for asked in (ThreadFilter(text="this ONE"), ThreadFilter(agent="sales")):
            page, _ = await site.sees.list_threads(asked, None, 5)
            assert page.items == ()
            assert page.next is not None
            assert await site.threads(asked) == [wanted]
        monkeypatch.setattr(console_threads, "LOOKED_AT", 5_000)
        monkeypatch.setattr(console_threads, "MOST_LINES", 4)
        assert await site.threads(ThreadFilter("agent", agent="sales", text="one")) == [wanted]
        assert len(await site.threads(ALL)) == 11

    async def test_what_is_said_between_two_pages_moves_nothing(
        self, site: Site, narrow: None
    ) -> None:
        ids = [await site.thread(f"Number {number}?") for number in range(6)]
        first, _ = await site.sees.list_threads(ALL, None, 2)
        await site.thread("A new one?")
        await site.post(ids[5], "And again?")
        second, _ = await site.sees.list_threads(ALL, first.next, 9)
        assert [line.id for line in second.items] == [ids[3], ids[2], ids[1], ids[0]]

    async def test_a_thread_is_read_with_all_that_stands_around_it(self, site: Site) -> None:
        folded = await site.folded("What?", "That.")
        over = await site.ticket(thread_id=folded)
        await site.ends.answer(over, "Yes.", "ben", BY)
        await site.steps.take_thread(folded, "anna", BY)
        open_one = await site.ticket(thread_id=folded, call_id="call_1", kind=TicketKind.ACTION)
        note = await site.steps.note(folded, "Look.", "anna", BY)
        head = await site.sees.read_thread(folded)
        assert (head.thread.line.operator, head.thread.line.messages) == ("anna", 3)
        assert [one.ticket.id for one in head.tickets] == [open_one, over]
        assert head.thread.notes == (note,) == await site.sees.list_notes(folded)
        assert [(one.id, one.origin) for one in head.thread.actors] == [
            (DESK.id, Origin.DESK),
            (f"{DESK.id}/operators/ben", Origin.DESK),
            (f"{DESK.id}/operators/anna", Origin.DESK),
        ]
        kept = await reads.thread(site.store, folded)
        assert kept is not None
        assert head.thread.last_event == kept.last_event

    async def test_messages_are_read_from_the_newest_back(self, site: Site) -> None:
        thread = await site.thread("One.")
        two = await site.post(thread, "Two.", files=("file_1",))
        await site.steps.take_thread(thread, "anna", BY)
        await site.steps.say(thread, "Three.", "anna", BY)
        await delete_message(site.store, thread, two)
        page = await site.sees.list_messages(thread, None, 2)
        said = [one.said for one in page.items]
        shown = [(one.text, get_operator(one.actor), one.is_deleted) for one in said]
        assert shown == [
            ("", None, True),
            ("Three.", "anna", False),
        ]
        rest = await site.sees.list_messages(thread, page.next, 2)
        assert [one.said.text for one in rest.items] == ["One."]
        assert rest.next is None
        folded = await site.folded("What?", "That.")
        both = await site.sees.list_messages(folded, None, 9)
        assert [one.said.text for one in both.items] == ["What?", "That."]

    async def test_files_are_named_while_they_are_there(self, site: Site) -> None:
        thread = await site.thread("One.")
        await site.post(thread, "Two.", files=("file_1", "file_2"))
        await site.store.run(_add_file, id_="file_1")
        (_, shown) = (await site.sees.list_messages(thread, None, 9)).items
        assert [(one.id, one.name) for one in shown.said.attachments] == [
            ("file_1", "plan.txt"),
            ("file_2", None),
        ]

    async def test_of_no_thread_nothing_is_read(self, site: Site) -> None:
        gone = await site.thread("Gone?")
        await delete_thread(site.store, gone)
        for thread_id in ("thread_none", gone):
            with pytest.raises(ThreadNotFound):
                await site.sees.read_thread(thread_id)
            with pytest.raises(ThreadNotFound):
                await site.sees.list_messages(thread_id, None, 9)
            assert await site.sees.list_notes(thread_id) == ()

    async def test_what_is_no_cursor_is_refused(self, site: Site) -> None:
        thread = await site.thread("One.")
        for refused in (
            site.sees.list_tickets(EVERY, "x", 9),
            site.sees.list_tickets(TicketFilter("over"), "open.ticket_1", 9),
            site.sees.list_threads(ALL, "~", 9),
            site.sees.list_threads(ThreadFilter(text="x"), "A B", 9),
            site.sees.list_messages(thread, "msg_none", 9),
        ):
            with pytest.raises(InvalidRequest):
                await refused


def _add_file(*, id_: str) -> Work[None]:
    yield (
        "add_file",
        {
            "id": id_,
            "owner": None,
            "created_at": NOW,
            "expires_at": NOW + HOUR,
            "name": "plan.txt",
            "purpose": "user_data",
            "media_type": "text/plain",
            "size": 1,
            "desk": "",
            "counted": "",
            "digest": bytes(32),
            "object_key": None,
        },
    )
