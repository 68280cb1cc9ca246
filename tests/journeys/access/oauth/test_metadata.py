"""How a client that knows only an address finds out where tokens are; the MCP SDK does it here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import httpx2
import pytest
import pytest_asyncio

from tests.support.access.oauth_clients import get_token, make_client
from tests.support.clients.mcp_tokens import Memory
from tests.support.clients.threads import Talker, talking
from tests.support.doubles.agent import NOON

pytestmark = pytest.mark.asyncio(loop_scope="module")

WELL_KNOWN = "/.well-known"
RESOURCE = f"{WELL_KNOWN}/oauth-protected-resource"
WORTHLESS = ("Authorization", "Bearer worthless")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def talker(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Talker]:
    async with talking(tmp_path_factory.mktemp("metadata")) as opened:
        yield opened


async def document(talker: Talker, path: str) -> Any:
    async with talker.http.get(path) as response:
        assert response.status == 200, path
        assert response.content_type == "application/json"
        assert response.headers["Cache-Control"] == "public, max-age=300"
        return await response.json()


async def test_the_server_says_what_it_offers(talker: Talker) -> None:
    """RFC 8414, section 2."""
    url = talker.desk.url
    assert await document(talker, f"{WELL_KNOWN}/oauth-authorization-server") == {
        "issuer": url,
        "authorization_endpoint": f"{url}/oauth/authorize",
        "token_endpoint": f"{url}/oauth/token",
        "jwks_uri": f"{url}/.well-known/jwks.json",
        "scopes_supported": ["threads", "actions"],
        "response_types_supported": ["none"],
        "grant_types_supported": ["client_credentials"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
    }


async def test_a_user_sent_to_sign_in_learns_that_there_is_no_sign_in(talker: Talker) -> None:
    async with talker.http.get("/oauth/authorize?response_type=code") as response:
        assert response.status == 400
        said = await response.json()
    assert said["error"] == "unsupported_response_type"
    assert "/oauth/token" in said["error_description"]


@pytest.mark.parametrize("part", ["", "/v1", "/agent/converse", "/mcp"])
async def test_each_protected_part_is_described_at_its_own_address(
    talker: Talker, part: str
) -> None:
    """RFC 9728, sections 2 and 3.3: the resource is what the address was made from."""
    said = await document(talker, f"{RESOURCE}{part}")
    assert said == {
        "resource": f"{talker.desk.url}{part}",
        "resource_name": talker.desk.desk.site.name,
        "authorization_servers": [talker.desk.url],
        "scopes_supported": ["threads", "actions"],
        "bearer_methods_supported": ["header"],
    }


async def test_public_keys_are_shown_without_their_private_halves(talker: Talker) -> None:
    (key,) = (await document(talker, f"{WELL_KNOWN}/jwks.json"))["keys"]
    assert key.keys() == {"kty", "crv", "x", "kid", "use", "alg"}
    assert (key["kty"], key["crv"], key["alg"]) == ("OKP", "Ed25519", "EdDSA")


async def test_every_protocol_that_requires_a_credential_says_where_to_ask(talker: Talker) -> None:
    url = talker.desk.url
    for method, path, told in (
        ("POST", "/v1/threads", "/v1"),
        ("GET", "/v1/threads/x/messages", "/v1"),
        ("POST", "/agent/converse", "/agent/converse"),
        ("GET", "/v1x", ""),
        ("GET", "/about", ""),
        ("GET", "/health", ""),
        ("GET", f"{WELL_KNOWN}/agent.json", ""),
        ("GET", "/no/such/page", ""),
    ):
        async with talker.http.request(method, path, headers=[WORTHLESS]) as response:
            assert response.status == 401, path
            challenge, _ = response.headers.getall("WWW-Authenticate")
        assert challenge.startswith('Bearer realm="aitp-desk", '), path
        assert f'resource_metadata="{url}{RESOURCE}{told}"' in challenge, path
        assert (await document(talker, f"{RESOURCE}{told}"))["resource"] == f"{url}{told}"


METHODS: tuple[Literal["client_secret_basic", "client_secret_post"], ...] = (
    "client_secret_basic",
    "client_secret_post",
)


async def test_the_mcp_sdk_finds_its_way_from_a_401_to_a_token(tmp_path: Path) -> None:
    from mcp.client.auth import OAuthFlowError
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
    from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

    async with talking(tmp_path) as talker:
        client = await make_client(talker.desk.store, tmp_path / "data", "threads", now=NOON)
        url = talker.desk.url
        for method in METHODS:
            memory = Memory("worthless")
            provider = ClientCredentialsOAuthProvider(
                f"{url}/v1/threads", memory, client.id, client.secret, method, issuer=url
            )
            # certificates are not asked for here, and reading them takes a second
            async with httpx2.AsyncClient(auth=provider, verify=False) as http:
                opened = await http.post(f"{url}/v1/threads", json={})
                assert opened.status_code == 200
                read = await http.get(f"{url}/v1/threads/{opened.json()['id']}")
                assert read.status_code == 200
            assert memory.tokens is not None
            assert memory.tokens.scope == "threads"  # of the two that the metadata tells of
        owners = talker.rows("SELECT owner FROM threads")
        assert owners == [(f"client:{client.id}",)] * len(METHODS)
        # both documents are what its models expect
        described = ProtectedResourceMetadata.model_validate(await document(talker, RESOURCE))
        assert str(described.resource) == url
        server = await document(talker, f"{WELL_KNOWN}/oauth-authorization-server")
        assert str(OAuthMetadata.model_validate(server).issuer) == url
        # and its secret goes to no other issuer than the one that it belongs to
        provider = ClientCredentialsOAuthProvider(
            f"{url}/v1/threads",
            Memory("worthless"),
            client.id,
            client.secret,
            issuer="https://example.com",
        )
        async with httpx2.AsyncClient(auth=provider, verify=False) as http:
            with pytest.raises(OAuthFlowError, match="issuer"):
                await http.post(f"{url}/v1/threads", json={})


async def test_the_mcp_sdk_asks_for_the_scope_that_its_token_lacks(tmp_path: Path) -> None:
    from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider

    async with talking(tmp_path) as talker:
        data, url = tmp_path / "data", talker.desk.url
        client = await make_client(talker.desk.store, data, "threads", "actions", now=NOON)
        token = (await get_token(talker.http, client, scope="actions"))["access_token"]
        bearer = [("Authorization", f"Bearer {token}")]
        refused = await talker.send("POST", "/v1/threads", {}, headers=bearer)
        assert refused.status == 403
        assert refused.headers["WWW-Authenticate"] == (
            'Bearer realm="aitp-desk", error="insufficient_scope", scope="threads",'
            f' resource_metadata="{url}{RESOURCE}/v1"'
        )
        memory = Memory(token, "actions")
        provider = ClientCredentialsOAuthProvider(
            f"{url}/v1/threads", memory, client.id, client.secret, issuer=url
        )
        async with httpx2.AsyncClient(auth=provider, verify=False) as http:
            assert (await http.post(f"{url}/v1/threads", json={})).status_code == 200
        assert memory.tokens is not None
        assert memory.tokens.scope == "actions threads"
