"""The visitor's signed record of a visit, in the form of a desk's transcripts.

``docs/protocols/transcripts.md`` has the form; ``aitp-desk transcript verify`` checks it. It proves
what the visitor recorded at that time, and holds the site's signed quotes, which the site cannot
deny.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

import msgspec

from aitp_desk.model.conversation.chain import (
    FIRST_LINK,
    canonical,
    canonical_json,
    digest_message,
    new_salt,
    next_link,
)
from aitp_desk.model.conversation.thread import Role
from aitp_desk.model.conversation.transcript import (
    KEYS_PATH,
    Document,
    Head,
    Said,
    Statement,
    canonical_statement,
)
from aitp_desk.visitor.proof.signatures import Signer, encode_base64url, sign_detached

STATEMENT_TYPE = "aitp-desk-transcript+jws"


class VisitRecord:
    """What a visit asked, was answered, agreed to and paid, in order.

    Parameters:
        visitor: the name of the visiting agent.
        site: the origin of the visited site.
        clock: Unix seconds.
    """

    def __init__(self, visitor: str, site: str, clock: Callable[[], float] = time.time) -> None:
        self.thread = f"visit_{secrets.token_hex(16)}"
        self._visitor = visitor
        self._site = site
        self._clock = clock
        self._opened_at = int(clock())
        self._messages: list[Said] = []
        self._link = FIRST_LINK

    def note_own(self, kind: str, what: Any) -> None:
        """Record what the visitor did, such as "asked" or "agreed"."""
        self._note("user", self._visitor, kind, what)

    def note_site(self, kind: str, what: Any) -> None:
        """Record what the site sent."""
        self._note("assistant", self._site, kind, what)

    def sign(self, signer: Signer) -> bytes:
        """Return the record with its proof, as JSON.

        Parameters:
            signer: whose domain publishes :func:`write_keys` at :data:`KEYS_PATH`.
        """
        head = Head(
            site=signer.agent,
            thread=self.thread,
            seq=len(self._messages),
            link=encode_base64url(self._link),
            v=1,
        )
        statement = Statement(
            head=head,
            actors=(self._visitor, self._site),
            opened_at=self._opened_at,
            time=int(self._clock()),
            keys=f"{signer.agent}{KEYS_PATH}",
            erased=(),
            countersignatures=(),
        )
        signature = sign_detached(
            signer, STATEMENT_TYPE, {"kid": signer.key_id}, canonical_statement(statement)
        )
        return msgspec.json.encode(
            Document(statement=statement, signature=signature, messages=tuple(self._messages))
        )

    def _note(self, role: Role, actor: str, kind: str, what: Any) -> None:
        said = canonical_json({kind: msgspec.to_builtins(what)}).decode()
        seq, created_at, salt = len(self._messages) + 1, int(self._clock()), new_salt()
        digest = digest_message(
            salt,
            canonical(
                thread=self.thread,
                seq=seq,
                role=role,
                actor=actor,
                created_at=created_at,
                content=(said,),
                attachments=(),
            ),
        )
        self._link = next_link(self._link, digest)
        self._messages.append(
            Said(
                seq=seq,
                role=role,
                actor=actor,
                created_at=created_at,
                content=(said,),
                attachments=(),
                salt=encode_base64url(salt),
                digest=encode_base64url(digest),
                link=encode_base64url(self._link),
            )
        )


def write_keys(signer: Signer, since: int) -> bytes:
    """Return the keys that verify records, for the agent's domain to publish.

    Parameters:
        since: Unix seconds from which the key signs.
    """
    key = {**signer.jwk, "kid": signer.key_id, "use": "sig", "alg": "EdDSA", "nbf": since}
    return msgspec.json.encode({"keys": [key]})
