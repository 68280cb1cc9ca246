"""Negotiates and writes HAC representations of responses (HAC 1.0)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import msgspec
import structlog

from aitp_desk.desk.desk import Desk
from aitp_desk.http.hac.context import ProtocolPaths
from aitp_desk.http.hac.recovery import RecoveryFinder
from aitp_desk.http.hac.refusal import Refusal, parse_refusal, refusal_from_error
from aitp_desk.http.hac.request_view import HacRequest
from aitp_desk.model.calls.action import Related
from aitp_desk.model.errors import DeskError, NotAcceptable
from aitp_desk.protocols import hac
from aitp_desk.protocols.base.affordances import Affordance, InputField, Overview, Representation
from aitp_desk.protocols.base.discovery_links import MANIFEST_TYPE
from aitp_desk.protocols.base.protocol import JSON, REFUSED, Reply, Route, make_etag, matches_etag
from aitp_desk.protocols.hac.negotiation import Face, negotiate

Headers = tuple[tuple[str, str], ...]
BY_FACE = ("Vary", "Accept, Authorization")
"""Sent on both representations: there are two, and the affordances depend on the caller."""
_TAGGED = frozenset({"GET", "HEAD"})
_written: WeakKeyDictionary[Affordance, hac.Action | None] = WeakKeyDictionary()
_log = structlog.get_logger()


def negotiate_representation(
    headers: Mapping[str, str],
    method: str,
    path: str,
    route: Route | None,
    desk: Desk,
    *,
    has_faces: bool = True,
) -> Face:
    """Negotiate the representation of a response.

    A 404, also a possible one, is sent in the requested representation. Where an existing address
    has no HAC representation, a request that accepts nothing else gets 406.

    Parameters:
        headers: the request's, several lines of ``Accept`` joined.
        path: as it was requested, percent-encoded, without the query.
        route: None where nothing is served.
        desk: the one whose address it is.
        has_faces: whether HAC is enabled. Where it is not, a request that accepts nothing else
            still gets 406, and refusals are plain.
    """
    accept = headers.get("Accept", "")
    if "hac" not in accept.lower() or method == "OPTIONS":
        return Face.PLAIN
    given: tuple[str, ...] = ()
    if route is not None:
        given = route.gives if route.gives_at is None else route.gives_at(desk, path)
    if route is None or not given:
        return negotiate(accept) if has_faces else Face.PLAIN
    # an address that serves a page instead of a resource has no HAC representation
    is_served = route.second is not None and (route.gives_at is None or JSON in given)
    return negotiate(accept, is_served=is_served, plain=(*given, MANIFEST_TYPE))


def not_acceptable(route: Route) -> NotAcceptable:
    """Return the error for a request that accepts only HAC where there is none."""
    given = ", ".join(one for one in route.gives if "*" not in one)
    return NotAcceptable(
        f"This address does not serve {hac.MEDIA_TYPE}. Add {given} to Accept.",
        param="Accept",
    )


class HacRenderer:
    """Writes the HAC representations of replies.

    Parameters:
        ways: the links to offer after a refusal.
    """

    def __init__(self, ways: ProtocolPaths) -> None:
        self._recovery = RecoveryFinder(ways)

    def render(self, reply: Reply, error: DeskError | None, asked: HacRequest) -> Reply:
        """Return the HAC representation of a reply, or the reply if there is none.

        Parameters:
            error: the refusal; None also where a reply repeats that of an earlier request.
        """
        if error is None and (reply.status < REFUSED or not _is_json(reply)):
            return self._write(reply, asked)
        below = asked.desk.base_path
        refused = refusal_from_error(error, below) if error else parse_refusal(reply.body)
        return self._refuse(reply, refused, asked)

    def _write(self, reply: Reply, asked: HacRequest) -> Reply:
        seen = reply.seen
        if seen is None:
            return reply
        if isinstance(seen, Overview):
            body = hac.write_discovery(_discovery(seen))
            own: Headers = (("Cache-Control", "private, no-cache"), BY_FACE)
        elif reply.pieces is not None:
            return _wrap_pieces(reply, reply.pieces, _context(seen), asked)
        else:
            body = hac.wrap(reply.body, _context(seen))
            own = tuple(one for one in reply.headers if one[0] != "ETag")
        if asked.method in _TAGGED and reply.status == 200:
            tag = make_etag(body)
            own = (*own, ("ETag", tag))
            if matches_etag(asked.headers, tag):
                return Reply(304, content_type=hac.MEDIA_TYPE, headers=own)
        return Reply(reply.status, body, hac.MEDIA_TYPE, own, reply.links)

    def _refuse(self, reply: Reply, refused: Refusal, asked: HacRequest) -> Reply:
        """Write a refusal with the same status and headers, and with recovery hints."""
        found = self._recovery.find(refused, asked)
        recovery = None
        if found.description:
            actions = tuple(write_affordances(found.doings))
            recovery = hac.Recovery(description=found.description, actions=actions)
        told = hac.HacError(
            code=refused.kind.value,
            message=refused.message.strip() or "It was refused.",
            retryable=found.is_retryable,
            retry_after=found.retry_after,
            recovery=recovery,
            extra=_beside(refused),
        )
        return msgspec.structs.replace(
            reply, body=hac.write_error(told), content_type=hac.MEDIA_TYPE
        )


def _beside(refused: Refusal) -> dict[str, Any]:
    """Return the members of a refusal that HAC does not define."""
    told = {"x-param": refused.param, "x-payment": refused.payment or None}
    return {name: said for name, said in told.items() if said is not None}


def _wrap_pieces(
    reply: Reply, pieces: AsyncIterator[bytes], context: hac.Context, asked: HacRequest
) -> Reply:
    """Wrap a body too large for memory; its ETag is derived from the body's."""
    before, after = hac.wrapping(context)
    held = dict(reply.headers)
    tag = make_etag(held.pop("ETag").encode() + after)
    headers = (*held.items(), ("ETag", f"W/{tag}"))
    if matches_etag(asked.headers, tag):
        return Reply(304, content_type=hac.MEDIA_TYPE, headers=headers)

    async def wrapped() -> AsyncIterator[bytes]:
        yield before
        async for piece in pieces:
            yield piece
        yield after

    return msgspec.structs.replace(
        reply, content_type=hac.MEDIA_TYPE, headers=headers, pieces=wrapped()
    )


def _is_json(reply: Reply) -> bool:
    return reply.content_type == JSON or reply.content_type.endswith("+json")


def _context(seen: Representation) -> hac.Context:
    return hac.Context(
        description=_line(seen.description),
        actions=tuple(write_affordances(seen.doings)),
        related=tuple(_related(seen.related)),
    )


def _discovery(overview: Overview) -> hac.Discovery:
    places = []
    for one in overview.places:
        extra = {"x-template": one.template} if one.template else {}
        try:
            places.append(
                hac.Resource(
                    rel=one.rel,
                    href=one.href,
                    description=_line(one.description),
                    methods=one.methods,
                    extra=extra,
                )
            )
        except hac.NotHac as error:
            _log.warning("hac_left_out", what=one.rel, reason=str(error))
    return hac.Discovery(
        name=overview.name,
        version=overview.version,
        description=_line(overview.description),
        resources=tuple(places),
    )


def _related(related: tuple[Related, ...]) -> Iterator[hac.Related]:
    for one in related:
        try:
            yield hac.Related(rel=one.rel, href=one.href, description=_line(one.description))
        except hac.NotHac as error:  # owners write these, and plain responses may hold them
            _log.warning("hac_left_out", what=one.rel, reason=str(error))


def write_affordances(doings: tuple[Affordance, ...]) -> Iterator[hac.Action]:
    """Write affordances as HAC actions; log and leave out those that break its rules."""
    for one in doings:
        if one not in _written:
            _written[one] = _write_doing(one)
        if (written := _written[one]) is not None:
            yield written


def _write_doing(affordance: Affordance) -> hac.Action | None:
    try:
        return hac.Action(
            rel=affordance.rel,
            method=affordance.method,
            href=affordance.href,
            description=_line(affordance.description),
            safety=_safety(affordance),
            fields=tuple(map(_field, affordance.takes)),
            preconditions=affordance.needs,
        )
    except hac.NotHac as error:
        _log.warning("hac_left_out", what=affordance.rel, reason=str(error))
        return None


def _safety(affordance: Affordance) -> hac.Safety:
    safety, cost = affordance.safety, affordance.cost
    return hac.Safety(
        mutability=safety.mutability,
        blast_radius=safety.blast_radius,
        reversible_within=safety.reversible_within if safety.mutability == "reversible" else None,
        confirmation_recommended=safety.confirmation_recommended
        or safety.is_grave
        or cost is not None,
        cost=None if cost is None else hac.Cost(amount=cost.amount, currency=cost.currency),
    )


def _line(text: str) -> str:
    """Return a text as one line: docstrings have several."""
    return " ".join(text.split())


def _field(taken: InputField) -> hac.Field:
    return hac.Field(
        name=taken.name,
        type=taken.kind,
        description=_line(taken.description),
        required=taken.is_required,
        enum=taken.values,
        default=taken.default,
        extra={} if taken.schema is None else {"x-schema": taken.schema},
    )
