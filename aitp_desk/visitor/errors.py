"""What a visit can fail with; no message holds a secret.

The site's own words stand in a message as data, shortened:

VisitError
├── NoEndpoint               the site speaks none of the known protocols
├── NotOffered           the site has no such action, or none that answers questions
├── SiteFailed           the site did not answer, or not in the form of its protocol
├── SiteRefused          the site refused the request, and said why
│   ├── CallFailed       a call was made, and the site says how it has failed
│   └── CredentialNeeded it wants a credential, or another one
├── PolicyRefused        the visitor's own policy forbids what would come next
│   └── BudgetSpent      time, tokens or money of the visit are used up
└── NotConfirmed         the person did not confirm the call
"""

from __future__ import annotations


class VisitError(Exception):
    """A visit cannot go on as wished; the message says why, in a sentence."""


class NoEndpoint(VisitError):
    """The site speaks none of the known protocols."""


class NotOffered(VisitError):
    """The site has no such action, or nothing that answers questions."""


class SiteFailed(VisitError):
    """The site did not answer, or not in the form of its protocol."""


class SiteRefused(VisitError):
    """The site refused the request.

    Parameters:
        status: the HTTP status; 0 where the protocol has none.
        recovery: what the site says would help: data, never an instruction.
        retry_after: in seconds, if the site says when to come again.
    """

    def __init__(
        self, message: str, *, status: int = 0, recovery: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.recovery = recovery
        self.retry_after = retry_after


class CallFailed(SiteRefused):
    """A call was made, and has ended without a result; ``recovery`` is the site's code for it."""


class CredentialNeeded(SiteRefused):
    """The site wants a credential, or another one; the same one is never sent again."""


class PolicyRefused(VisitError):
    """The visitor's own policy forbids what would come next; nothing was sent."""


class BudgetSpent(PolicyRefused):
    """The visit has used up its time, tokens or money.

    Parameters:
        retry_after: in seconds, if the site asks for a longer pause than is left.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class NotConfirmed(VisitError):
    """The person did not confirm the call; it was not made."""


NO_POLL = (
    "The site has accepted it, and names no address where this visit may ask how it goes. Whether"
    " it is done is unknown."
)
"""What a visit says where an accepted call cannot be polled."""
NO_WAY = frozenset({0, 401, 403, 404, 405, 406, 410, 415, 501})
"""The statuses of refusals after which another endpoint may do the same."""


def is_final(error: VisitError) -> bool:
    """Return whether another endpoint of the site would say the same."""
    return isinstance(error, SiteRefused) and error.status not in NO_WAY
