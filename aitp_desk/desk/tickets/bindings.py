"""Binds people on other platforms to the keys of operators, by codes.

The holder of a key gets a code that is valid once, and writes it to the desk on the platform. From
then on that person acts as the holder of the key, for as long as the key and its secret are valid:
both are looked up at every action, as for a session of the console.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable

import msgspec

from aitp_desk.desk.access.revocation import is_still_valid
from aitp_desk.model.access.audit import AuditKeys, Auditor, make_auditor
from aitp_desk.model.access.credential import CredentialMark
from aitp_desk.model.access.operator import operator_name
from aitp_desk.model.access.principal import (
    Principal,
    ProvenBy,
    make_key_principal,
    name_contact,
)
from aitp_desk.model.access.scope import is_operator_scope
from aitp_desk.model.errors import InvalidRequest, NotAuthenticated
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import platforms as platform_reads
from aitp_desk.store.records.keys import Key
from aitp_desk.store.records.operators import BindingCode, BoundPerson
from aitp_desk.store.units.tickets.platforms import bind_person, put_code, spend_code

CODE_SECONDS = 600
"""How long a code is valid."""
_CODE_OVER = "This code is unknown, was used, or is older than ten minutes."
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
_GROUPS, _GROUP = 4, 5
_CODE = re.compile(rf"bind[ \t]+((?:[{_LETTERS}]{{5}}-){{3}}[{_LETTERS}]{{5}})", re.IGNORECASE)


class BoundOperator(msgspec.Struct, frozen=True):
    """A person on a platform who acts as an operator now.

    Parameters:
        name: as visitors see it.
        principal: the holder of the key.
        contacts: ids of the callers that the same people are on platforms.
    """

    name: str
    principal: Principal
    contacts: frozenset[str]


class OperatorBindings:
    """Makes codes, and finds who acts as whom.

    Parameters:
        audit: the keys of the audit log.
        clock: Unix seconds.
    """

    def __init__(self, store: Store, audit: AuditKeys, clock: Callable[[], float]) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock

    async def make_code(self, transport: str, key: Key) -> tuple[str, int]:
        """Make a code for the holder of a key.

        Returns:
            The code, and when it expires, in Unix seconds.

        Raises:
            InvalidRequest: the key is not valid, or not an operator's.
        """
        now = self._clock()
        if key.kind != "api_key" or not key.is_live(now) or not is_operator_scope(key.scopes):
            raise InvalidRequest(
                "Only the holder of a valid API key with the scope 'operator' can be an operator"
                " on a platform.",
                param="key",
            )
        groups = ("".join(secrets.choice(_LETTERS) for _ in range(_GROUP)) for _ in range(_GROUPS))
        code, until = "-".join(groups), int(now) + CODE_SECONDS
        stored = BindingCode(
            hash=_hash(code),
            transport=transport,
            key_id=key.id,
            version=key.version,
            expires_at=until,
        )
        await self._store.run(put_code, code=stored)
        return code, until

    async def bind(self, transport: str, person: str, code: str) -> BoundOperator:
        """Bind a person to the key that a code was made for.

        The platform has proven the person, and nobody else has read the code.

        Raises:
            NotAuthenticated: the code is unknown, used or too old, or its key is not valid.
        """
        now = int(self._clock())
        hash_ = _hash(code)
        bound = await platform_reads.bound_person(self._store, transport, person)
        is_new = bound is None or bound.code != hash_
        if bound is None or is_new:
            found = await platform_reads.binding_code(self._store, hash_, transport)
            if found is None or found.expires_at < now:
                raise NotAuthenticated(_CODE_OVER, reason="unknown")
            bound = BoundPerson(transport, person, found.key_id, found.version, hash_, now)
        operator = await self._find(bound)
        if operator is None:
            raise NotAuthenticated("The key of this code is not valid any more.")
        by = self.make_auditor(operator)
        if is_new and not await self._store.run(bind_person, person=bound, by=by):
            raise NotAuthenticated(_CODE_OVER, reason="replayed")  # another was faster
        return operator

    async def spend(self, transport: str, code: str) -> None:
        """End a code that others may have read."""
        await self._store.run(spend_code, hash=_hash(code), transport=transport)

    async def find(self, transport: str, person: str, *, is_proven: bool) -> BoundOperator | None:
        """Return as whom a person acts now; None for no operator.

        Parameters:
            is_proven: whether the platform has authenticated the person.
        """
        if not is_proven:
            return None
        bound = await platform_reads.bound_person(self._store, transport, person)
        return None if bound is None else await self._find(bound)

    def make_auditor(self, operator: BoundOperator) -> Auditor:
        """Return the auditor of an operator's action."""
        return make_auditor(self._audit, operator.principal, int(self._clock()))

    async def _find(self, bound: BoundPerson) -> BoundOperator | None:
        key = await reads.token_by_id(self._store, bound.key_id)
        if key is None or not is_operator_scope(key.scopes):
            return None
        principal = make_key_principal(key.id, key.scopes, ProvenBy.TRANSPORT)
        mark = CredentialMark(version=bound.version)
        now = self._clock()
        if not await is_still_valid(self._store, principal.id, bound.bound_at, now, mark):
            return None
        people = {bound, *await platform_reads.people_of_key(self._store, key.id)}
        contacts = {name_contact(one.transport, one.person, is_proven=True) for one in people}
        return BoundOperator(operator_name(key.name), principal, frozenset(contacts))


def find_code(text: str) -> str | None:
    """Return the code in a message ``bind CODE``; None if it is another message."""
    found = _CODE.fullmatch(text.strip())
    return None if found is None else found[1].upper()


def _hash(code: str) -> bytes:
    return hashlib.sha256(f"operator code {code}".encode()).digest()
