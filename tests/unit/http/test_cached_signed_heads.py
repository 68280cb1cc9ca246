"""Cached heads of signed requests, which never come twice, and parsed ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.http.desk_pair import (
    BODIES,
    CREDENTIAL,
    LAST,
    MANIFEST,
    NOW,
    SIGNED,
    CountingHeads,
    Pair,
    question,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")


def signed(*lines: bytes, body: bytes = BODIES[0]) -> bytes:
    """A question with these lines next to its host and its length."""
    return question(body, *lines)


KNOWN = signed(SIGNED, b"Accept-Language: en")
BEHIND = signed(b"Accept-Language: en", SIGNED)
PREFIX = SIGNED.removesuffix(CREDENTIAL)
WRONG = b'keyid="%s.1", timestamp="%d", nonce="%s", body="%s", signature="%s"'
WRONG %= (b"0" * 16, NOW, b"0" * 32, b"0" * 64, b"0" * 64)
OTHERWISE = {
    "the same": KNOWN,
    "signed wrongly": KNOWN.replace(CREDENTIAL, WRONG),
    "with what is no credential": KNOWN.replace(CREDENTIAL, b"none"),
    "for another body": KNOWN.replace(b"a book", b"a card"),
    "behind another line": BEHIND,
    "at the end": KNOWN.replace(SIGNED + b"\r\n", b"").replace(
        b"\r\n\r\n", b"\r\n" + SIGNED + b"\r\n\r\n"
    ),
    "before the request line": b"\r\n" + SIGNED + b"\r\n" + KNOWN.replace(SIGNED + b"\r\n", b""),
    "instead of it": SIGNED + b"\r\n" + KNOWN.partition(b"\r\n")[2],
    "twice": signed(SIGNED, SIGNED, b"Accept-Language: en"),
    "twice, in other letters": signed(SIGNED, SIGNED.lower(), b"Accept-Language: en"),
    "and anonymous": signed(SIGNED, b"Authorization:", b"Accept-Language: en"),
    "in small letters": KNOWN.replace(b"Authorization", b"authorization"),
    "in capitals": KNOWN.replace(b"Authorization", b"AUTHORIZATION"),
    "the scheme in small letters": KNOWN.replace(b"AITP-HMAC-SHA256", b"aitp-hmac-sha256"),
    "of another scheme": KNOWN.replace(PREFIX, b"Authorization: Bearer "),
    "beside an API key": KNOWN.replace(b"Accept-Language", b"X-AHP-Key"),
    "and an API key": signed(SIGNED, b"Accept-Language: en", b"X-AHP-Key: nobody"),
    "and a link": signed(SIGNED, b"Desk-Grant: nobody", b"Accept-Language: en"),
    "without a credential": KNOWN.replace(CREDENTIAL, b""),
    "without a credential or a space": KNOWN.replace(b" " + CREDENTIAL, b""),
    "with another parameter": KNOWN.replace(CREDENTIAL, CREDENTIAL + b', more="1"'),
    "at great length": KNOWN.replace(CREDENTIAL, CREDENTIAL + b" " * 268 + b"x"),
    "at too great length": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"," * 270),
    "in a header that is longer than any": KNOWN.replace(CREDENTIAL, b"x" * 9000),
    "with spaces around": KNOWN.replace(CREDENTIAL, b"  " + CREDENTIAL + b"  "),
    "with tabs around": KNOWN.replace(CREDENTIAL, b"\t" + CREDENTIAL + b"\t"),
    "with a tab within": KNOWN.replace(CREDENTIAL, CREDENTIAL[:-9] + b"\t" + CREDENTIAL[-9:]),
    "without a space": KNOWN.replace(b"Authorization: ", b"Authorization:"),
    "with a space before the colon": KNOWN.replace(b"Authorization: ", b"Authorization : "),
    "folded": KNOWN.replace(SIGNED, SIGNED + b"\r\n more"),
    "folded by a tab": KNOWN.replace(SIGNED, SIGNED + b"\r\n\tmore"),
    "folded with nothing": KNOWN.replace(SIGNED, SIGNED + b"\r\n "),
    "within what is folded": KNOWN.replace(SIGNED, b"X-Long: a\r\n " + SIGNED),
    "behind what is folded": KNOWN.replace(SIGNED, b"X-Long: a\r\n b\r\n" + SIGNED),
    "as a part of another value": KNOWN.replace(SIGNED, b"X-Quoted: " + SIGNED),
    "as the name of another header": KNOWN.replace(SIGNED, b"X-" + SIGNED),
    "with an end of line within": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\nX-More: 1"),
    "with half an end of line within": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\rX-More: 1"),
    "behind half an end of line": KNOWN.replace(b"\r\n" + PREFIX, b"\n" + PREFIX),
    "before half an end of line": KNOWN.replace(CREDENTIAL + b"\r\n", CREDENTIAL + b"\n"),
    "with a zero within": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\0"),
    "with what is no ASCII": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\xe9"),
    "with a letter that takes two bytes": KNOWN.replace(CREDENTIAL, CREDENTIAL + b"\xc3\xa9"),
    "in its body alone": signed(b"Accept-Language: en", body=b"\r\n" + SIGNED + b"\r\n"),
    "in its body as well": signed(SIGNED, b"Accept-Language: en", body=SIGNED + b"\r\n\r\n"),
    "of a shorter body": KNOWN[:-5],
    "of a longer body": KNOWN + b"12345",
    "and another behind it": KNOWN + KNOWN,
    "to be closed behind it": signed(SIGNED, b"Accept-Language: en", b"Connection: close"),
    "to another address": KNOWN.replace(b"converse", b"converse?a=1"),
    "to another host": KNOWN.replace(b"127.0.0.1", b"elsewhere.example"),
    "of another method": MANIFEST + SIGNED + b"\r\n\r\n",
    "of its head only": MANIFEST.replace(b"GET", b"HEAD") + SIGNED + b"\r\n\r\n",
}
"""How a signed request may be sent once one like it is known."""


@pytest.mark.parametrize("name", OTHERWISE)
async def test_a_known_head_with_another_credential_means_what_it_would_uncached(
    pair: Pair, name: str
) -> None:
    said = [KNOWN, KNOWN, OTHERWISE[name], OTHERWISE[name], KNOWN]
    cached, parsed = await pair.answers(said, patient=True)
    assert cached == parsed
    assert cached.startswith(b"HTTP/1.1 200 ")


async def test_a_signed_head_is_read_once_but_for_its_credential(pair: Pair) -> None:
    before = CountingHeads.stored
    for line in (SIGNED, SIGNED.replace(b"A", b"a", 1)):
        said = [signed(line, b"X-Read: once")] * 3
        cached, parsed = await pair.answers(said, patient=True)
        assert cached == parsed
        assert cached.count(b"HTTP/1.1 200 ") == len([*said, LAST])
    assert CountingHeads.stored == before + 2


DISTURBANCES = [
    b"",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\r\n ",
    b"\0",
    b"\xe9",
    b":",
    b"@",
    PREFIX,
]
DISTURBANCES += [b"\r\n" + SIGNED, SIGNED + b"\r\n", b"\r\nX-AHP-Key: nobody", b"\r\nX-More: 1"]


@st.composite
def disturbed(draw: st.DrawFn) -> list[bytes]:
    """A signed request, one with something put in or left out around its credential, and more."""
    lines = draw(st.permutations([SIGNED, b"Accept-Language: en", b"X-Some: thing"]))
    asked = signed(*lines[: draw(st.integers(1, 3))])
    start = asked.find(SIGNED)
    near = (start - 2, start, start + len(PREFIX), start + len(SIGNED), start + len(SIGNED) + 2)
    place = draw(st.sampled_from([max(0, place) for place in near]) | st.integers(0, len(asked)))
    left_out = draw(st.integers(0, 2))
    other = asked[:place] + draw(st.sampled_from(DISTURBANCES)) + asked[place + left_out :]
    return [asked, other, asked]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(disturbed())
async def test_whatever_stands_around_a_credential_has_the_same_answers_cached_or_not(
    pair: Pair, said: list[bytes]
) -> None:
    cached, parsed = await pair.answers(said, patient=True)
    assert cached == parsed
