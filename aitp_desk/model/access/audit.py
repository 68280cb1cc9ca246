"""The rows of the audit log, and the chain that reveals changes.

    link = HMAC-SHA256(chain key, LINK_PREFIX ‖ the row before's link ‖ canonical JSON of the row)

The link before the first row is 32 zero bytes. Canonical JSON is RFC 8785 over ``{v, n, at,
principal, proven_by, action, object, outcome, count}``. The key is derived from the desk's first
data key: write access to the database alone, or a copy of it, is not enough to make a link.
``docs/run/privacy.md`` says what that prevents and what it does not.

A row holds no content. Ids that open something, and names of persons, are stored as keyed hashes:
the id and the key together find its rows, and no id can be read from them.
"""

from __future__ import annotations

import hmac
from enum import Enum

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.chain import canonical_json

VERSION = 1
LINK_PREFIX = b"aitp-desk audit 1\x00"
FIRST_LINK = bytes(32)
HIDDEN_BYTES = 16
"""Length of a keyed hash in the log."""


class AuditAction(Enum):
    """The closed list of recorded actions.

    Ordinary messages are not recorded: threads have their own chain.
    """

    KEY_MADE = "key.made"
    KEY_ROTATED = "key.rotated"
    KEY_REVOKED = "key.revoked"
    CREDENTIAL_REFUSED = "credential.refused"
    CLIENT_REGISTERED = "client.registered"
    CLIENT_ROTATED = "client.rotated"
    CLIENT_REVOKED = "client.revoked"
    TOKEN_ISSUED = "token.issued"  # noqa: S105 -- a word
    TOKEN_REVOKED = "token.revoked"  # noqa: S105 -- a word
    SIGNING_KEY_ROTATED = "signing_key.rotated"
    DATA_KEY_ROTATED = "data_key.rotated"
    TRANSCRIPT_KEY_WITHDRAWN = "transcript_key.withdrawn"
    MASTER_KEY_ROTATED = "master_key.rotated"
    THREAD_CLAIMED = "thread.claimed"
    THREAD_DELETED = "thread.deleted"
    THREAD_LOOKED_AFTER = "thread.looked_after"
    THREADS_LISTED = "threads.listed"
    THREADS_SEARCHED = "threads.searched"
    THREAD_TAKEN = "thread.taken"
    THREAD_SPOKEN = "thread.spoken"
    THREAD_WITHDRAWN = "thread.withdrawn"
    THREAD_RELEASED = "thread.released"
    THREAD_RESOLVED = "thread.resolved"
    THREAD_NOTED = "thread.noted"
    ACTOR_BOUND = "actor.bound"
    ACTOR_UNBOUND = "actor.unbound"
    GRANT_MADE = "grant.made"
    GRANT_REVOKED = "grant.revoked"
    JOB_RETRIED = "job.retried"
    JOB_DROPPED = "job.dropped"
    SCHEDULE_HASTENED = "schedule.hastened"
    ACTION_CALLED = "action.called"
    ACTION_ENDED = "action.ended"
    RESOURCE_READ = "resource.read"
    TICKETS_LISTED = "tickets.listed"
    TICKETS_SEARCHED = "tickets.searched"
    TICKET_READ = "ticket.read"
    TICKET_TAKEN = "ticket.taken"
    TICKET_SPOKEN = "ticket.spoken"
    TICKET_RELEASED = "ticket.released"
    TICKET_ANSWERED = "ticket.answered"
    TICKET_CLOSED = "ticket.closed"
    TICKET_APPROVED = "ticket.approved"
    TICKET_DECLINED = "ticket.declined"
    SIGNED_IN = "console.signed_in"
    SIGNED_OUT = "console.signed_out"
    QUESTIONS_ANSWERED = "questions.answered"
    ERASED = "erased"
    RETENTION = "retention"
    CAPABILITY_NOTED = "capability.noted"
    SEALED_READ = "sealed.read"
    LOG_TRIMMED = "log.trimmed"
    STORE_RESTORED = "store.restored"


class ObjectKind(Enum):
    """The kind of an action's object.

    For those in :data:`HIDDEN` the log has a keyed hash.
    """

    KEY = "key"
    CLIENT = "client"
    TOKEN = "token"  # noqa: S105 -- a word
    THREAD = "thread"
    GRANT = "grant"
    ACTOR = "actor"
    JOB = "job"
    SCHEDULE = "schedule"
    ADDRESS = "address"
    CALL = "call"
    RESOURCE = "resource"
    TICKET = "ticket"
    CAPABILITY = "capability"
    SEALED = "sealed"
    DESK = "desk"
    LOG = "log"
    WORDS = "words"


HIDDEN = frozenset(
    {
        ObjectKind.THREAD,
        ObjectKind.ACTOR,
        ObjectKind.TOKEN,
        ObjectKind.RESOURCE,
        ObjectKind.WORDS,
    }
)


class Outcome(Enum):
    """The outcome of an action, or why it was refused."""

    DONE = "done"
    BEGUN = "begun"
    FAILED = "failed"
    MALFORMED = "malformed"
    UNKNOWN = "unknown"
    REVOKED = "revoked"
    EXPIRED = "expired"
    REPLAYED = "replayed"
    CONFLICTING = "conflicting"
    UNPROVEN = "unproven"


class AuditRow(msgspec.Struct, frozen=True):
    """A row of the log.

    Parameters:
        n: its number, from 1 without gaps.
        at: Unix seconds.
        principal: the acting party: id of a principal, ``cli:`` and a user of the machine, or
            ``desk``.
        proven_by: how that was proven.
        action: of :class:`AuditAction`.
        object: of :class:`ObjectKind`, a colon, and an id or its keyed hash.
        outcome: of :class:`Outcome`.
        count: how often, if one row counts several.
        link: 32 bytes.
    """

    n: int
    at: int
    principal: str
    proven_by: str
    action: str
    object: str
    outcome: str
    count: int
    link: bytes

    def canonical(self) -> bytes:
        """Return the canonical JSON of the row, the input of its link."""
        return canonical_json(
            {
                "v": VERSION,
                "n": self.n,
                "at": self.at,
                "principal": self.principal,
                "proven_by": self.proven_by,
                "action": self.action,
                "object": self.object,
                "outcome": self.outcome,
                "count": self.count,
            }
        )


class AuditKeys:
    """The two keys of the log. Their text form shows neither.

    Parameters:
        chain: 32 bytes for the links.
        names: 32 bytes for hashing ids.
    """

    __slots__ = ("_chain", "_names")

    def __init__(self, chain: bytes, names: bytes) -> None:
        self._chain = chain
        self._names = names

    def link(self, previous: bytes, row: AuditRow) -> bytes:
        """Return the link of a row, given that of the row before."""
        return hmac.digest(self._chain, LINK_PREFIX + previous + row.canonical(), "sha256")

    def name(self, kind: ObjectKind, id_: str) -> str:
        """Return the log's name for an object."""
        if kind in HIDDEN:
            id_ = hmac.digest(self._names, f"{kind.value}\0{id_}".encode(), "sha256").hex()
            id_ = id_[: 2 * HIDDEN_BYTES]
        return f"{kind.value}:{id_}"


class Auditor(msgspec.Struct, frozen=True):
    """The party in whose name a unit of work records its actions.

    Parameters:
        at: Unix seconds.
        principal, proven_by: as in :class:`AuditRow`.
    """

    keys: AuditKeys
    at: int
    principal: str
    proven_by: str


def make_auditor(keys: AuditKeys, principal: Principal, at: int) -> Auditor:
    """Return the auditor for a caller's actions."""
    return Auditor(keys, at, principal.id, principal.proven_by.value)


def make_own_auditor(keys: AuditKeys, at: int) -> Auditor:
    """Return the auditor for the desk's own actions."""
    return Auditor(keys, at, "desk", "desk")
