"""Before a unit adds to a thread: may this caller, and as whom does it speak."""

from __future__ import annotations

from aitp_desk.model.errors import ThreadNotFound
from aitp_desk.model.principal import Principal, may_read_thread
from aitp_desk.model.thread import ROLES, Draft, Message, Origin, Role, resolve_speaker
from aitp_desk.store.base import Row, Work


def reach_thread(
    thread_id: str, principal: Principal, idle_before: int, *, param: str = "thread_id"
) -> Work[Row]:
    """Return ``owner, speaker, last_seq, last_link, last_event`` of a thread the caller may use.

    Parameters:
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        param: where the caller named the thread.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's; in the same words.
    """
    rows = yield "thread_tail", {"thread_id": thread_id}
    if rows:
        owner, updated_at, *tail = rows[0]
        closed = owner is None and updated_at < idle_before
        if not closed and may_read_thread(principal, owner):
            return (owner, *tail)
    raise ThreadNotFound("There is no thread with this id.", param=param)


def settle_speaker(
    thread_id: str, principal: Principal, draft: Draft, default: str
) -> Work[tuple[Role, str]]:
    """Return the role and the actor under which a draft is kept.

    Parameters:
        default: the actor that is stamped where the draft names none.

    Raises:
        InvalidRequest, Forbidden: as ``model.thread.resolve_speaker``.
    """
    brought: list[str] = []
    others: list[str] = []
    if draft.role not in ROLES or draft.actor not in (None, default):
        rows = yield "actors_brought", {"thread_id": thread_id}
        for actor, origin, who in rows:
            own = origin == Origin.VISITOR.value and who == principal.owner
            (brought if own else others).append(actor)
    return resolve_speaker(draft, brought=brought, default=default, others=others)


def is_callers(message: Message, principal: Principal, default: str) -> Work[bool]:
    """Whether the caller said a message: under the stamped actor, or one that it brought.

    Parameters:
        default: the actor that is stamped on what this caller says.
    """
    if message.origin is not Origin.VISITOR:
        return False
    if message.actor == default:
        return True
    rows = yield "actors_brought", {"thread_id": message.thread_id}
    return any(
        actor == message.actor and origin == Origin.VISITOR.value and who == principal.owner
        for actor, origin, who in rows
    )
