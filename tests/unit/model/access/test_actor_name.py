"""Names of actors: whatever looks like another's name is told from it by nobody, or refused."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aitp_desk.desk.access.site_agents import OwnNames
from aitp_desk.model.conversation.thread import Actor, check_actor, check_actor_name
from aitp_desk.model.errors import Forbidden, InvalidRequest

DESK = "https://shop.example/desk"
OPERATOR = f"{DESK}/operators/anna"
KEY = "key:0123456789abcdef"
OWN = OwnNames((Actor(DESK),))
INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u202e\u2066\u034f\ufe0f\u3164\U000e0041\x7f"

Disguise = Callable[[str, int], str]


def insert(what: str) -> Disguise:
    def disguise(name: str, at: int) -> str:
        place = at % (len(name) + 1)
        return name[:place] + what + name[place:]

    return disguise


def encode(name: str, at: int) -> str:
    place = at % len(name)
    return f"{name[:place]}%{ord(name[place]):02x}{name[place + 1 :]}" if name.isascii() else name


def swap(name: str, at: int) -> str:
    """Write a letter in the other case, or as one of full width."""
    place = at % len(name)
    letter = name[place]
    wide = chr(ord(letter) + 0xFEE0) if letter.isalnum() and letter.isascii() else letter
    return name[:place] + (letter.swapcase() if at % 2 else wide) + name[place + 1 :]


def accent(name: str, at: int) -> str:
    place = at % len(name)
    is_letter = name[place].isalpha()
    return f"{name[: place + 1]}\u0301{name[place + 1 :]}" if is_letter else name


def detour(name: str, at: int) -> str:
    """Another path to the same place."""
    scheme, found, rest = name.partition("://")
    host, slash, path = rest.partition("/")
    if not (found and slash):
        return name
    return f"{scheme}://{host}/{('./', '/', 'x/../', '%2e/')[at % 4]}{path}"


def port(name: str, at: int) -> str:
    scheme, found, rest = name.partition("://")
    host, slash, path = rest.partition("/")
    if not (found and slash) or ":" in host:
        return name
    return f"{scheme}://{host}{(':443', ':80', ':', '.')[at % 4]}/{path}"


def end(name: str, at: int) -> str:
    return name + ("?x", "#x", "/", "//", "/.", "?", "%3Fx")[at % 7]


def without_scheme(name: str, at: int) -> str:
    return name.replace("https://", ("", "//", "http://", "HTTPS:")[at % 4], 1)


DISGUISES: list[Disguise] = [
    *map(insert, INVISIBLE),
    encode,
    swap,
    accent,
    detour,
    port,
    end,
    without_scheme,
    lambda name, at: (" ", "\t", "\u00a0", "\u3000")[at % 4] + name,
    lambda name, at: name + (" ", "\n", "\u2003")[at % 3],
    lambda name, _: quote(name, safe=""),
    lambda name, _: name.replace("/", "\\"),
]
OF_NAMES: list[Disguise] = [
    *map(insert, INVISIBLE),
    encode,
    swap,
    accent,
    lambda name, _: quote(name, safe=""),
    lambda name, _: f" {name}",
]


def is_refused(name: str) -> bool:
    """Whether nobody can bring an actor of this name."""
    actor = Actor(name)
    try:
        check_actor(actor)
        check_actor_name(actor, None)
        OWN.check((actor,), "actor")
    except (Forbidden, InvalidRequest):
        return True
    return False


def disguises(each: list[Disguise]) -> st.SearchStrategy[list[tuple[Disguise, int]]]:
    return st.lists(st.tuples(st.sampled_from(each), st.integers(0, 999)), max_size=4)


@given(st.sampled_from([DESK, OPERATOR]), disguises(DISGUISES))
def test_no_disguise_of_the_sites_own_names_is_let_through(
    name: str, steps: list[tuple[Disguise, int]]
) -> None:
    for disguise, at in steps:
        name = disguise(name, at)
    assert is_refused(name)


@given(st.sampled_from([KEY, "link:g1", "guest-abc", "agent:shop.example"]), disguises(OF_NAMES))
def test_no_disguise_of_another_callers_id_is_let_through(
    name: str, steps: list[tuple[Disguise, int]]
) -> None:
    for disguise, at in steps:
        name = disguise(name, at)
    assert is_refused(name)


@pytest.mark.parametrize(
    "name",
    [
        "https://\u0455hop.example/desk",  # a Cyrillic letter
        "https://sh\u03bfp.example/desk",  # a Greek one
        "\u0455hop.example/desk",
        "https://shop.example@evil.example/",
        "https://shop%2eexample/desk",
        "https://shop\u3002example/desk",
        "https://shop.example/desk/%6fperators/anna",
        "https://shop.example./desk/operators/anna",
        "https://shop.example.:443/desk",
        "https://shop.example:0443/desk",
        "https://shop.example;x/desk",
        "shop.example.:0443/desk",
    ],
)
def test_what_looks_like_the_sites_host_is_refused(name: str) -> None:
    assert is_refused(name)


@pytest.mark.parametrize(
    "name",
    [
        "https://agents.example/shopper",
        "https://shop.example/other",
        "https://shop.example:8443/desk",
        "https://xn--bcher-kva.example/agent",
        "http://127.0.0.1:8080",
        "http://[2001:db8::7]:8080/agent",
        "Анна",
        "Müller & Söhne",
        "山田さん",
        "courier 7",
        "alice.near",
    ],
)
def test_honest_names_are_taken(name: str) -> None:
    assert not is_refused(name)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("https://bücher.example", "https://xn--bcher-kva.example/"),
        ("http://127.0.0.1:8080", "http://127.1:8080"),
        ("http://127.0.0.1:8080", "http://2130706433:8080/"),
        ("http://127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080/"),
        ("http://[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080"),
    ],
)
def test_two_spellings_of_one_host_are_one(own: str, other: str) -> None:
    with pytest.raises(Forbidden):
        OwnNames((Actor(own),)).check((Actor(other),), "actor")
