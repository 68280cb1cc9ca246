"""Reads and writes grants as JSON. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from aitp_desk.model.access.grant import Grant, GrantDraft, GrantLevel
from aitp_desk.model.errors import InvalidRequest, MissingField
from aitp_desk.protocols.aitp.shapes import decode_object
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import encode, encode_list
from aitp_desk.protocols.base.protocol import Reply


def decode_grant(body: bytes) -> GrantDraft:
    """Decode the body that shares a thread: ``principal`` or ``link``, and ``may``.

    Raises:
        MissingField: it does not name a principal or a link, or a level.
        InvalidRequest: a member has the wrong shape; ``param`` is its path.
    """
    given = decode_object(body)
    principal, link = given.get("principal"), given.get("link", False)
    if principal is not None and not isinstance(principal, str):
        raise InvalidRequest("`principal` must be the id of a caller.", param="principal")
    if not isinstance(link, bool):
        raise InvalidRequest("`link` must be true or false.", param="link")
    if (principal is not None) == link:
        raise MissingField(
            'Name the caller to share with, such as {"principal": "key:…"}, or ask for a'
            ' link: {"link": true}.',
            param="principal",
        )
    return GrantDraft(
        principal,
        _may_of(given.get("may")),
        _seconds_of(given, "expires_at"),
        _seconds_of(given, "expires_in"),
    )


def encode_grant(grant: Grant, link: str | None) -> Reply:
    """Encode the response to a shared thread.

    Parameters:
        link: the secret of a new link; None for no link.
    """
    body = write_grant(grant)
    body.secret = UNSET if link is None else link
    return Reply(200, encode(body))


def encode_grants(grants: Sequence[Grant]) -> Reply:
    """Encode all grants of a thread."""
    return encode_list(list(map(write_grant, grants)), has_more=False)


def write_grant(grant: Grant) -> objects.Grant:
    """Write a grant, without the secret of a link."""
    return objects.Grant(
        id=grant.id,
        thread_id=grant.thread_id,
        created_at=grant.created_at,
        principal=None if grant.is_link else grant.principal,
        link=grant.is_link,
        may=grant.may.value,
        expires_at=grant.expires_at,
    )


def _may_of(given: Any) -> GrantLevel:
    if given is None:
        raise MissingField("`may` is required: read or write.", param="may")
    try:
        return GrantLevel(given)
    except ValueError:
        raise InvalidRequest("`may` must be 'read' or 'write'.", param="may") from None


def _seconds_of(given: dict[str, Any], name: str) -> int | None:
    seconds = given.get(name)
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int)):
        raise InvalidRequest(f"`{name}` must be a whole number of seconds.", param=name)
    return seconds
