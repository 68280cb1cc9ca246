"""Reads threads, their messages, events, sessions and keys."""

from __future__ import annotations

from typing import TypeVar

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import Access
from aitp_desk.model.conversation.feedback import Rating, RatingCount
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import Actor, Message, Thread
from aitp_desk.model.errors import InvalidRequest
from aitp_desk.model.ids import first_id
from aitp_desk.store.base import PAGE_BYTES, Params, Reader, Row, RowPage, Store, Work
from aitp_desk.store.records.keys import Key
from aitp_desk.store.records.pages import Order, Page, PageRequest
from aitp_desk.store.records.threads import (
    Event,
    IdempotencyRecord,
    Session,
    StoredThread,
    Summary,
)
from aitp_desk.store.rows.threads import (
    read_actor,
    read_event,
    read_message,
    read_metadata,
    read_presence,
    read_run,
    read_session,
    read_token,
)
from aitp_desk.store.units.threads.access import find_access
from aitp_desk.store.units.threads.folded_threads import unfold_thread

T = TypeVar("T")

NEWEST_OF_OWNER = 50
"""How many of a caller's newest threads are searched for the one that it used last."""
BEYOND = 2**62
"""A position after every message and event."""


async def thread(store: Store, thread_id: str) -> StoredThread | None:
    """Read a thread with its actors, the desk's own first."""
    rows = await read_rows(store, "thread", {"thread_id": thread_id})
    if not rows:
        return None
    id_, owner, created_at, metadata, parent_id, speaker, updated_at, *rest = rows[0]
    last_seq, last_event, claimed_at = rest
    actors = await read_actors(store, thread_id)
    return StoredThread(
        Thread(
            id=id_,
            owner=owner,
            created_at=created_at,
            metadata=read_metadata(metadata),
            actors=actors,
            parent_id=parent_id,
        ),
        speaker=speaker,
        updated_at=updated_at,
        last_seq=last_seq,
        last_event=last_event,
        is_claimed=claimed_at is not None,
    )


async def read_actors(store: Store, thread_id: str, event: int = BEYOND) -> tuple[Actor, ...]:
    """Read the participants of a thread, the desk's first.

    They can be limited to those that joined after one of the thread's events.
    """
    rows = await read_rows(store, "actors", {"thread_id": thread_id, "event": event})
    return tuple(map(read_actor, rows))


async def read_present(store: Store, thread_id: str) -> tuple[Actor, ...]:
    """Read the current participants of a thread, each with its principal, without the desk's."""
    present = map(read_presence, await read_rows(store, "actors_present", {"thread_id": thread_id}))
    return tuple(one.actor for one in present if not one.is_desk)


async def owner(store: Store, thread_id: str) -> str | None:
    """Read the owner of a thread.

    None means an anonymous thread, or no thread.
    """
    rows = await read_rows(store, "thread", {"thread_id": thread_id})
    return rows[0][1] if rows else None


async def newest_of_owner(
    store: Store, owner: str, desk: str, note: tuple[str, str]
) -> tuple[str, int] | None:
    """Find the thread that a caller used last, of those with a note.

    Parameters:
        note: a name and its value in the metadata.

    Returns:
        Its id, and the number of its newest event.
    """
    part = {"owner": owner, "desk": desk, "limit": NEWEST_OF_OWNER}
    name, value = note
    noted = [
        (updated_at, id_, last_event)
        for id_, metadata, updated_at, last_event in await store.read("newest_of_owner", part)
        if read_metadata(metadata).get(name) == value
    ]
    return max(noted)[1:] if noted else None


async def is_shared(store: Store, thread_id: str, now: int) -> bool:
    """Return whether a grant shares the thread at the given time."""
    ((count,),) = await read_rows(store, "count_grants", {"thread_id": thread_id, "now": now})
    return bool(count)


async def joined(store: Store, thread_id: str, event: int) -> Actor | None:
    """Read the actor that joined a thread with one of its events, ``actor.joined``."""
    rows = await read_rows(store, "joined", {"thread_id": thread_id, "event": event})
    return read_actor(rows[0]) if rows else None


async def list_ratings(store: Store, thread_id: str) -> dict[str, RatingCount]:
    """Count the ratings of a thread's messages, by their ids; none of one without ratings."""
    counted: dict[str, dict[str, int]] = {}
    for message_id, rating, count in await store.read(
        "ratings_of_thread", {"thread_id": thread_id}
    ):
        counted.setdefault(message_id, {})[rating] = count
    return {
        message_id: RatingCount(count.get(Rating.UP.value, 0), count.get(Rating.DOWN.value, 0))
        for message_id, count in counted.items()
    }


async def access(
    store: Store, thread_id: str, principal: Principal, idle_before: int, *, now: int
) -> Access | None:
    """Decide what a caller may do with a thread.

    None means that the thread does not exist for this caller.

    Parameters:
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        now: Unix seconds; grants that ended by then do not count.
    """
    found = await owner_and_access(store, thread_id, principal, idle_before, now=now)
    return None if found is None else found[1]


async def owner_and_access(
    store: Store, thread_id: str, principal: Principal, idle_before: int, *, now: int
) -> tuple[str | None, Access | None] | None:
    """Return a thread's owner and the caller's :func:`access`; None without a thread."""
    rows = await read_rows(store, "thread_tail", {"thread_id": thread_id, "desk": principal.desk})
    if not rows:
        return None
    owner, updated_at, *_ = rows[0]
    found = await _carry_out(
        store,
        find_access(thread_id, principal, owner, updated_at, now=now, idle_before=idle_before),
    )
    return owner, None if found is None else found[0]


async def forked_at(store: Store, thread_id: str) -> tuple[str, int] | None:
    """Read where a thread was forked from another; None for one that was not.

    Returns:
        The parent's id, and the number of its newest message at that time.
    """
    rows = await store.read("forked_at", {"thread_id": thread_id})  # a folded thread has no parent
    return (rows[0][0], rows[0][1]) if rows else None


async def threads_opened(
    store: Store, before: int, after: str, limit: int
) -> list[tuple[str, int | None]]:
    """List the oldest threads opened before a time, after a given one.

    Deleted threads are included.

    Returns:
        Their ids, and when each was last used; None for a deleted one.
    """
    page = {"opened_before": first_id("thread", before), "after": after, "limit": limit}
    return [(row[0], row[1]) for row in await store.read("threads_opened", page)]


async def message(store: Store, thread_id: str, message_id: str) -> Message | None:
    """Read one message of a thread; None also for a deleted one."""
    rows = await read_rows(store, "message", {"thread_id": thread_id, "id": message_id})
    return read_message(rows[0]) if rows else None


async def messages(
    store: Store,
    thread_id: str,
    part: PageRequest,
    *,
    run_id: str | None = None,
    upto_seq: int | None = None,
) -> Page[Message]:
    """Read a page of a thread's messages.

    It has fewer than ``part.limit`` messages if more would exceed ``PAGE_BYTES``.

    Parameters:
        run_id: only the desk's messages of this run.
        upto_seq: as if there were no messages newer than this; None for all.

    Raises:
        InvalidRequest: ``after`` or ``before`` is not a message of this thread.
    """
    newest = BEYOND if upto_seq is None else upto_seq
    low, high = part.sort_ends(
        await _end(store, thread_id, part.after, newest, "after"),
        await _end(store, thread_id, part.before, newest, "before"),
    )
    within: dict[str, str | int] = {
        "thread_id": thread_id,
        "above": 0 if low is None else low,
        "below": newest + 1 if high is None else high,
    }
    if run_id is None:
        statement = "messages_upwards" if part.is_upwards else "messages_downwards"
        return await _read_messages(store, statement, within, part.limit, reverses=part.is_turned)
    within["run_id"] = run_id
    statement = "run_messages_upwards" if part.is_upwards else "run_messages_downwards"
    found = await store.read_page(statement, within, limit=part.limit)
    return _page(found, reverses=part.is_turned)


async def newest_messages(
    store: Store, thread_id: str, limit: int, *, upto_seq: int | None = None
) -> tuple[Message, ...]:
    """Read the newest messages of a thread that fit a page, oldest first.

    Parameters:
        upto_seq: none newer than this.
    """
    below = BEYOND if upto_seq is None else upto_seq + 1
    part = {"thread_id": thread_id, "above": 0, "below": below}
    page = await _read_messages(store, "messages_downwards", part, limit, reverses=True)
    return page.items


async def messages_between(
    store: Store, thread_id: str, *, above: int, below: int, limit: int, order: Order
) -> Page[Message]:
    """Read messages of a thread between two positions, both excluded.

    Parameters:
        order: ``asc`` reads the oldest of them, ``desc`` the newest, the newest first.
    """
    part = {"thread_id": thread_id, "above": above, "below": below}
    statement = "messages_upwards" if order == "asc" else "messages_downwards"
    return await _read_messages(store, statement, part, limit)


async def summary(store: Store, thread_id: str) -> Summary | None:
    """Read the summary of a thread, if there is one."""
    rows = await store.read("summary", {"thread_id": thread_id})  # a folded thread has none
    return Summary(*rows[0]) if rows else None


async def run(store: Store, run_id: str) -> Run | None:
    """Read a run."""
    rows = await store.read("run", {"id": run_id})
    return read_run(rows[0]) if rows else None


async def run_input(store: Store, run: Run) -> tuple[Message, ...]:
    """Read the messages that came with the request of a run, in order."""
    named = {"thread_id": run.thread_id, "run_id": run.id}
    return tuple(map(read_message, await read_rows(store, "input_of_run", named)))


async def replies(store: Store, run_id: str) -> tuple[Message, ...]:
    """Read the desk's messages of a run, in order."""
    return tuple(map(read_message, await store.read("replies_of_run", {"run_id": run_id})))


async def events(store: Store, thread_id: str, *, after: int, limit: int) -> tuple[Event, ...]:
    """Read a thread's events after a number, in order."""
    rows = await read_rows(
        store, "events", {"thread_id": thread_id, "after": after, "limit": limit}
    )
    return tuple(map(read_event, rows))


async def run_queued_at(store: Store, thread_id: str, run_id: str) -> int:
    """Read the number of the newest event that queued a run; 0 for none."""
    rows = await read_rows(store, "run_queued_at", {"thread_id": thread_id, "run_id": run_id})
    return int(rows[0][0]) if rows else 0


async def messages_after_event(
    store: Store, thread_id: str, *, after: int, limit: int, most_bytes: int = PAGE_BYTES
) -> Page[Message]:
    """Read the oldest messages among a thread's events after a number, without deleted ones."""
    part = {"thread_id": thread_id, "after": after}
    return await _read_messages(store, "messages_after_event", part, limit, most_bytes)


async def session(store: Store, session_id: str) -> Session | None:
    """Read a session; its transcript is its thread's :func:`newest_messages`."""
    rows = await read_rows(store, "session", {"id": session_id})
    return read_session(rows[0]) if rows else None


async def token_by_id(store: Store, token_id: str) -> Key | None:
    """Read a key by its public part.

    It may be revoked or have expired.
    """
    rows = await store.read("token", {"id": token_id})
    return read_token(rows[0]) if rows else None


async def unrevoked_token(store: Store, id_or_name: str) -> Key | None:
    """Read the unrevoked key with this id, or else with this name."""
    rows = await store.read("live_token", {"id_or_name": id_or_name})
    return read_token(rows[0]) if rows else None


async def list_tokens(store: Reader) -> tuple[Key, ...]:
    """Read all keys, including revoked and expired ones, the oldest first."""
    return tuple(map(read_token, await store.read("tokens", {})))


async def is_used(store: Store, idempotency: IdempotencyRecord) -> bool:
    """Return whether an idempotency key is in use, for this request or another."""
    return bool(await store.read("look_up_once", idempotency.asked))


async def last_nonce_end(store: Store) -> int:
    """Return when the last used nonce expires, in Unix seconds.

    0 means that there is none.
    """
    rows = await store.read("last_nonce", {})
    return int(rows[0][0] or 0)


async def is_nonce_used(store: Store, nonce: bytes, until: int) -> bool:
    """Return whether a nonce was used, as far as that was stored; see ``nonces.keep_nonce``."""
    return bool(await store.read("nonce", {"nonce": nonce, "until": until}))


async def epoch(store: Store, name: str) -> int:
    """Read the change counter of what a running desk caches; 0 for never changed."""
    rows = await store.read("epoch", {"name": name})
    return int(rows[0][0]) if rows else 0


async def tokens_used(store: Store, day: int, used_by: bytes) -> int:
    """Read how many tokens models used on a day.

    Parameters:
        used_by: as in :func:`aitp_desk.store.units.runs.token_usage.add_tokens_used`.
    """
    rows = await store.read("tokens_used", {"day": day, "used_by": used_by})
    return int(rows[0][0]) if rows else 0


async def place(store: Store, thread_id: str, message_id: str | None) -> int:
    """Read a message's position on its thread; 0 for none.

    The message may be deleted.
    """
    rows = await read_rows(store, "message_seq", {"thread_id": thread_id, "id": message_id})
    return int(rows[0][0]) if rows else 0


async def _carry_out(store: Store, work: Work[T]) -> T:
    """Run the read-only part of a unit outside the writer."""
    try:
        statement, params = next(work)
        while True:
            sets = params if isinstance(params, tuple) else (params,)
            rows = [row for one in sets for row in await store.read(statement, one)]
            statement, params = work.send(rows)
    except StopIteration as end:
        result: T = end.value
        return result


async def read_rows(store: Store, statement: str, params: Params) -> list[Row]:
    """Read a thread or a session; a folded one is unfolded first."""
    rows = await store.read(statement, params)
    if rows:
        return rows
    await _unfold(store, "folded_session" if statement == "session" else "folded_turn", params)
    return await store.read(
        statement, params
    )  # another unit may have unfolded it between both reads


async def _unfold(store: Store, statement: str, params: Params) -> None:
    """Unfold the thread that a statement finds folded, if it finds one."""
    found = await store.read(statement, params)
    if found:
        by_session = statement == "folded_session"
        thread_id = found[0][0] if by_session else params["thread_id"]
        await store.run(unfold_thread, thread_id=thread_id)


async def _read_messages(
    store: Store,
    statement: str,
    part: Params,
    limit: int,
    most_bytes: int = PAGE_BYTES,
    *,
    reverses: bool = False,
) -> Page[Message]:
    """Read a page of a thread's messages; a folded thread is unfolded first.

    Parameters:
        reverses: whether the page is returned in reverse.
    """
    found = await store.read_page(statement, part, limit=limit, most_bytes=most_bytes)
    if not found.rows:
        await _unfold(store, "folded_turn", part)
        found = await store.read_page(statement, part, limit=limit, most_bytes=most_bytes)
    return _page(found, reverses=reverses)


def _page(found: RowPage, *, reverses: bool) -> Page[Message]:
    messages = map(read_message, reversed(found.rows) if reverses else found.rows)
    return Page(tuple(messages), found.has_more)


async def _end(
    store: Store, thread_id: str, message_id: str | None, newest: int, param: str
) -> int | None:
    if message_id is None:
        return None
    seq = await place(store, thread_id, message_id)
    if not 0 < seq <= newest:
        raise InvalidRequest(f"`{param}` must be the id of a message of this thread.", param=param)
    return seq
