"""What a message signature opens: no more than it covers, and strangers no more than anyone."""

from __future__ import annotations

import base64
import datetime
import hashlib
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms
from multidict import CIMultiDict

from aitp_desk.auth.credentials.proof import Proof
from aitp_desk.auth.credentials.request_credentials import NO_CREDENTIALS, RequestCredentials
from aitp_desk.auth.web_bot_auth.agents import MAX_TRIES_PER_ADDRESS, SigningAgentsMethod
from aitp_desk.auth.web_bot_auth.message_signature import Request
from aitp_desk.model.access.principal import Principal, PrincipalKind, ProvenBy
from aitp_desk.model.errors import NotAuthenticated, RateLimited
from tests.support.doubles.agent import NOON, Clock

KEY = Ed25519PrivateKey.generate()
KEY_ID = "k" * 43
LISTED, STRANGER = "https://listed.example", "https://stranger.example"
SCOPES = frozenset({"threads", "actions:pay"})
BODY = b'{"a":1}'
DIGEST = hashlib.sha256(BODY).digest()
NO_BODY = hashlib.sha256(b"").digest()


class Everywhere:
    """Directories that have one key everywhere, and nonces that nobody has used."""

    async def find(self, _origin: str, _key_id: str, _address: str) -> Any:
        return KEY.public_key()

    async def use(self, scope: str, nonce: str, *, until: float) -> None:
        assert scope.startswith("agent:")
        assert nonce
        assert until == NOON + 60


class Head(msgspec.Struct):
    """The head of a request."""

    method: str
    target: str
    headers: CIMultiDict[str]
    presented: RequestCredentials = NO_CREDENTIALS


def agents(*, scopes: frozenset[str] = SCOPES) -> SigningAgentsMethod:
    everywhere: Any = Everywhere()
    return SigningAgentsMethod(
        site_url="https://desk.example",
        listed={LISTED: scopes},
        takes_others=True,
        max_seconds=60,
        directories=everywhere,
        nonces=everywhere,
        clock=Clock(),
    )


def signed(origin: str, covers: tuple[str, ...], **headers: str) -> Head:
    """A signed head of a request to pay."""
    lines = CIMultiDict(headers)
    lines["Signature-Agent"] = f'a="{origin}"'
    created = datetime.datetime.fromtimestamp(NOON, datetime.UTC)
    HTTPMessageSigner(
        signature_algorithm=algorithms.ED25519,
        key_resolver=MappingKeyResolver(public_keys={}, private_keys={KEY_ID: KEY}),
    ).sign(
        Request("POST", "https://desk.example/pay?x", lines),
        key_id=KEY_ID,
        created=created,
        expires=created + datetime.timedelta(seconds=60),
        label="a",
        tag="web-bot-auth",
        covered_component_ids=(*covers, '"signature-agent";key="a"'),
        use_existing_digest="Content-Digest" in lines,
    )
    return Head("POST", "/pay?x", lines)


async def verify(head: Head, **more: Any) -> Proof:
    proof = await agents(**more).verify(head, "192.0.2.1")
    assert proof is not None
    [use] = proof.replay_checks
    await use()
    return proof


def known(origin: str, kind: PrincipalKind, *scopes: str) -> Principal:
    return Principal(
        f"agent:{origin.removeprefix('https://')}",
        kind,
        frozenset(scopes),
        "",
        proven_by=ProvenBy.MESSAGE_SIGNATURE,
    )


WITH_BODY = {
    "Content-Length": str(len(BODY)),
    "Content-Digest": f"sha-256=:{base64.b64encode(DIGEST).decode()}:",
}
CHUNKED = {"Transfer-Encoding": "chunked", "Content-Digest": WITH_BODY["Content-Digest"]}
TARGET, PARTS = ("@method", "@target-uri"), ("@method", "@authority", "@path", "@query")


@pytest.mark.parametrize(
    ("covers", "headers", "is_whole", "digest"),
    [
        (TARGET, {}, True, NO_BODY),
        (PARTS, {}, True, NO_BODY),
        (TARGET, {"Content-Length": "0"}, True, NO_BODY),
        ((*TARGET, "content-digest"), WITH_BODY, True, DIGEST),
        ((*PARTS, "content-digest"), CHUNKED, True, DIGEST),
        (TARGET, WITH_BODY, False, None),
        (TARGET, CHUNKED, False, None),
        (PARTS[:3], {}, False, None),
        (PARTS[1:], {}, False, None),
        (("@authority",), {}, False, None),
        (("@authority", "content-digest"), WITH_BODY, False, DIGEST),
        (("@target-uri", "content-digest"), WITH_BODY, False, DIGEST),
    ],
)
async def test_a_signature_opens_no_more_than_it_covers(
    covers: tuple[str, ...], headers: dict[str, str], is_whole: bool, digest: bytes | None
) -> None:
    proof = await verify(signed(LISTED, covers, **headers))
    scopes = SCOPES if is_whole else {"threads"}
    assert proof.principal == known(LISTED, PrincipalKind.AGENT, *scopes)
    assert proof.body_digest == digest
    assert proof.until == NOON + 60


async def test_an_agent_without_threads_gets_none_by_covering_less() -> None:
    pays = frozenset({"actions:pay"})
    whole = await verify(signed(LISTED, TARGET), scopes=pays)
    assert whole.principal.scopes == pays
    bare = await verify(signed(LISTED, ("@authority",)), scopes=pays)
    assert bare.principal.scopes == frozenset()


@pytest.mark.parametrize("covers", [TARGET, ("@authority",)])
async def test_a_stranger_has_threads_and_is_counted_by_address(covers: tuple[str, ...]) -> None:
    proof = await verify(signed(STRANGER, covers))
    assert proof.principal == known(STRANGER, PrincipalKind.STRANGER, "threads")
    at_home = msgspec.structs.replace(proof.principal, address="192.0.2.1")
    assert at_home.limited_as == "192.0.2.1"
    assert at_home.owner == "agent:stranger.example"


async def test_no_address_has_more_signatures_verified_than_it_may() -> None:
    way = agents()
    for _ in range(MAX_TRIES_PER_ADDRESS):
        await way.verify(signed(STRANGER, TARGET), "192.0.2.1")
    with pytest.raises(RateLimited):
        await way.verify(signed(STRANGER, TARGET), "192.0.2.1")
    with pytest.raises(RateLimited):
        await way.verify(signed(LISTED, TARGET), "192.0.2.1")
    assert await way.verify(signed(STRANGER, TARGET), "192.0.2.2")


async def test_what_cannot_be_read_is_counted() -> None:
    way = agents()
    for _ in range(MAX_TRIES_PER_ADDRESS):
        with pytest.raises(NotAuthenticated):
            await way.verify(Head("GET", "/", CIMultiDict({"Signature-Input": "a=("})), "192.0.2.1")
    with pytest.raises(RateLimited):
        await way.verify(signed(STRANGER, TARGET), "192.0.2.1")
    assert await way.verify(signed(STRANGER, TARGET), "192.0.2.2")


async def test_of_a_listed_agent_what_proves_nothing_is_counted() -> None:
    way, forged = agents(), signed(LISTED, TARGET)
    forged.headers["Signature"] = f"a=:{base64.b64encode(bytes(64)).decode()}:"
    for _ in range(MAX_TRIES_PER_ADDRESS):
        assert await way.verify(signed(LISTED, ("@authority",)), "192.0.2.1")
        with pytest.raises(NotAuthenticated):
            await way.verify(forged, "192.0.2.2")
    assert await way.verify(signed(LISTED, TARGET), "192.0.2.1")
    with pytest.raises(RateLimited):
        await way.verify(forged, "192.0.2.2")
