"""Lets actors join and leave threads.

Each stay of an actor is a separate row, and both its ends are events of the thread. A changed
declaration or binding of an actor begins a new stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from aitp_desk.model.access.actor_name import comparable_name
from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import (
    CLIENT_PREFIX,
    KEY_PREFIX,
    PREFIXES,
    Principal,
    is_given_name,
)
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.thread import (
    MAX_ACTORS,
    MAX_ID_LENGTH,
    VISITOR,
    Actor,
    Origin,
    check_actor_name,
)
from aitp_desk.model.errors import ActorNotFound, Forbidden, InvalidRequest
from aitp_desk.store.base import Params, Work
from aitp_desk.store.records.threads import PresentActor
from aitp_desk.store.rows.threads import read_presence
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.receivers import drop_receivers
from aitp_desk.store.units.threads.access import ReachedThread, reach_thread
from aitp_desk.store.units.threads.creation import adding_actor
from aitp_desk.store.units.threads.tail import ThreadTail

MAX_STAYS = 1000
"""Maximum number of stays on one thread, of all actors together."""
_KEPT = {KEY_PREFIX: "live_token", CLIENT_PREFIX: "live_client"}
"""The credentials that this desk issues, and the statement that finds a live one."""


def join_thread(
    *,
    thread_id: str,
    principal: Principal,
    actor: Actor,
    param: str,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[Actor]:
    """Let an actor join a thread.

    A present actor that declares nothing new stays unchanged.

    Parameters:
        actor: bound to the caller, unless it names another principal.
        param: the parameter that names it.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        by: the caller. An audit entry is written if the actor is bound to another principal; None
            writes none.

    Returns:
        The actor as it participates now.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        Forbidden: the caller may not add this actor, or the name is another principal's.
        InvalidRequest: it is bound to an unknown principal, or the thread is full.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.READ, now=now)
    if not reached.access.may_join:
        reached.access.check(AccessNeed.MANAGE)
    bound_to = actor.principal or principal.owner
    if not reached.access.may_manage and bound_to != principal.id:
        raise Forbidden(
            ("You may join this thread only as an actor that is bound to you."), param=param
        )
    present = yield from _read_present(thread_id)
    there = next((one for one in present if one.actor.id == actor.id), None)
    if there is not None and there.is_desk:
        raise Forbidden("This actor belongs to the desk. Choose another id.", param=param)
    if there is not None and not reached.access.may_manage and not there.is_of(principal):
        raise Forbidden("This actor belongs to another caller.", param=param)
    staying = [one.actor for one in present if not one.is_desk and one is not there]
    after = yield from _move(reached, principal, present, [*staying, actor], param, now, by)
    return after[-1]


def leave_thread(
    *,
    thread_id: str,
    principal: Principal,
    actor_id: str,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[None]:
    """Let an actor leave a thread.

    Parameters:
        by: as of :func:`join_thread`.

    Raises:
        ThreadNotFound: there is none, it is closed, or it is not the caller's.
        ActorNotFound: no participant has this name.
        Forbidden: the actor is the desk's, or another principal's on another's thread.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    present = yield from _read_present(thread_id)
    there = next((one for one in present if one.actor.id == actor_id), None)
    if there is None:
        raise ActorNotFound("No participant of this thread has this name.", param="actor")
    if there.is_desk:
        raise Forbidden("The desk's own actor cannot leave.", param="actor")
    if not there.is_of(principal):
        reached.access.check(AccessNeed.MANAGE)
    staying = [one.actor for one in present if not one.is_desk and one is not there]
    yield from _move(reached, principal, present, staying, "actor", now, by)


def set_actors(
    reached: ReachedThread,
    principal: Principal,
    actors: Sequence[Actor],
    now: int,
    by: Auditor | None,
) -> Work[None]:
    """Replace the participants of a thread, except the desk's: a part of a unit.

    Parameters:
        actors: one with the desk's name is ignored, and one that is listed only as an author;
            a participant that declares nothing new stays unchanged.
        by: as of :func:`join_thread`.

    Raises:
        Forbidden, InvalidRequest: as :func:`join_thread`.
    """
    present = yield from _read_present(reached.id)
    own = {one.actor.id for one in present if one.is_desk}
    there = {one.actor.id for one in present}
    wanted = []
    for actor in actors:
        is_author = actor.id not in there and (yield from _is_only_author(reached.id, actor))
        if actor.id not in own and not is_author:
            wanted.append(actor)
    yield from _move(reached, principal, present, wanted, "metadata.actors", now, by)


def _is_only_author(thread_id: str, actor: Actor) -> Work[bool]:
    """Return whether a thread lists the actor only as an author. Such an actor has not joined."""
    is_given = actor.id == VISITOR or is_given_name(actor.id)
    if not is_given or actor.capabilities or actor.principal is not None:
        return False
    return bool((yield "has_said", {"thread_id": thread_id, "actor": actor.id}))


def check_bindings(actors: Iterable[Actor], caller: str | None, param: str) -> Work[None]:
    """Refuse an actor that is bound to an unknown principal, or uses another's name.

    Parameters:
        caller: id of the principal that adds them, None for a visitor without a credential.

    Raises:
        InvalidRequest, Forbidden: as :func:`join_thread`.
    """
    for actor in actors:
        check_actor_name(actor, actor.principal or caller, param)
        if actor.principal is None or actor.principal == caller:
            continue
        yield from check_known(actor.principal, param)


def check_known(principal_id: str, param: str) -> Work[None]:
    """Refuse an id of a caller that this desk cannot know.

    It knows the keys and clients that it issued. Callers of other issuers are known by name alone,
    whether they ever called or not.

    Raises:
        InvalidRequest: it is no such id.
    """
    known = principal_id.startswith(PREFIXES) and principal_id not in PREFIXES
    known = known and len(principal_id) <= MAX_ID_LENGTH
    for prefix, statement in _KEPT.items():
        if principal_id.startswith(prefix):
            id_ = principal_id.removeprefix(prefix)
            rows = yield statement, {"id_or_name": id_}
            known = bool(rows) and rows[0][0] == id_
    if not known:
        raise InvalidRequest(
            "A principal must be a caller known to this desk: 'key:' and the id of a valid API"
            " key, 'client:' and the id of a valid client, 'jwt:' or 'agent:' and a name. It has"
            f" at most {MAX_ID_LENGTH} characters.",
            param=param,
        )


def note_bindings(
    by: Auditor | None, action: AuditAction, thread_id: str, count: int
) -> Work[None]:
    """Record that actors of a thread were bound or unbound.

    Nothing is recorded if the count is 0. A part of a unit.
    """
    if count:
        yield from note_audit(by, action, ObjectKind.THREAD, thread_id, count=count)


def bound_to_others(actors: Iterable[Actor], caller: str | None) -> set[tuple[str, str]]:
    """Return the actors that another principal than the caller speaks as, with that principal."""
    return {
        (actor.id, actor.principal) for actor in actors if actor.principal not in (None, caller)
    }


def _read_present(thread_id: str) -> Work[list[PresentActor]]:
    rows = yield "actors_present", {"thread_id": thread_id}
    return list(map(read_presence, rows))


def _move(
    reached: ReachedThread,
    principal: Principal,
    present: Sequence[PresentActor],
    wanted: Sequence[Actor],
    param: str,
    now: int,
    by: Auditor | None,
) -> Work[list[Actor]]:
    """Make exactly these actors and the desk's participate; return them.

    Raises:
        Forbidden, InvalidRequest: as :func:`join_thread`.
    """
    there = {one.actor.id: one for one in present if not one.is_desk}
    after = [_declared(actor, there.get(actor.id), principal) for actor in wanted]
    unchanged = {one.actor.id for one in there.values() if one.actor in after}
    newcomers = [actor for actor in after if actor.id not in unchanged]
    leaving = [one for one in there.values() if one.actor.id not in unchanged]
    if not newcomers and not leaving:
        return after
    yield from _check_joining(reached, principal, newcomers, after, param)
    position = (yield "last_position", {"thread_id": reached.id})[0][0]
    if newcomers and position + len(newcomers) > MAX_STAYS:
        raise InvalidRequest(
            f"This thread has reached its limit of {MAX_STAYS} joins.", param=param
        )

    tail = reached.tail(now)
    for one in leaving:
        tail.add_event("actor.left", one.actor.id)
        yield _ending(tail, one)
    for place, actor in enumerate(newcomers, position + 1):
        tail.add_event("actor.joined", actor.id)
        yield adding_actor(reached.id, place, actor, Origin.VISITOR, tail.event)
    yield from tail.write()
    if any(one.actor.id == reached.opener_speaks_as for one in leaving):
        speaker = _next_speaker(reached, after)
        yield "set_speaker", {"thread_id": reached.id, "speaker": speaker}
    if leaving:
        yield from drop_receivers(reached.id, now)
    before = bound_to_others((one.actor for one in there.values()), principal.owner)
    bound = bound_to_others(after, principal.owner)
    yield from note_bindings(by, AuditAction.ACTOR_UNBOUND, reached.id, len(before - bound))
    yield from note_bindings(by, AuditAction.ACTOR_BOUND, reached.id, len(bound - before))
    return after


def _declared(wanted: Actor, there: PresentActor | None, principal: Principal) -> Actor:
    """Return an actor as it participates: what is not declared stays unchanged."""
    if there is None:
        return Actor(wanted.id, wanted.capabilities, wanted.principal or principal.owner)
    return Actor(
        wanted.id,
        wanted.capabilities or there.actor.capabilities,
        wanted.principal or there.actor.principal,
    )


def _check_joining(
    reached: ReachedThread,
    principal: Principal,
    newcomers: Sequence[Actor],
    after: Sequence[Actor],
    param: str,
) -> Work[None]:
    if len(after) > MAX_ACTORS:
        raise InvalidRequest(f"A thread may have at most {MAX_ACTORS} actors.", param=param)
    opener = comparable_name(reached.opener_speaks_as)
    for actor in newcomers:
        name = comparable_name(actor.id)
        if name == opener and actor.principal != reached.owner:
            raise Forbidden(
                ("This name belongs to the visitor who opened the thread. Choose another."),
                param=param,
            )
        if sum(comparable_name(other.id) == name for other in after) > 1:
            raise Forbidden(
                ("Another actor of this thread has a similar name. Choose another."), param=param
            )
    yield from check_bindings(newcomers, principal.owner, param)


def _ending(tail: ThreadTail, one: PresentActor) -> tuple[str, Params]:
    return (
        "end_stay",
        {
            "thread_id": tail.thread_id,
            "position": one.position,
            "event": tail.event,
            "seq": tail.seq,
        },
    )


def _next_speaker(reached: ReachedThread, after: Sequence[Actor]) -> str:
    """Return who speaks for the thread's opener, among the participants."""
    own = (actor.id for actor in after if actor.principal == reached.owner)
    return next(own, reached.owner or VISITOR)
