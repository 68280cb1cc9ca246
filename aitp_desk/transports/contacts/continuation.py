"""Joins a person's conversations on several platforms into one thread, on proof alone.

The proof is a code: the person that asks for one in a conversation (``/continue``) and writes it in
another (``join CODE``) is the same in both. A name or an address proves nothing. A link
with a code may come from another person: ``/new`` leaves the thread. ``!continue`` and ``!new`` are
for apps whose own commands begin with a slash.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Sequence

from aitp_desk.auth.credentials.guess_limiter import GuessLimiter
from aitp_desk.desk.limits.shared_counts import SharedCounts
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.ids import id_from, new_id
from aitp_desk.store.base import Store
from aitp_desk.store.records.jobs import ClaimedJob
from aitp_desk.store.records.transports import Control, Conversation, NewConversation
from aitp_desk.store.units.transports import CODE, AlsoDone, join_conversation, put_controls
from aitp_desk.transports.events import Incoming
from aitp_desk.transports.host.people import HashPerson, hash_names
from aitp_desk.transports.host.registry import EnabledTransport
from aitp_desk.transports.host.texts import say

CODE_SECONDS = 15 * 60
NO_CODE = "code_invalid"
"""The key of what the desk says of a code that is none."""
MOST_WRONG = 5
"""Wrong codes of a person within a minute."""
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTH = 12
_ASKED = re.compile(r"[/!]continue", re.IGNORECASE)
_LEAVES = re.compile(r"[/!]new", re.IGNORECASE)
_GIVEN = re.compile(
    r"[/!]?join[\s:]+([0-9A-Za-z]{4}[- ]?[0-9A-Za-z]{4}[- ]?[0-9A-Za-z]{4})\W*", re.IGNORECASE
)


def asks_for_code(text: str) -> bool:
    """Return whether a message asks for a code to go on elsewhere."""
    return _ASKED.fullmatch(text.strip()) is not None


def asks_to_leave(text: str) -> bool:
    """Return whether a message asks to leave the thread and begin another one."""
    return _LEAVES.fullmatch(text.strip()) is not None


def is_command(text: str) -> bool:
    """Return whether a message is about the conversation itself, and no part of it."""
    return asks_for_code(text) or asks_to_leave(text) or bool(find_code(text))


def find_code(text: str) -> str:
    """Return the code that a message brings; empty for none."""
    found = _GIVEN.fullmatch(text.strip()) if len(text) < 100 else None
    return "" if found is None else found[1]


class Continuations:
    """Gives codes, and takes them.

    Parameters:
        transports: of the site.
        hash_person: hashes the callers that people are.
        shared: counts wrong codes together with the other processes.
        clock: Unix seconds.
    """

    def __init__(
        self,
        store: Store,
        transports: Sequence[EnabledTransport],
        hash_person: HashPerson,
        shared: SharedCounts,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._hash_person = hash_person
        self._transports = transports
        self._clock = clock
        self._guesses = GuessLimiter(
            clock, what="invalid codes", most=MOST_WRONG, scope="principal"
        )
        shared.add("transport codes", self._guesses.counters)

    async def give_code(self, conversation: Conversation, language: str) -> str:
        """Return what a person needs to go on elsewhere, as Markdown."""
        raw = "".join(secrets.choice(_ALPHABET) for _ in range(_LENGTH))
        code = "-".join(raw[start : start + 4] for start in range(0, _LENGTH, 4))
        control = Control(
            token=_stored(code),
            conversation=conversation.id,
            capability=CODE,
            request="",
            answer="{}",
            expires_at=int(self._clock()) + CODE_SECONDS,
        )
        await self._store.run(put_controls, controls=(control,))
        ways = [
            f"- {way}"
            for one in self._transports
            if one.name != conversation.transport and (way := one.transport.invite(code))
        ]
        return "\n".join([say("code", language, code=code), *ways])

    async def take_code(
        self,
        incoming: Incoming,
        transport: str,
        principal: Principal,
        address: str,
        code: str,
        claim: ClaimedJob,
        also: AlsoDone | None = None,
    ) -> str:
        """Go on with another conversation's thread, if the code is valid.

        A job that is repeated finds its own conversation.

        Parameters:
            address: of the person's conversation, apart from that of another one there.
            also: committed with it.

        Returns:
            The key of what the desk says then.
        """
        if self._guesses.refusal(principal.id) is not None:
            return "codes_many"
        now = self._clock()
        token = _stored(code)
        random = hashlib.sha512(f"{claim.id} {token}".encode()).digest()
        is_joined = await self._store.run(
            join_conversation,
            token=token,
            conversation=NewConversation(
                id=id_from("conversation", claim.created_at, random),
                transport=transport,
                address=address,
                desk=principal.desk,
                person=incoming.sender,
                principal=principal.id,
                language=incoming.language,
            ),
            grant_id=new_id("grant", now),
            now=int(now),
            resumed=hash_names(principal.id, transport, address, self._hash_person),
            also=also,
        )
        if is_joined:
            return "joined"
        self._guesses.count_guess(principal.id)
        return NO_CODE


def _stored(code: str) -> str:
    """Return under which name a code is stored: its digest, so that nobody reads it there."""
    plain = re.sub(r"[- ]", "", code).upper()
    return hashlib.sha256(f"join {plain}".encode()).hexdigest()
