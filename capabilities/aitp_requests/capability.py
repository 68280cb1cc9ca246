"""AITP-02 as a capability: judges requests and decisions, and converts them from and to text.

Requests are stored in the capability's :class:`~aitp_desk.capability.Book`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from aitp_desk.capability import (
    UNKNOWN,
    Asked,
    Asking,
    Audit,
    Book,
    Capability,
    Context,
    Effect,
    Forbidden,
    InvalidRequest,
    Job,
    NotCounted,
    Part,
    Record,
    Refuse,
    Replace,
    Say,
    Schema,
    Standing,
    Start,
    State,
    Take,
    Then,
    Verdict,
    Waiting,
    Wanted,
    Work,
    document_of,
    open_until,
    waits_for_others,
)
from aitp_requests.desk_requests import YES, phrase, value_of
from aitp_requests.forms import decision_by, form_of
from aitp_requests.items import plain
from aitp_requests.messages import (
    MESSAGES,
    OWN,
    Decision,
    RejectedDecision,
    RequestDecision,
)
from aitp_requests.rules import check_choices, lapsed, settle_options
from aitp_requests.text import tell_decision, tell_options, tell_request
from aitp_requests.word_replies import understand

PUBLISHED = "https://aitp.dev/capabilities/aitp-02-decisions/v1.0.0/schema.json"
AskedDecision = Asked[RequestDecision, Decision]
BOOK = Book(
    AskedDecision, request="request_decision", answer="decision", named="request_decision_id"
)


class RequestsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[capabilities.requests]``.

    Parameters:
        open_for: lifetime in seconds of a request that names no expiry.
        remind_after: seconds after which an unanswered request is sent again, once; 0 for never.
    """

    open_for: Annotated[int, Meta(ge=60, le=366 * 24 * 60 * 60)] = 7 * 24 * 60 * 60
    remind_after: Annotated[int, Meta(ge=0, le=366 * 24 * 60 * 60)] = 0


class Requests(Capability):
    """Requests for decisions, and decisions."""

    slug = "requests"
    names = ("aitp.dev/requests", "aitp.dev/decisions", "aitp.dev/decision")
    settings = RequestsSettings

    def schemas(self) -> Sequence[Schema]:
        """Return version 1.0.0 of AITP-02 as published, and the desk's own version 0.

        Readers that have declared AITP-02 therefore also receive rejected decisions as data.
        """
        document = resources.files(__package__).joinpath("schemas/v1.json").read_bytes()
        return (
            Schema(
                version=1,
                messages=MESSAGES,
                document=msgspec.json.decode(document),
                url=PUBLISHED,
            ),
            Schema(
                version=0,
                messages=OWN,
                document=document_of(OWN, "Rejected decisions"),
            ),
        )

    def judge(self, part: Part, context: Context) -> Verdict:
        """Open a request, or check a decision against its request."""
        match part.content:
            case RequestDecision() as request:
                return self._ask(request, part.given, context)
            case Decision() as decision:
                return _answer(decision, part.given, context)
            case RejectedDecision():
                return Refuse(Forbidden("Only the desk can reject a decision."))
            case _:
                raise AssertionError(part.key)

    def as_text(self, part: Part) -> str:
        """Render a message; see :mod:`aitp_requests.text`."""
        match part.content:
            case RequestDecision() as request:
                return tell_request(request)
            case Decision() as decision:
                return tell_decision(decision)
            case RejectedDecision(options=options):
                return f"Rejected: {tell_options(options)}."
            case _:
                raise AssertionError(part.key)

    def from_text(self, text: str, waiting: Sequence[Record]) -> Mapping[str, Any] | None:
        """Parse a decision; see :mod:`aitp_requests.word_replies`."""
        asked = [one for one in map(BOOK.read, waiting) if one is not None]
        decision = understand(text, [one.request for one in asked])
        if decision is None:
            return None
        (settled,) = (one for one in asked if one.request.id == decision.request_decision_id)
        is_yes = settled.request.type == "confirmation" and decision.options[0].id == YES
        if is_yes and settled.call_id is not None and plain(text) != YES:
            return None  # it may cost or be final: only the desk can judge a vaguer text
        return {"decision": decision}

    def awaits(self, record: Record, actor: str) -> bool:
        """Return whether an actor may answer a request by text."""
        return BOOK.awaits(record, actor)

    def phrase(self, asking: Asking) -> Mapping[str, Any] | None:
        """Ask for a choice or a confirmation; see :mod:`aitp_requests.desk_requests`."""
        request = phrase(asking)
        return None if request is None else {"request_decision": request}

    def standing(self, part: Part, context: Context) -> Standing | None:
        """Return a request's state; None for a decision."""
        request = part.content
        if not isinstance(request, RequestDecision):
            return None
        return BOOK.standing(request.id, context)

    def waiting(self, record: Record) -> Waiting | None:
        """Return the form of an open request; see :mod:`aitp_requests.forms`."""
        asked = BOOK.read(record)
        if asked is None:
            return None
        request = asked.request
        return Waiting(
            id=request.id,
            message={"request_decision": request},
            form=form_of(request),
            by=asked.by,
            of=request.actor,
            call_id=asked.call_id,
            rejected=asked.rejected,
        )

    def answer(self, record: Record, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Build the decision of a form; see :mod:`aitp_requests.forms`."""
        asked = BOOK.read(record)
        if asked is None:
            raise InvalidRequest("This request has been erased.")
        return {"decision": decision_by(asked.request, given)}

    def jobs(self) -> Mapping[str, Work]:
        """Return the job that sends reminders of unanswered requests."""
        return {"remind": Work(self._remind)}

    def _ask(self, request: RequestDecision, given: Mapping[str, Any], context: Context) -> Verdict:
        check_choices(request)
        BOOK.check(request, context)
        if BOOK.is_known(request, context):
            return Take()
        replaced: list[Effect] = []
        if not request.supersedes and (old := BOOK.waited_for(context)):
            request = replace(request, supersedes=old)
            decision = dict(given["request_decision"]) | {"supersedes": old}
            replaced.append(Replace(dict(given) | {"request_decision": decision}))
        until = open_until(request, context, self.chosen.open_for)
        call_id = None if context.asking is None else context.asking.call_id
        asked = AskedDecision(request, context.actor, until, call_id=call_id)
        waits = waits_for_others(request, context)
        effects = [*replaced, *BOOK.open(asked, context, waits=waits), Audit("asked")]
        remind_after = self.chosen.remind_after
        if waits and 0 < remind_after < until - context.now:
            key = BOOK.key(context.thread_id, request.id)
            effects.append(Start("remind", ref=key, after=remind_after))
        return Take(tuple(effects), Then.NOBODY if waits else Then.AGENT)

    async def _remind(self, job: Job) -> Wanted:
        def remind(context: Context) -> Sequence[Effect]:
            """Judged when it is written: an answer that came meanwhile needs no reminder."""
            record = context.record(job.ref)
            asked = None if record is None else BOOK.read(record)
            if asked is None or asked.state_at(context.now) is not State.OPEN:
                return ()
            return (Say(f"This request is still open. {tell_request(asked.request)}"),)

        return remind


def _answer(decision: Decision, given: Mapping[str, Any], context: Context) -> Verdict:
    found = BOOK.find(decision.request_decision_id, context)
    if found is None:
        return Take(_reject(decision, NotCounted("unknown_request", UNKNOWN)))
    record, asked = found
    request = asked.request
    decision = replace(decision, request_decision_id=request.id)
    before = "" if asked.answer is None else tell_options(asked.answer.options)
    if why := asked.cannot_answer(context, before):
        return Take(_reject(decision, why, *BOOK.reject(record, asked, why, context)))
    options = settle_options(request, decision.options)
    settled = Decision(options, request.id)
    if names := lapsed(request, options, context.now):
        message = f"The price of {', '.join(names)} has expired. Please ask for a new one."
        why = NotCounted("price_expired", message)
        return Take(_reject(settled, why, *BOOK.reject(record, asked, why, context)))
    stored = dict(given) | {"decision": dict(given["decision"]) | msgspec.to_builtins(settled)}
    closed = BOOK.close(record, asked, settled, context)
    return Take(
        (Replace(stored), *closed, Audit("answered")),
        asked.then(value_of(request, options), context),
        otherwise=lambda why: _reject(settled, why, *BOOK.reject(record, asked, why, context)),
    )


def _reject(decision: Decision, why: NotCounted, *effects: Effect) -> tuple[Effect, ...]:
    """Store a decision as rejected. No reader can then take it for a valid one."""
    named = decision.request_decision_id
    rejected = RejectedDecision(why.reason, why.message, decision.options, named)
    return (Replace({"rejected_decision": rejected}, version=0), *effects, Say(why.message))
