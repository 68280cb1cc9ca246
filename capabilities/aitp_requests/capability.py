"""AITP-02 as a capability: judges requests and decisions, tells them, understands words.

A request is one record, by its thread and id. Beside it stands, for each thread, the list of those
that are open: a decision that names none answers the only one there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Annotated, Any

import msgspec
from msgspec import Meta, UnsetType

from aitp_desk.capability import (
    Audit,
    Capability,
    Context,
    Effect,
    InvalidRequest,
    Job,
    Keep,
    MissingField,
    Part,
    Record,
    Replace,
    Say,
    Schema,
    Start,
    Take,
    Then,
    Verdict,
    Work,
)
from aitp_requests.hearing import understand
from aitp_requests.messages import MESSAGES, Decision, RequestDecision
from aitp_requests.rules import Asked, State, check_request, lapsed, settle_options
from aitp_requests.text import called, tell_decision, tell_options, tell_request

PUBLISHED = "https://aitp.dev/capabilities/aitp-02-decisions/v1.0.0/schema.json"
MOST_OPEN = 20
"""How many requests may be open on one thread."""

UNKNOWN = "There is no such request on this thread."


class RequestsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.requests]``.

    Parameters:
        open_for: seconds that a request is open where it does not say until when.
        remind_after: seconds after which what nobody has answered is told again, once; 0 for never.
    """

    open_for: Annotated[int, Meta(ge=60, le=366 * 24 * 60 * 60)] = 7 * 24 * 60 * 60
    remind_after: Annotated[int, Meta(ge=0, le=366 * 24 * 60 * 60)] = 0


class Open(msgspec.Struct, frozen=True):
    """An open request in the list of its thread."""

    id: str
    by: str
    until: int


class Requests(Capability):
    """Decisions that are asked for and made. See the module."""

    slug = "requests"
    names = ("aitp.dev/requests", "aitp.dev/decisions", "aitp.dev/decision")
    settings = RequestsSettings

    def schemas(self) -> Sequence[Schema]:
        """Version 1.0.0 of AITP-02, as the published schema has it."""
        document = resources.files(__package__).joinpath("schemas/v1.json").read_bytes()
        return (
            Schema(
                version=1,
                messages=MESSAGES,
                document=msgspec.json.decode(document),
                url=PUBLISHED,
            ),
        )

    def judge(self, part: Part, context: Context) -> Verdict:
        """Open a request, or hold a decision against the one that it answers."""
        match part.content:
            case RequestDecision() as request:
                return self._ask(request, context)
            case Decision() as decision:
                return _answer(decision, part.given, context)
            case _:
                raise AssertionError(part.key)

    def as_text(self, part: Part) -> str:
        """See :mod:`aitp_requests.text`."""
        match part.content:
            case RequestDecision() as request:
                return tell_request(request)
            case Decision() as decision:
                return tell_decision(decision)
            case _:
                raise AssertionError(part.key)

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """See :mod:`aitp_requests.hearing`."""
        asked = [one for one in map(_read, waiting) if one is not None]
        decision = understand(text, [one.request for one in asked])
        return None if decision is None else {"decision": decision}

    def jobs(self) -> Mapping[str, Work]:
        """Reminding of what nobody has answered."""
        return {"remind": Work(self._remind)}

    def _ask(self, request: RequestDecision, context: Context) -> Verdict:
        check_request(request, context.now)
        if request.actor == context.actor:
            raise InvalidRequest(
                "actor names whoever asks; it names somebody else, or is left out.",
                param="request_decision.actor",
            )
        key = _key(context.thread_id, request.id)
        record = context.record(key)
        if record is not None:
            before = _read(record)
            if before is not None and before.request == request and before.by == context.actor:
                return Take()
            raise InvalidRequest(
                "There is a request with this id on this thread already; a new one has a new id.",
                param="request_decision.id",
            )
        until = context.now + self.chosen.open_for
        if not isinstance(request.valid_until, UnsetType):
            until = min(until, int(request.valid_until.timestamp()))
        listed = _open_on(context)
        effects: list[Effect] = []
        if request.supersedes:
            effects.append(_supersede(request.supersedes, context))
            listed = [one for one in listed if one.id != request.supersedes]
        if len(listed) >= MOST_OPEN:
            raise InvalidRequest(
                f"{MOST_OPEN} requests are open on this thread. Have one of them answered, or"
                " supersede one.",
                param="request_decision",
            )
        waits = _waits(request, context)
        listed.append(Open(request.id, context.actor, until))
        effects += (
            Keep(key, Asked(request, context.actor, until), 0, until if waits else None),
            _list(listed, context),
            Audit("asked"),
        )
        remind_after = self.chosen.remind_after
        if waits and 0 < remind_after < until - context.now:
            effects.append(Start("remind", ref=key, after=remind_after))
        return Take(tuple(effects), Then.NOBODY if waits else Then.AGENT)

    async def _remind(self, job: Job) -> Sequence[Effect]:
        record = await job.read(job.ref)
        asked = None if record is None else _read(record)
        if asked is None or asked.state_at(job.now) is not State.OPEN:
            return ()
        return (Say(f"This is still open. {tell_request(asked.request)}"),)


def _answer(decision: Decision, given: Mapping[str, Any], context: Context) -> Verdict:
    id = decision.request_decision_id or _only_open(context)
    record = None if id is None else context.record(_key(context.thread_id, id))
    asked = None if record is None else _read(record)
    if record is None or asked is None:
        return Take((Say(UNKNOWN),))
    request = asked.request
    if why := _cannot_answer(asked, context):
        return Take((Say(f"{called(request)} {why}"),))
    options = settle_options(request, decision.options)
    if names := lapsed(request, options, context.now):
        return Take((Say(f"The price of {', '.join(names)} has ended. Please ask for a new one."),))
    settled = Decision(options, request.id)
    answered = asked.moved(State.ANSWERED, context.now, settled)
    listed = [one for one in _open_on(context) if one.id != request.id]
    is_by_party = any(party.id == asked.by for party in context.parties)
    stored = dict(given) | {"decision": dict(given["decision"]) | msgspec.to_builtins(settled)}
    return Take(
        (
            Replace(stored),
            Keep(record.key, answered, record.version),
            _list(listed, context),
            Audit("answered"),
        ),
        Then.NOBODY if is_by_party else Then.AGENT,
    )


def _cannot_answer(asked: Asked, context: Context) -> str:
    """Why a request takes no answer of this actor now, as the rest of a sentence; else empty."""
    match asked.state_at(context.now):
        case State.ANSWERED:
            chosen = "" if asked.answer is None else f": {tell_options(asked.answer.options)}"
            return f"was answered before{chosen}."
        case State.EXPIRED:
            return "was not answered in time."
        case State.SUPERSEDED:
            return "was replaced by a newer request."
        case State.OPEN:
            pass
    if context.actor == asked.by:
        return "is for others to answer: you have asked it."
    if asked.request.actor not in {"", context.actor}:
        return "is for somebody else to answer."
    return ""


def _supersede(id: str, context: Context) -> Keep:
    record = context.record(_key(context.thread_id, id))
    asked = None if record is None else _read(record)
    if record is None or asked is None or asked.by != context.actor:
        raise InvalidRequest(
            "supersedes names no request that this actor has made on this thread.",
            param="request_decision.supersedes",
        )
    state = asked.state_at(context.now)
    if state is not State.OPEN:
        raise InvalidRequest(
            f"supersedes names a request that is {state.value}; only an open one is replaced.",
            param="request_decision.supersedes",
        )
    return Keep(record.key, asked.moved(State.SUPERSEDED, context.now), record.version)


def _waits(request: RequestDecision, context: Context) -> bool:
    """Whether others who take part are to answer, and their words may be the answer.

    What a visitor asks where nobody else is, is for whoever answers at the desk.
    """
    others = {party.id for party in context.parties} - {context.actor}
    return request.actor in others if request.actor else bool(others)


def _only_open(context: Context) -> str | None:
    """The only request that may be meant where none is named.

    Raises:
        MissingField: several may be.
    """
    open_here = [one for one in _open_on(context) if one.by != context.actor]
    if len(open_here) > 1:
        raise MissingField(
            "Several requests are open on this thread: request_decision_id says which is meant.",
            param="decision.request_decision_id",
        )
    return open_here[0].id if open_here else None


def _open_on(context: Context) -> list[Open]:
    record = context.record(_list_key(context.thread_id))
    if record is None or record.value is None:
        return []
    listed = msgspec.convert(record.value, list[Open])
    return [one for one in listed if one.until > context.now]


def _list(listed: Sequence[Open], context: Context) -> Keep:
    key = _list_key(context.thread_id)
    record = context.record(key)
    return Keep(key, list(listed), 0 if record is None else record.version)


def _read(record: Record) -> Asked | None:
    """The request that a record keeps; None once it was erased."""
    return None if record.value is None else msgspec.convert(record.value, Asked)


def _key(thread_id: str, id: str) -> str:
    # an id may hold anything, keys nothing of a person
    return f"request:{_digest(thread_id, id)}"


def _list_key(thread_id: str) -> str:
    return f"open:{_digest(thread_id)}"


def _digest(*texts: str) -> str:
    return hashlib.sha256(msgspec.json.encode(texts)).hexdigest()
