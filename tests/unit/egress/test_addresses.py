"""Which addresses the desk asks when another caller names them, and which it never does."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yarl import URL

from aitp_desk.egress import MAX_ADDRESS_CHARACTERS, AddressRefused, Egress, is_public

NOT_PUBLIC = [
    # this machine, this network, no machine
    *("127.0.0.1", "127.255.0.7", "0.0.0.0", "0.1.2.3", "::1", "::"),
    # private networks, shared ones, links
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"),
    *("169.254.169.254", "fd00::1", "fc00::1", "fe80::1", "fec0::1"),
    # several machines
    *("224.0.0.1", "239.255.255.255", "255.255.255.255", "ff02::1", "ff0e::1"),
    # reserved, documentation, benchmarks, protocol assignments
    *("240.0.0.1", "192.0.2.1", "198.51.100.7", "203.0.113.9", "198.18.0.1", "192.0.0.9"),
    *("192.0.0.170", "192.88.99.1", "2001:db8::1", "3fff::1", "100::1", "5f00::1"),
    # an IPv4 address in disguise: mapped, compatible, NAT64, 6to4, Teredo
    *("::ffff:127.0.0.1", "::ffff:a00:1", "::ffff:169.254.169.254", "::127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::a00:1", "2002:7f00:1::"),
    *("2002:808:808::1", "2001:0:7f00:1::1"),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "172.32.0.1", "192.0.1.1", "::ffff:8.8.8.8", "2606:4700::1111"]


def refusal(url: str, *, allow_loopback: bool = False) -> str:
    with pytest.raises(AddressRefused) as caught:
        Egress(allow_loopback=allow_loopback).check(url)
    return str(caught.value)


def as_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def test_an_address_that_is_not_public_is_refused(subtests: pytest.Subtests) -> None:
    for address in NOT_PUBLIC:
        with subtests.test(address=address):
            assert not is_public(ipaddress.ip_address(address))
            assert "does not lead to a public address" in refusal(f"https://{as_host(address)}/")


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_may_be_asked(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))
    Egress().check(f"https://{as_host(address)}/")


@given(st.ip_addresses(v=4))
def test_a_mapped_address_is_as_public_as_the_address_within(
    address: ipaddress.IPv4Address,
) -> None:
    mapped = ipaddress.ip_address(f"::ffff:{address}")
    assert is_public(mapped) == is_public(address)


@given(st.ip_addresses())
def test_what_python_calls_private_is_never_public(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    assert not (is_public(address) and (address.is_private or address.is_multicast))


def test_a_number_in_any_other_form_is_no_host(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        *("2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.1.", "1.2.3"),
        *("0x7f.0.0.0x1", "300.1.1.1", "1.2.3.4.5", "example.0x", "127.0.0.01"),
        # digits of other scripts are the same number to a caller who normalises them
        *("１２７.0.0.1", "①②⑦.0.0.1"),
    ]
    for host in cases:
        with subtests.test(host=host):
            assert refusal(f"https://{host}/")


@pytest.mark.parametrize(
    "host", ["[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]", "%6c.example"]
)
def test_a_host_names_no_interface_and_holds_no_escapes(host: str) -> None:
    assert refusal(f"https://{host}/")


def test_what_is_no_encrypted_web_address_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[str] = [
        *("http://example.com/", "http://8.8.8.8/", "ftp://example.com/", "file:///etc/passwd"),
        *("gopher://example.com/", "//example.com/", "/only/a/path", "example.com", "", "https://"),
        *(
            "https:///path",
            "https://[::1",
            "https://[::1]@/",
            "https://example.com:0/",
            "https://example.com:99999/",
        ),
        *("https://exa mple.com/", "https://example.com/\r\nX: y", "https://example.com\\@h/"),
        *("https://example.com/\x00", "data:text/html,hello", "javascript:alert(1)"),
        "https://example.com/" + "x" * MAX_ADDRESS_CHARACTERS,
    ]
    for url in cases:
        with subtests.test(url=url):
            assert refusal(url)


@pytest.mark.parametrize("url", ["https://anna:hunter2@example.com/", "https://hunter2@h.example/"])
def test_credentials_in_an_address_are_refused_and_not_repeated(url: str) -> None:
    assert "hunter2" not in refusal(url)


def test_a_refusal_repeats_no_path() -> None:
    assert "hunter2" not in refusal("https://10.0.0.1/hunter2?token=hunter2")
    assert "hunter2" not in refusal("http://example.com/hunter2")


@pytest.mark.parametrize(
    "url", ["https://example.com", "https://example.com:8443/a?b=c#d", "https://1und1.example1.x/"]
)
def test_a_name_passes_until_it_is_connected_to(url: str) -> None:
    Egress().check(url)


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/", "https://127.0.0.1/", "http://[::1]/"])
def test_only_the_setting_for_tests_opens_the_loopback(url: str) -> None:
    Egress(allow_loopback=True).check(url)
    assert refusal(url)


@pytest.mark.parametrize("url", ["http://example.com/", "http://10.0.0.1/", "https://10.0.0.1/"])
def test_the_setting_for_tests_opens_nothing_else(url: str) -> None:
    assert refusal(url, allow_loopback=True)


@given(st.text(max_size=60).map(lambda text: f"https://{text}"))
def test_any_text_is_refused_or_an_address_with_a_host(url: str) -> None:
    try:
        Egress().check(url)
    except AddressRefused:
        return
    address = URL(url)
    assert address.raw_host
    assert address.raw_user is None
