"""The client's address, behind trusted proxies and before strangers."""

import pytest
from multidict import CIMultiDict

from aitp_desk.auth.address import ClientAddresses

PROXIES = ("10.0.0.0/8", "::1", "127.0.0.1")


def headers(*forwarded: str) -> CIMultiDict[str]:
    return CIMultiDict(("X-Forwarded-For", line) for line in forwarded)


@pytest.mark.parametrize(
    ("peer", "forwarded", "client"),
    [
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7",), "203.0.113.7"),
        ("10.0.0.1", ("1.1.1.1, 203.0.113.7",), "203.0.113.7"),
        ("10.0.0.1", ("1.1.1.1", "203.0.113.7, 10.0.0.2"), "203.0.113.7"),
        ("10.0.0.1", ("10.0.0.3, 10.0.0.2",), "10.0.0.3"),
        ("10.0.0.1", ("203.0.113.7, garbage, 10.0.0.2",), "10.0.0.2"),
        ("10.0.0.1", ("garbage",), "10.0.0.1"),
        ("10.0.0.1", ("",), "10.0.0.1"),
        ("10.0.0.1", (f"203.0.113.7, 203.0.113.8{'0' * 100}",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7:4711",), "203.0.113.7"),
        ("::1", ("[2001:DB8::7]:4711",), "2001:db8::7"),
        ("::ffff:127.0.0.1", ("::ffff:203.0.113.7",), "203.0.113.7"),
        ("198.51.100.9", ("203.0.113.7",), "198.51.100.9"),
        ("", ("203.0.113.7",), ""),
    ],
)
def test_the_client_is_the_first_address_from_the_right_that_is_not_trusted(
    peer: str, forwarded: tuple[str, ...], client: str
) -> None:
    assert ClientAddresses(PROXIES).find(headers(*forwarded), peer) == client


def test_without_trusted_proxies_the_header_is_only_a_claim() -> None:
    assert ClientAddresses(()).find(headers("203.0.113.7"), "127.0.0.1") == "127.0.0.1"
