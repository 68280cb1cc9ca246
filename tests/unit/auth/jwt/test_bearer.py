"""Tokens of others: what proves who is calling, and every way to be refused."""

from __future__ import annotations

from typing import Any

import pytest

from aitp_desk.auth.credentials.proof_cache import REMEMBERED_SECONDS
from aitp_desk.model.access.principal import Principal, PrincipalKind, ProvenBy
from aitp_desk.model.errors import TokenRefused
from tests.support.access.identity_provider import public_jwk, sign
from tests.support.access.issuers import (
    ALGORITHMS,
    DESK,
    GOOD,
    NOW,
    Published,
    desk,
    good,
    issuer,
    prove,
)

# --- tokens that prove something ------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
async def test_a_token_proves_its_caller_until_it_expires(algorithm: str) -> None:
    token = sign(good(algorithm), algorithm)
    proof = await prove(token)
    name = "shared" if algorithm == "HS256" else "login"
    assert proof.principal == Principal(
        f"jwt:{name}:aya",
        PrincipalKind.USER,
        frozenset({"threads"}),
        "",
        proven_by=ProvenBy.JWT,
    )
    assert proof.until == NOW + 600 + 30


ACCEPTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "no kid, and one key of the algorithm": ({}, {"kid": None}),
    "no typ": ({}, {"typ": None}),
    "an access token": ({}, {"typ": "at+jwt"}),
    "an access token by its whole name": ({}, {"typ": "Application/AT+JWT"}),
    "headers that nobody knows": ({}, {"x-own": {"a": [1.5]}}),
    "several audiences": ({"aud": ["https://other.example", DESK]}, {}),
    "claims that nobody knows": ({"amr": ["pwd"], "score": 0.5, "deep": {"a": None}}, {}),
    "a beginning": ({"nbf": NOW}, {}),
    "clocks that differ": ({"iat": NOW + 30, "nbf": NOW + 30}, {}),
    "an end a moment ago": ({"iat": NOW - 600, "exp": NOW - 29}, {}),
    "the longest life": ({"exp": NOW + 86_400}, {}),
    "the longest subject": ({"sub": "é" * 255}, {}),
}


@pytest.mark.parametrize("case", ACCEPTED)
async def test_what_issuers_write_is_taken(case: str) -> None:
    claims, header = ACCEPTED[case]
    assert (await prove(sign(good(**claims), **header))).principal.kind is PrincipalKind.USER


SCOPES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "words": ({"scope": "threads actions"}, {"threads", "actions"}),
    "scp as words": ({"scope": None, "scp": "threads actions"}, {"threads", "actions"}),
    "scp as a list": ({"scope": None, "scp": ["threads", "openid"]}, {"threads"}),
    "scope before scp": ({"scope": "threads", "scp": ["actions"]}, {"threads"}),
    "unknown ones": ({"scope": "openid threads  email"}, {"threads"}),
    "one action of all": ({"scope": "actions:book actions:X"}, {"actions:book"}),
    "none": ({"scope": None}, set()),
    "more than the issuer may give": ({"scope": "threads operator admin"}, {"threads"}),
    "its own names": ({"scope": "desk.talk"}, {"threads"}),
}


@pytest.mark.parametrize("case", SCOPES)
async def test_scopes_are_those_that_the_issuer_may_give(case: str) -> None:
    claims, scopes = SCOPES[case]
    keys = Published(public_jwk("EdDSA"))
    bearer = desk(issuer(keys, scope_names={"desk.talk": "threads"}))
    assert (await prove(sign(good(**claims)), bearer)).principal.scopes == scopes


async def test_who_operates_is_one_whom_the_issuer_may_name_so() -> None:
    keys = Published(public_jwk("EdDSA"))
    bearer = desk(issuer(keys, scopes=("operator", "actions:book")))
    principal = (
        await prove(sign(good(scope="operator admin actions actions:book")), bearer)
    ).principal
    assert principal.kind is PrincipalKind.OPERATOR
    assert principal.scopes == {"operator", "actions:book"}


@pytest.mark.parametrize(
    ("callers", "client", "kind"),
    [
        ("told", "aya", PrincipalKind.AGENT),
        ("told", "app", PrincipalKind.USER),
        ("told", None, PrincipalKind.USER),
        ("agents", None, PrincipalKind.AGENT),
        ("users", "aya", PrincipalKind.USER),
    ],
)
async def test_a_caller_is_a_person_or_a_program(
    callers: str, client: str | None, kind: PrincipalKind
) -> None:
    bearer = desk(issuer(Published(public_jwk("EdDSA")), callers=callers))
    assert (await prove(sign(good(client_id=client)), bearer)).principal.kind is kind


async def test_a_type_that_the_owner_wants_is_wanted() -> None:
    bearer = desk(issuer(Published(public_jwk("EdDSA")), type="application/AT+jwt"))
    assert (await prove(sign(good(), typ="at+jwt"), bearer)).principal.id == "jwt:login:aya"
    for type_ in ("JWT", None):
        with pytest.raises(TokenRefused, match="typ"):
            await prove(sign(good(), typ=type_), bearer)


async def test_a_verified_token_is_not_verified_again_until_it_expires_or_for_five_minutes() -> (
    None
):
    clock = [float(NOW)]
    published = Published(public_jwk("EdDSA"))
    bearer = desk(issuer(published), now=lambda: clock[0])
    assert (await prove(GOOD, bearer)).until == NOW + 630
    published.withdraw()
    clock[0] += REMEMBERED_SECONDS - 1
    proof = await prove(GOOD, bearer)
    assert await bearer.still_holds(proof)
    clock[0] += 1
    with pytest.raises(TokenRefused, match="no key"):
        await prove(GOOD, bearer)
    assert not await bearer.still_holds(proof)


async def test_a_token_holds_no_longer_than_its_end() -> None:
    clock = [float(NOW)]
    bearer = desk(now=lambda: clock[0])
    short = sign(good(exp=NOW + 10))
    proof = await prove(short, bearer)
    clock[0] += 39.9
    assert await bearer.still_holds(proof)
    clock[0] += 0.1
    assert not await bearer.still_holds(proof)
    with pytest.raises(TokenRefused, match="expired"):
        await prove(short, bearer)
