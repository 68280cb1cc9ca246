"""Grants: a thread that is shared, with somebody who is known or by a link.

A link is a secret that its holder presents in a header. The store keeps a keyed hash of it. Whoever
calls with it goes by the grant alone: who they are is not known.
"""

from __future__ import annotations

import re
import secrets
from enum import Enum

import msgspec

from aitp_desk.model.access.principal import LINK_PREFIX
from aitp_desk.model.errors import InvalidRequest

MAX_GRANTS = 100
"""How many grants a thread may have at once."""
LONGEST_SECONDS = 10 * 366 * 24 * 60 * 60
"""The farthest that a grant's end may lie ahead."""

_LINK = re.compile(r"link_[A-Za-z0-9_-]{43}", re.ASCII)


class GrantLevel(Enum):
    """What a grant lets its holder do; who may write may read."""

    READ = "read"
    WRITE = "write"


class Grant(msgspec.Struct, frozen=True):
    """A grant as it is kept.

    Parameters:
        id: ``grant_…``.
        thread_id: the thread that is shared.
        principal: id of the caller whom it is shared with; of a link its own.
        created_at: Unix seconds.
        expires_at: Unix seconds; None: it lasts until it is revoked.
    """

    id: str
    thread_id: str
    principal: str
    may: GrantLevel
    created_at: int
    expires_at: int | None = None

    @property
    def is_link(self) -> bool:
        """Whether whoever holds its secret has it."""
        return self.principal.startswith(LINK_PREFIX)

    def holds(self, now: float) -> bool:
        """Whether it has not expired."""
        return self.expires_at is None or now < self.expires_at


class GrantDraft(msgspec.Struct, frozen=True):
    """A grant as it is asked for.

    Parameters:
        principal: id of the caller to share with; None for a link.
        expires_at: Unix seconds.
        expires_in: seconds from now, in its place.
    """

    principal: str | None
    may: GrantLevel
    expires_at: int | None = None
    expires_in: int | None = None

    def end(self, now: int) -> int | None:
        """When it expires, in Unix seconds; None for never.

        Raises:
            InvalidRequest: that is over, or too far ahead, or both members say it.
        """
        if self.expires_in is None and self.expires_at is None:
            return None
        if self.expires_in is not None and self.expires_at is not None:
            raise InvalidRequest("Give expires_at or expires_in, not both.", param="expires_in")
        param, end = "expires_at", self.expires_at or 0
        if self.expires_in is not None:
            param, end = "expires_in", now + self.expires_in
        if not now < end <= now + LONGEST_SECONDS:
            raise InvalidRequest("A grant ends at a time to come, within ten years.", param=param)
        return end


def make_link_secret() -> str:
    """Make the secret of a link: 256 random bits."""
    return f"link_{secrets.token_urlsafe(32)}"


def is_link(text: str) -> bool:
    """Whether a text has the form of a link's secret."""
    return _LINK.fullmatch(text) is not None
