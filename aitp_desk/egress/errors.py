"""Reasons why a request got no response; no message holds a secret."""

from __future__ import annotations


class EgressError(Exception):
    """A request could not be made or finished; the message holds no secret."""


class AddressRefused(EgressError):
    """The address, or one that it redirects to, is not allowed.

    A retry does not help. The address is not https, is malformed, contains credentials, or leads
    to an address that is not public.
    """


class TooManyRedirects(EgressError):
    """The redirects did not end within :data:`aitp_desk.egress.MAX_REDIRECTS`."""


class Unreachable(EgressError):
    """The name, the connection or the certificate failed, or the response is not HTTP."""


class TooSlow(EgressError):
    """The response was not complete in time."""


class TooLarge(EgressError):
    """The body exceeds the bound, as sent or once decompressed."""
