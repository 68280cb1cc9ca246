"""Grants: a thread shared with a known caller or by a link.

A link is a secret that its holder presents in a header. The store keeps a keyed hash of it. A
caller with a link has the rights of the grant alone: its identity is unknown.
"""

from __future__ import annotations

import re
import secrets
from enum import Enum

import msgspec

from aitp_desk.model.access.principal import LINK_PREFIX
from aitp_desk.model.errors import InvalidRequest

MAX_GRANTS = 100
"""Maximum number of grants of a thread at a time."""
LONGEST_SECONDS = 10 * 366 * 24 * 60 * 60
"""Longest duration of a grant."""

_LINK = re.compile(r"link_[A-Za-z0-9_-]{43}", re.ASCII)


class GrantLevel(Enum):
    """The access that a grant gives; writing includes reading."""

    READ = "read"
    WRITE = "write"


class Grant(msgspec.Struct, frozen=True):
    """A stored grant.

    Parameters:
        id: ``grant_…``.
        thread_id: the thread that is shared.
        principal: id of the caller that it is shared with; for a link, the link's own.
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
        """Whether it is held by knowledge of a secret link."""
        return self.principal.startswith(LINK_PREFIX)

    def holds(self, now: float) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or now < self.expires_at


class GrantDraft(msgspec.Struct, frozen=True):
    """A requested grant.

    Parameters:
        principal: id of the caller to share with; None for a link.
        expires_at: Unix seconds.
        expires_in: seconds from now, as an alternative.
    """

    principal: str | None
    may: GrantLevel
    expires_at: int | None = None
    expires_in: int | None = None

    def end(self, now: int) -> int | None:
        """Return when it expires, in Unix seconds; None for never.

        Raises:
            InvalidRequest: that is in the past, or too far ahead, or both members are given.
        """
        if self.expires_in is None and self.expires_at is None:
            return None
        if self.expires_in is not None and self.expires_at is not None:
            raise InvalidRequest(
                "Send either `expires_at` or `expires_in`, not both.", param="expires_in"
            )
        param, end = "expires_at", self.expires_at or 0
        if self.expires_in is not None:
            param, end = "expires_in", now + self.expires_in
        if not now < end <= now + LONGEST_SECONDS:
            raise InvalidRequest(
                ("A grant must expire in the future, within ten years."), param=param
            )
        return end


def make_link_secret() -> str:
    """Return a new secret for a link: 256 random bits."""
    return f"link_{secrets.token_urlsafe(32)}"


def is_link(text: str) -> bool:
    """Return whether a text has the form of a link's secret."""
    return _LINK.fullmatch(text) is not None
