"""Credentials in addresses are refused, and nothing else is."""

from contextlib import suppress
from time import process_time

from aitp_desk.auth.credentials.address_line import check_address
from aitp_desk.model.errors import InvalidRequest

KEY = f"desk_{'0a' * 8}_{'1b' * 32}"
JWT = "eyJhbGciOiJFZERTQSJ9.eyJpc3MiOiJodHRwczovL2EifQ.c2lnbmF0dXJlLWJ5dGVz"

CARRYING = [
    f"/?x={KEY}",
    f"/{KEY}",
    f"/{JWT}",
    f"/v1/threads/{JWT}/messages",
    "/v1/threads;token=x",
    "/oauth/token?client_secret=x",
    f"/v1/threads/{KEY}?limit=1",
    f"/?q=desk%5F{KEY[5:]}",
    f"/?q={KEY.upper()}",
    f"/?{KEY}",
    "/?api_key=x",
    "/?a=b&API_KEY=x",
    "/?a=b;token=x",
    "/?access%5Ftoken=x",
    "/a?access_token=x#b",
    "/?apikey=x",
    "/?X-AHP-Key=x",
    f"/?bearer={JWT}",
    f"/?q=Bearer+{JWT}",
    "http://aya:secret@shop.example/",
    f"https://{KEY}@shop.example/a",
    "http://aya@shop.example",
]
PLAIN = [
    "/",
    "*",
    "/?",
    "/about?limit=20&order=desc",
    "/search?q=token",
    "/?tokens=5&key=a&my_token=x",
    "/?token=",
    "/a;b/eyJ/desk_",
    "/help-desk_rules",
    f"/?q=desk_{'0a' * 8}_",
    "/people/aya@shop.example",
    "http://shop.example/aya@home?mail=aya@shop.example",
    "/%zz%",
    "/?q=eyJ.eyJ.x",
]


def is_refused(target: str) -> bool:
    """Whether an address is refused, without anything of it being repeated."""
    try:
        check_address(target)
    except InvalidRequest as error:
        told = error.message
    else:
        return False
    assert "contains a credential" in told
    assert not any(part in told for part in ("secret@", KEY[5:], JWT))
    return True


def test_an_address_with_a_credential_is_refused_and_any_other_is_taken() -> None:
    assert [target for target in CARRYING if not is_refused(target)] == []
    assert [target for target in PLAIN if is_refused(target)] == []


def test_no_address_takes_long() -> None:
    slow: list[str] = []
    for unit in (
        "eyJ",
        "eyJaaaaaaaa",
        "eyJaaaaaaaa.",
        "-eyJ",
        "desk_0",
        "?token",
        "&",
        "%3f",
        "a:",
    ):
        for start in ("", "/?", "https://"):
            begun = process_time()
            with suppress(InvalidRequest):
                check_address(start + (unit * 65_536)[:65_536])
            if process_time() - begun > 0.5:
                slow.append(start + unit)
    assert slow == []
