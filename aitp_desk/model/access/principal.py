"""Principals: callers, and what they may use."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum

import msgspec
from msgspec.structs import force_setattr

from aitp_desk.model.access.scope import is_operator_scope, opens_threads

AGENT_PREFIX = "agent:"
"""Prefix of the id of an agent that has proven its domain; the domain follows."""
KEY_PREFIX = "key:"
"""Prefix of the id of a caller with an API key; the key's id follows."""
CLIENT_PREFIX = "client:"
"""The same for a caller with an access token of this desk; the client's id follows."""
LINK_PREFIX = "link:"
"""Prefix of the id of a caller known only by a thread's share link; the grant's id follows."""
JWT_PREFIX = "jwt:"
"""The same for a caller with another issuer's token; the issuer's name and the token's subject
follow, separated by a colon.
"""
CONTACT_PREFIX = "contact:"
"""The same for a person on another platform; the transport and the platform's id of the person
follow, separated by a colon.
"""
PREFIXES = (KEY_PREFIX, CLIENT_PREFIX, JWT_PREFIX, AGENT_PREFIX, CONTACT_PREFIX)
"""Prefixes of the ids of callers that can be named: an actor may be bound to them, and a thread
shared with them.
"""
ANONYMOUS_ID = "anonymous"
GUEST_PREFIX = "guest-"
"""Prefix of the name of a link's holder as a speaker."""
_GUEST_CHARACTERS = 10


class PrincipalKind(Enum):
    """How much is known about the caller."""

    ANONYMOUS = "anonymous"
    STRANGER = "stranger"
    """Known by a name that anyone can create: a domain that is not listed here, or a client that
    has registered itself.
    """
    AGENT = "agent"
    USER = "user"
    OPERATOR = "operator"


class ProvenBy(Enum):
    """How the caller's identity was proven."""

    NOTHING = "nothing"
    API_KEY = "api_key"
    JWT = "jwt"
    SIGNED_REQUEST = "signed_request"
    MESSAGE_SIGNATURE = "message_signature"
    LINK = "link"
    CONSOLE = "console"
    TRANSPORT = "transport"


class Principal(msgspec.Struct, frozen=True):
    """A caller, as far as its identity is proven.

    Parameters:
        id: stable name of the caller; ``anonymous`` for anonymous callers, or the link by which a
            thread was shared with them.
        kind: how much is known.
        scopes: what the credential opens: ``threads``, ``actions``, ``operator``, ``admin``,
            ``sensitive``; ``actions:<name>`` narrows ``actions`` to one action.
        address: of the client, for limits: its network address, for IPv6 the network of 64 bits;
            never an identity.
        desk: name of the further site agent that it calls; empty for the site's own. Data of one
            desk does not exist for callers of another.
        proven_by: how it was proven; also ``NOTHING`` if it was proven at another time.
        via: the ids of the desks that have passed the request on, the first one first.
        is_anonymous: whether nothing was proven. This and the following fields are computed.
        owner: stored as the owner of what this caller creates; None if anonymous.
        limited_as: the key for limits: the caller, or its address.
    """

    id: str
    kind: PrincipalKind
    scopes: frozenset[str]
    address: str
    desk: str = ""
    proven_by: ProvenBy = ProvenBy.NOTHING
    via: tuple[str, ...] = ()
    is_anonymous: bool = False
    owner: str | None = None
    limited_as: str = ""

    def __post_init__(self) -> None:
        is_anonymous = self.kind is PrincipalKind.ANONYMOUS
        by_address = is_anonymous or self.kind is PrincipalKind.STRANGER
        force_setattr(self, "is_anonymous", is_anonymous)
        force_setattr(self, "owner", None if is_anonymous else self.id)
        force_setattr(self, "limited_as", self.address if by_address else self.id)

    @property
    def is_guest(self) -> bool:
        """Whether the caller is known only by a share link."""
        return self.id.startswith(LINK_PREFIX)

    @property
    def party(self) -> str | None:
        """The id stored as the author of a message; None for an anonymous caller."""
        return None if self.id == ANONYMOUS_ID else self.id

    @property
    def name(self) -> str:
        """The speaker's name of a known caller or guest without a bound actor."""
        return f"{GUEST_PREFIX}{self.id[-_GUEST_CHARACTERS:]}" if self.is_guest else self.id

    @property
    def counts_by_address(self) -> bool:
        """Whether limits count it by address, because its other names cost nothing."""
        return self.kind is PrincipalKind.ANONYMOUS or self.kind is PrincipalKind.STRANGER


def is_given_name(name: str) -> bool:
    """Return whether a speaker's name was assigned by the desk, without an own actor."""
    return is_known_caller(name) or name.startswith(GUEST_PREFIX)


def is_known_caller(name: str) -> bool:
    """Return whether a name is the reserved id of a known caller."""
    return name.startswith(PREFIXES)


def make_anonymous(address: str, via: tuple[str, ...] = ()) -> Principal:
    """Return the anonymous caller at an address.

    Parameters:
        via: the desks that have passed the request on.
    """
    return Principal(ANONYMOUS_ID, PrincipalKind.ANONYMOUS, frozenset(), address, via=via)


def make_key_principal(id_: str, scopes: Iterable[str], proven_by: ProvenBy) -> Principal:
    """Return the caller that a key of this desk proves, without an address.

    Parameters:
        id_: the key's.
    """
    opened = frozenset(scopes)
    return Principal(f"{KEY_PREFIX}{id_}", find_kind(opened), opened, "", proven_by=proven_by)


def name_contact(transport: str, person: str, *, is_proven: bool) -> str:
    """Return the id of the caller for a person on another platform; see :func:`make_contact`."""
    return f"{CONTACT_PREFIX}{transport}{':' if is_proven else '?'}{person}"


def make_contact(
    transport: str, person: str, *, is_proven: bool, actions: Iterable[str] = ()
) -> Principal:
    """Return the caller for a person on another platform.

    An unproven person is another caller than the proven one, and limits count both by their ids.

    Parameters:
        person: the platform's id of the person, at most 400 characters.
        is_proven: whether the platform has authenticated the person.
        actions: names of those that it opens to a proven person.
    """
    id_ = name_contact(transport, person, is_proven=is_proven)
    kind, by = PrincipalKind.STRANGER, ProvenBy.NOTHING
    if is_proven:
        kind, by = PrincipalKind.USER, ProvenBy.TRANSPORT
    scopes = {"threads", *(f"actions:{name}" for name in actions)} if is_proven else ()
    return Principal(id_, kind, frozenset(scopes), id_, proven_by=by)


def find_kind(scopes: Collection[str], kind: PrincipalKind = PrincipalKind.AGENT) -> PrincipalKind:
    """Return the kind of a caller with these scopes.

    Parameters:
        kind: for callers that are no operators.
    """
    return PrincipalKind.OPERATOR if is_operator_scope(scopes) else kind


def find_least(one: Principal, other: Principal) -> Principal:
    """Return a principal with only the rights that two callers have in common.

    For two different callers it is an anonymous one.
    """
    via = tuple(dict.fromkeys((*one.via, *other.via)))
    if one.id != other.id or one.kind is not other.kind:
        return make_anonymous("", via)
    return Principal(one.id, one.kind, one.scopes & other.scopes, "", via=via)


def may_use_threads(principal: Principal) -> bool:
    """Return whether the caller may create threads, and use those that it created.

    That needs no credential, so a key or a signature never takes it away. A token is limited to its
    scopes: its client can get another, and must not pass on its own conversations with a narrow
    one.
    """
    is_of_token = principal.id.startswith((CLIENT_PREFIX, JWT_PREFIX))
    return not is_of_token or opens_threads(principal.scopes)


def may_join_threads(principal: Principal) -> bool:
    """Return whether the caller may use others' threads: claim them, join them, receive grants.

    A credential that was made for another purpose does not open others' messages.
    """
    return principal.is_anonymous or opens_threads(principal.scopes)


def may_operate_threads(principal: Principal) -> bool:
    """Return whether the caller is an operator of all threads of the desk."""
    return is_operator_scope(principal.scopes)
