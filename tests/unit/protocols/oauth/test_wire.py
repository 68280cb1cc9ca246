"""OAuth 2.0's requests as bytes: the RFCs' own examples, and whatever else may arrive."""

from __future__ import annotations

import base64
import json
from contextlib import suppress
from typing import Any
from urllib.parse import quote_plus, urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aitp_desk.desk.access.oauth_server import GrantRequest, RegistrationRequest
from aitp_desk.model.errors import DeskError, UnknownClient
from aitp_desk.protocols.base.auth_metadata import metadata_path
from aitp_desk.protocols.oauth.wire import (
    MAX_NAME,
    MAX_RESOURCES,
    decode_grant,
    decode_registration,
)

VISIBLE = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), min_size=1, max_size=80)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=9,
)
MEMBERS = ("client_name", "scope", "grant_types", "token_endpoint_auth_method", "jwks", "jwks_uri")


def basic(client_id: str, secret: str) -> str:
    """The header, encoded twice as RFC 6749, section 2.3.1, says."""
    text = f"{quote_plus(client_id)}:{quote_plus(secret)}"
    return f"Basic {base64.b64encode(text.encode()).decode()}"


def test_the_rfcs_client_is_read() -> None:
    """RFC 6749, sections 2.3.1 and 4.4.2."""
    header = "Basic czZCaGRSa3F0MzpnWDFmQmF0M2JW"
    body = b"grant_type=client_credentials"
    read = GrantRequest("s6BhdRkqt3", "gX1fBat3bV", None, ())
    assert decode_grant(body, [header]) == read
    # the proof of its section 2.3.1's second example, for this grant
    proof = b"&client_id=s6BhdRkqt3&client_secret=7Fjfp0ZBr1KtDRbnfVdmIw"
    read = GrantRequest("s6BhdRkqt3", "7Fjfp0ZBr1KtDRbnfVdmIw", None, ())
    assert decode_grant(body + proof, []) == read


@given(VISIBLE, VISIBLE)
@example("a:b", "c+d%20é&=")
def test_any_id_and_secret_come_through_the_header(client_id: str, secret: str) -> None:
    read = decode_grant(b"grant_type=client_credentials", [basic(client_id, secret)])
    assert (read.client_id, read.client_secret) == (client_id, secret)


@given(st.binary(max_size=60), st.lists(st.text(max_size=40), max_size=2))
def test_whatever_arrives_is_read_or_refused(body: bytes, authorization: list[str]) -> None:
    for sent in (body, b"grant_type=client_credentials&" + body):
        with suppress(DeskError):
            read = decode_grant(sent, authorization)
            assert read.client_id
            assert read.client_secret


@given(st.dictionaries(st.sampled_from(MEMBERS), JSON))
def test_whatever_a_program_says_of_itself_is_read_or_refused(said: dict[str, Any]) -> None:
    with suppress(DeskError):
        read = decode_registration(json.dumps(said).encode())
        assert isinstance(read, RegistrationRequest)
        assert len(read.name) <= MAX_NAME


@pytest.mark.parametrize(("number", "read"), [(MAX_RESOURCES, True), (MAX_RESOURCES + 1, False)])
def test_so_many_resources_and_no_more(number: int, read: bool) -> None:
    body = urlencode([("grant_type", "client_credentials"), *[("resource", "https://a")] * number])
    if read:
        assert len(decode_grant(body.encode(), [basic("a", "b")]).resources) == number
    else:
        with pytest.raises(DeskError, match="resources"):
            decode_grant(body.encode(), [basic("a", "b")])


def test_a_proof_of_any_length_is_refused_before_it_is_looked_up() -> None:
    for client_id, secret in (("a" * 257, "b"), ("a", "b" * 257)):
        with pytest.raises(UnknownClient):
            decode_grant(b"grant_type=client_credentials", [basic(client_id, secret)])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/v1", "/v1"),
        ("/v1/threads", "/v1"),
        ("/v1x", ""),
        ("/agent/converse", "/agent/converse"),
        ("/agent/converse/", "/agent/converse"),
        ("/agent", ""),
        ("/mcp", "/mcp"),
        ("/books/v1/threads", ""),
        ("", ""),
        ("*", ""),
    ],
)
def test_a_path_leads_to_the_metadata_of_the_part_that_it_lies_in(path: str, told: str) -> None:
    assert metadata_path(path) == f"/.well-known/oauth-protected-resource{told}"
