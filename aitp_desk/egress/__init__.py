"""The one client for outgoing HTTP to addresses that callers or owners supply.

An address from outside may lead into the own network: to a database next to the desk, to a cloud's
metadata, to the desk itself. So the rule is enforced at the socket, where nothing gets past it:
only global unicast addresses are connected to, whatever name, spelling, redirect or change of the
DNS led there. Beyond that: https only, no proxies or credentials from the environment, no cookies,
and bounds on the time, the size and the number of redirects of each request.

The message of an error names the host and nothing more of an address: a path may hold a secret.
"""

from aitp_desk.egress.addresses import MAX_ADDRESS_CHARACTERS, is_public
from aitp_desk.egress.client import (
    MAX_REDIRECTS,
    USER_AGENT,
    Approve,
    Egress,
    Fetched,
    Preview,
)
from aitp_desk.egress.errors import (
    AddressRefused,
    EgressError,
    TooLarge,
    TooManyRedirects,
    TooSlow,
    Unreachable,
)

__all__ = [
    "MAX_ADDRESS_CHARACTERS",
    "MAX_REDIRECTS",
    "USER_AGENT",
    "AddressRefused",
    "Approve",
    "Egress",
    "EgressError",
    "Fetched",
    "Preview",
    "TooLarge",
    "TooManyRedirects",
    "TooSlow",
    "Unreachable",
    "is_public",
]
