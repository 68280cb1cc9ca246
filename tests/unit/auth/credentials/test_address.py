"""Where a client is, behind trusted proxies and before strangers."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from aitp_desk.auth.credentials.address import ClientAddresses

PROXIES = ("10.0.0.0/8", "::1", "127.0.0.1", "2001:db8:ffff::/64")


def headers(*forwarded: str) -> CIMultiDict[str]:
    return CIMultiDict(("X-Forwarded-For", line) for line in forwarded)


def test_the_client_is_the_first_address_from_the_right_that_is_not_trusted(
    subtests: pytest.Subtests,
) -> None:
    cases: list[tuple[str, tuple[str, ...], str]] = [
        # one proxy, several, and what the client claims before them
        ("10.0.0.1", (), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7",), "203.0.113.7"),
        ("10.0.0.1", ("1.1.1.1, 203.0.113.7",), "203.0.113.7"),
        ("10.0.0.1", ("203.0.113.7, 10.0.0.3,10.0.0.2",), "203.0.113.7"),
        ("10.0.0.1", ("10.0.0.9, 203.0.113.7, 10.0.0.2",), "203.0.113.7"),
        ("10.0.0.1", ("10.0.0.3, 10.0.0.2",), "10.0.0.3"),
        ("2001:db8:ffff::5", ("203.0.113.7, 2001:db8:ffff::6",), "203.0.113.7"),
        # several lines are one list
        ("10.0.0.1", ("1.1.1.1", "203.0.113.7, 10.0.0.2"), "203.0.113.7"),
        ("10.0.0.1", ("203.0.113.7", "10.0.0.3", "10.0.0.2"), "203.0.113.7"),
        # what is no address hides what stands left of it
        ("10.0.0.1", ("203.0.113.7, garbage, 10.0.0.2",), "10.0.0.2"),
        ("10.0.0.1", ("203.0.113.7, unknown",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7, ",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7", ""), "10.0.0.1"),
        ("10.0.0.1", ("garbage",), "10.0.0.1"),
        ("10.0.0.1", ("",), "10.0.0.1"),
        ("10.0.0.1", (f"203.0.113.7, 203.0.113.8{'0' * 100}",), "10.0.0.1"),
        ("10.0.0.1", ("010.000.000.009",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7:port",), "10.0.0.1"),
        ("10.0.0.1", ("[2001:db8::7",), "10.0.0.1"),
        ("10.0.0.1", ("[2001:db8::7]x",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.7%eth0",), "10.0.0.1"),
        ("10.0.0.1", ("٢٠٣.٠.١١٣.٧",), "10.0.0.1"),
        ("10.0.0.1", ("203.0.113.0/24",), "10.0.0.1"),
        # ports, brackets, and IPv4 that is written as IPv6
        ("10.0.0.1", ("203.0.113.7:4711",), "203.0.113.7"),
        ("::1", ("[2001:DB8::7]:4711",), "2001:db8::/64"),
        ("::1", ("[2001:db8::7]",), "2001:db8::/64"),
        ("::ffff:127.0.0.1", ("::ffff:203.0.113.7",), "203.0.113.7"),
        ("::ffff:127.0.0.1", ("[::ffff:203.0.113.7]:80",), "203.0.113.7"),
        # a proxy that writes itself in another form is still that proxy
        ("10.0.0.1", ("203.0.113.7, ::ffff:10.0.0.2",), "203.0.113.7"),
        ("10.0.0.1", ("203.0.113.7, [::ffff:a00:2]:443, 10.0.0.2:80",), "203.0.113.7"),
        ("::ffff:10.0.0.1", ("203.0.113.7,::1",), "203.0.113.7"),
        # what only some would read as an address is none, and hides what stands left of it
        *(
            ("10.0.0.1", (f"203.0.113.7, {entry}, 10.0.0.2",), "10.0.0.2")
            for entry in (
                *("for=203.0.113.8", '"203.0.113.8"', "_hidden", "203.0.113.8;proto=https"),
                *("167772163", "0x0a000003", "012.0.0.3", "10.3", "10.0.0.3.", "10.0.0.3%lo"),
                *("１０.0.0.3", "10.0.0.3/32", "10.0.0.3 10.0.0.4", "*"),
                *("10.0.0.3:123456", "[::1]:-1", "[::1]x", "::ffff:10.0.0", "localhost", "\x00"),
            )
        ),
        # as many as a header holds
        ("10.0.0.1", (", ".join(["1.1.1.1"] * 800 + ["203.0.113.7"]),), "203.0.113.7"),
        ("10.0.0.1", (", ".join(["203.0.113.7"] + ["10.0.0.2"] * 700),), "203.0.113.7"),
        ("10.0.0.1", ("203.0.113.7" + "," * 8000,), "10.0.0.1"),
        # nobody is believed whom the owner has not named
        ("198.51.100.9", ("203.0.113.7",), "198.51.100.9"),
        ("2001:db8:fffe::5", ("203.0.113.7",), "2001:db8:fffe::/64"),
        ("", ("203.0.113.7",), ""),
    ]
    for peer, forwarded, client in cases:
        with subtests.test(peer=peer, forwarded=forwarded, client=client):
            assert ClientAddresses(PROXIES).find(headers(*forwarded), peer) == client


def test_without_trusted_proxies_the_header_is_only_a_claim() -> None:
    assert ClientAddresses(()).find(headers("203.0.113.7"), "127.0.0.1") == "127.0.0.1"


def test_no_other_header_than_x_forwarded_for_is_believed() -> None:
    claimed = {
        "Forwarded": "for=203.0.113.7",
        "X-Real-IP": "203.0.113.7",
        "True-Client-IP": "203.0.113.7",
        "CF-Connecting-IP": "203.0.113.7",
    }
    assert ClientAddresses(PROXIES).find(CIMultiDict(claimed), "10.0.0.1") == "10.0.0.1"


@pytest.mark.parametrize(
    ("peer", "place"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("fe80::1%25", "fe80::/64"),
    ],
)
def test_an_ipv6_address_counts_as_its_network_and_any_other_as_itself(
    peer: str, place: str
) -> None:
    assert ClientAddresses(()).find(headers(), peer) == place


@given(st.integers(1, 2**64 - 1), st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_two_ipv6_addresses_are_one_place_exactly_where_they_share_64_bits(
    network: int, one: int, other: int
) -> None:
    addresses = ClientAddresses(())

    def place(high: int, low: int) -> str:
        return addresses.find(headers(), str(ipaddress.IPv6Address(high << 64 | low)))

    assert place(network, one) == place(network, other)
    assert place(network, one) != place(network ^ 1, one)
