"""Who is calling, and what that opens."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import Enum

import msgspec
from msgspec.structs import force_setattr

from aitp_desk.model.access.scope import is_operator_scope, opens_threads

AGENT_PREFIX = "agent:"
"""What the id of an agent begins with that has proven its domain; the domain follows."""
KEY_PREFIX = "key:"
"""What the id of a caller who is known by an API key begins with; the key's own id follows."""
CLIENT_PREFIX = "client:"
"""The same of one who is known by an access token of this desk; the id of its client follows."""
LINK_PREFIX = "link:"
"""What the id of a caller begins with of whom only the link is known by which a thread was shared;
the id of the grant follows."""
JWT_PREFIX = "jwt:"
"""The same of one who is known by the token of another issuer; the issuer's name and the token's
subject follow, a colon between."""
PREFIXES = (KEY_PREFIX, CLIENT_PREFIX, JWT_PREFIX, AGENT_PREFIX)
"""What the ids of callers begin with who can be named: whom an actor may be bound to, and whom a
thread may be shared with."""
ANONYMOUS_ID = "anonymous"
GUEST_PREFIX = "guest-"
"""What the name begins with under which a link's holder speaks."""
_GUEST_CHARACTERS = 10


class PrincipalKind(Enum):
    """How much is known about the caller."""

    ANONYMOUS = "anonymous"
    STRANGER = "stranger"
    """Known by a name that anybody can make: a domain that nobody here has listed, or a client that
    has registered itself."""
    AGENT = "agent"
    USER = "user"
    OPERATOR = "operator"


class ProvenBy(Enum):
    """How it was proven who the caller is."""

    NOTHING = "nothing"
    API_KEY = "api_key"
    JWT = "jwt"
    SIGNED_REQUEST = "signed_request"
    MESSAGE_SIGNATURE = "message_signature"
    LINK = "link"
    CONSOLE = "console"


class Principal(msgspec.Struct, frozen=True):
    """A caller, as far as it has been proven.

    Parameters:
        id: stable name of the caller; for anonymous callers the word ``anonymous``, or the link by
            which a thread was shared with them.
        kind: how much is known.
        scopes: what the credential opens: ``threads``, ``actions``, ``operator``, ``admin``,
            ``sensitive``;
            ``actions:<name>`` narrows ``actions`` to one action.
        address: where the client is, for limits: its network address, of IPv6 the network of 64
            bits; never an identity.
        desk: name of the further site agent whose address it calls; empty for the site's own. What
            is kept at one desk does not exist for whoever calls at another.
        proven_by: how it was proven; also nothing where it was proven at another time.
        is_anonymous: whether nothing was proven. This and what follows is computed.
        owner: what is written down as the owner of what this caller opens; None when anonymous.
        limited_as: whose allowance a request uses up: the caller's, or their address's.
    """

    id: str
    kind: PrincipalKind
    scopes: frozenset[str]
    address: str
    desk: str = ""
    proven_by: ProvenBy = ProvenBy.NOTHING
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
        """Whether nothing is known of the caller but the link that they hold."""
        return self.id.startswith(LINK_PREFIX)

    @property
    def party(self) -> str | None:
        """What is written down as whose something is that was said; None of nobody known."""
        return None if self.id == ANONYMOUS_ID else self.id

    @property
    def name(self) -> str:
        """Under which a known caller or a guest speaks where no actor is bound to them."""
        return f"{GUEST_PREFIX}{self.id[-_GUEST_CHARACTERS:]}" if self.is_guest else self.id

    @property
    def counts_by_address(self) -> bool:
        """Whether there are no more of them than addresses: other names cost nothing."""
        return self.kind is PrincipalKind.ANONYMOUS or self.kind is PrincipalKind.STRANGER


def is_given_name(name: str) -> bool:
    """Whether a caller speaks by a name that the desk has given, where they brought no actor."""
    return is_known_caller(name) or name.startswith(GUEST_PREFIX)


def is_known_caller(name: str) -> bool:
    """Whether a name is the id of a caller who is known, by which no other actor goes."""
    return name.startswith(PREFIXES)


def make_anonymous(address: str) -> Principal:
    """The caller who proved nothing."""
    return Principal(ANONYMOUS_ID, PrincipalKind.ANONYMOUS, frozenset(), address)


def make_key_principal(id_: str, scopes: Iterable[str], proven_by: ProvenBy) -> Principal:
    """The caller whom a key of this desk proves, at no address.

    Parameters:
        id_: the key's.
    """
    opened = frozenset(scopes)
    return Principal(f"{KEY_PREFIX}{id_}", find_kind(opened), opened, "", proven_by=proven_by)


def find_kind(scopes: Collection[str], kind: PrincipalKind = PrincipalKind.AGENT) -> PrincipalKind:
    """What a caller is whose credential opens this.

    Parameters:
        kind: what they are where they do not run the desk.
    """
    return PrincipalKind.OPERATOR if is_operator_scope(scopes) else kind


def find_least(one: Principal, other: Principal) -> Principal:
    """Who may do no more than either of two callers, for what both have asked for.

    Two different callers have nothing in common: what they share may do what anybody may.
    """
    if one.id != other.id or one.kind is not other.kind:
        return make_anonymous("")
    return Principal(one.id, one.kind, one.scopes & other.scopes, "")


def may_use_threads(principal: Principal) -> bool:
    """Whether the caller may open threads, and use those that it has opened.

    Anybody may without a credential, so a key or a signature never takes that away. A token is held
    to its scopes: its client gets others, and must not lend what it says itself with a narrow one.
    """
    is_of_token = principal.id.startswith((CLIENT_PREFIX, JWT_PREFIX))
    return not is_of_token or opens_threads(principal.scopes)


def may_join_threads(principal: Principal) -> bool:
    """Whether the caller may use threads of others: claim them, join them and be shared with.

    A credential that was made for something else opens nothing of what others have said.
    """
    return principal.is_anonymous or opens_threads(principal.scopes)


def may_operate_threads(principal: Principal) -> bool:
    """Whether the caller looks after all threads of the desk."""
    return is_operator_scope(principal.scopes)
